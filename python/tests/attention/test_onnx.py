"""ONNX's operator cases through Python: Attention and RotaryEmbedding, as their authors expect them."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import sextant

FOLDER = Path(os.environ.get("SEXTANT_CONFORMANCE", Path(__file__).parents[4] / "shared" / "conformance" / "onnx"))
CASES = sorted(FOLDER.glob("test_*")) if FOLDER.is_dir() else []


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.about = json.loads((folder / "case.json").read_text())

    def array(self, entry):
        return None if entry is None else np.load(self.folder / entry["file"])

    def attribute(self, name, otherwise=None):
        value = self.about["attributes"].get(name, otherwise)
        return float(np.float32(value)) if name in ("scale", "softcap") and value is not None else value

    def compare(self, position, got):
        wanted = self.array(self.about["outputs"][position])
        if wanted is not None:
            tolerance = self.about["tolerance"]
            np.testing.assert_allclose(got.astype(wanted.dtype), wanted, rtol=tolerance["rtol"], atol=tolerance["atol"])


def by_heads(x, heads):
    """[batch, heads, length, dim], a view where x is [batch, length, heads * dim]."""
    return x if x.ndim == 4 else x.reshape(x.shape[0], x.shape[1], heads, -1).swapaxes(1, 2)


def in_rank(rank, x):
    return x if rank == 4 else x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def attention(case):
    q_in, k_in, v_in, mask, past_k, past_v, lengths = (case.array(entry) for entry in case.about["inputs"])
    softmax = {1: np.float32, 10: np.float16, 11: np.float64, 16: None}[case.attribute("softmax_precision", 1)]
    element = np.result_type(q_in, k_in, v_in)
    if softmax not in (None, np.float32):
        element = np.result_type(element, np.float64)
    q = by_heads(q_in, case.attribute("q_num_heads")).astype(element)
    k = by_heads(k_in, case.attribute("kv_num_heads")).astype(element)
    v = by_heads(v_in, case.attribute("kv_num_heads")).astype(element)
    past = 0
    if past_k is not None:
        past = past_k.shape[2]
        k, v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    keys = k.shape[2]
    if mask is not None and mask.shape[-1] < keys:
        missing = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
        mask = np.pad(mask, missing, constant_values=False if mask.dtype == bool else -np.inf)
    offsets = np.full(len(q), past) if lengths is None else lengths - q.shape[2]
    options = {
        "causal": "at_offsets" if case.attribute("is_causal", 0) else "none",
        "query_offsets": offsets,
        "key_lengths": lengths,
        "window": (case.attribute("left_window_size", -1), case.attribute("right_window_size", -1)),
        "mask": mask,
        "softcap": max(0.0, case.attribute("softcap", 0.0)),
        "scale": case.attribute("scale"),
    }
    stage = ["scores", "capped", "biased", "probabilities"][case.attribute("qk_matmul_output_mode", 0)]
    case.compare(0, in_rank(q_in.ndim, sextant.attention(q, k, v, **options)))
    case.compare(1, k)
    case.compare(2, v)
    case.compare(3, sextant.attention_weights(q, k, stage=stage, **options))


def rotary(case):
    x_in, cos, sin, ids = (case.array(entry) for entry in case.about["inputs"])
    x = by_heads(x_in, case.attribute("num_heads"))
    layout = "interleaved" if case.attribute("interleaved", 0) else "half_split"
    out = np.empty_like(x)
    for b in range(len(x)):
        rows = (cos[ids[b]], sin[ids[b]]) if ids is not None else (cos[b], sin[b])
        sextant.rotate(x[b : b + 1], sextant.RotationTable(*rows, layout=layout), out=out[b : b + 1])
    case.compare(0, in_rank(x_in.ndim, out))


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_case(folder):
    case = Case(folder)
    {"Attention": attention, "RotaryEmbedding": rotary}[case.about["op"]](case)


def test_the_cases_are_there():
    """Where the folder lies beside the project, all of it is read."""
    if not FOLDER.is_dir():
        assert "CI" not in os.environ, f"conformance cases are missing: {FOLDER}"
        pytest.skip(f"no conformance cases in {FOLDER}")
    assert len(CASES) == 57
