"""Calls of the operator with any options together, for hypothesis."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import sextant

DTYPES = {"float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
# The same calls in every run, so that what passed once passes again.
SETTINGS = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None)
NAMED = ("none", "top_left", "bottom_right", "at_offsets", "at_lengths")


def numbers(rng, *shape, dtype="float32", order="bhld", layout="plain"):
    """Random numbers [batch, heads, length, channels], in memory in any order of axes, with gaps, backwards, or one for all."""
    stored = [shape["bhld".index(axis)] for axis in order]
    if layout == "gaps":
        stored = [2 * size for size in stored]
    array = rng.standard_normal(stored).astype(DTYPES[dtype]).transpose([order.index(axis) for axis in "bhld"])
    if layout == "gaps":
        return array[::2, 1::2, ::2, 1::2]
    if layout == "backwards":
        return array[::-1, :, ::-1, ::-1]
    return np.broadcast_to(array[:1, :1], shape) if layout == "shared" else array


@st.composite
def arrays(draw):
    """q, k, v and a generator for the rest."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    batch, kv_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    lengths = st.integers(1, 20) | st.integers(1, 70) | st.sampled_from([64, 65, 128, 129, 150])
    q_len = draw(lengths)
    k_len = q_len if draw(st.booleans()) else draw(lengths)
    head_dim, v_dim = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    dtype = draw(st.sampled_from(list(DTYPES)))
    sizes = [(kv_heads * group, q_len, head_dim), (kv_heads, k_len, head_dim), (kv_heads, k_len, v_dim)]
    memory = st.tuples(st.sampled_from(["bhld", "blhd", "lbhd", "bhdl"]), st.sampled_from(["plain", "gaps", "backwards", "shared"]))
    made = []
    for size in sizes:
        order, layout = draw(memory)
        made.append(numbers(rng, batch, *size, dtype=dtype, order=order, layout=layout))
    return (rng, *made)


@st.composite
def alignments(draw, rng, batch, q_len, k_len):
    """causal, lengths, offsets, segments."""
    options = {}
    if draw(st.sampled_from([False, False, True])):
        parts = draw(st.integers(1, 4))
        options["segments"] = np.concatenate([[0], np.sort(rng.integers(0, q_len + 1, parts - 1)), [q_len]])
        if q_len != k_len or draw(st.booleans()):
            options["key_segments"] = np.concatenate([[0], np.sort(rng.integers(0, k_len + 1, parts - 1)), [k_len]])
        options["causal"] = draw(st.sampled_from((None, *NAMED[:3])))
        return options
    options["causal"] = causal = draw(st.sampled_from((None, *NAMED)))
    if causal == "at_lengths" or draw(st.booleans()):
        options["key_lengths"] = rng.integers(0, k_len + 1, batch)
    if causal == "at_offsets" or (causal in (None, "none") and draw(st.sampled_from([False, False, True]))):
        options["query_offsets"] = rng.integers(-3, k_len + 1, batch)
    return options


@st.composite
def masks(draw, rng, full, dtype):
    rank = draw(st.integers(1, 4))
    shape = [size if draw(st.booleans()) else 1 for size in full[4 - rank :]]
    if draw(st.booleans()):
        return rng.random(shape) < 0.7
    mask = rng.standard_normal(shape).astype(DTYPES[draw(st.sampled_from(list(DTYPES)))])
    if draw(st.booleans()):
        mask[rng.random(shape) < 0.2] = -np.inf
    # What the operator gets is rounded to the type it adds; so does the reference.
    wide = np.float64 if dtype == np.float64 else np.float32
    return mask if mask.dtype != np.float64 else mask.astype(wide).astype(mask.dtype)


@st.composite
def positional(draw, rng, shape, kv_heads, options):
    """Windows, biases, slopes, rotations, ids: what needs to know the diagonal."""
    batch, heads, q_len, k_len, head_dim = shape
    causal, segments, offsets = options["causal"], options.get("segments"), options.get("query_offsets")
    known = causal is not None or offsets is not None or (segments is None and q_len == k_len)
    if not known and not (segments is not None and "key_segments" not in options):
        return
    if draw(st.booleans()):
        options["window"] = draw(st.tuples(st.integers(-1, 8), st.integers(-1, 8)))
    largest = q_len + k_len + 3
    if draw(st.sampled_from([False, False, True])):
        ids = [rng.integers(0, largest, (draw(st.sampled_from([1, batch])), length)) for length in (q_len, k_len)]
        options["positions"] = tuple(ids)
    if draw(st.booleans()):
        options["slopes"] = rng.uniform(-0.2, 1, heads)
    if draw(st.booleans()):
        options["bias"] = rng.standard_normal((draw(st.sampled_from([1, heads])), 2 * largest - 1)).astype(np.float32)
    forward = causal not in ("at_lengths", "bottom_right") and (offsets is None or (offsets >= 0).all())
    if head_dim > 1 and (forward or "positions" in options) and draw(st.booleans()):
        pairs = draw(st.integers(1, head_dim // 2))
        angles = rng.uniform(0, 7, (2 * largest, pairs))
        layout = draw(st.sampled_from(["half_split", "interleaved"]))
        options["rotation"] = sextant.RotationTable(np.cos(angles).astype("f"), np.sin(angles).astype("f"), layout=layout)


@st.composite
def calls(draw):
    """((q, k, v), options)"""
    rng, q, k, v = draw(arrays())
    batch, heads, q_len, head_dim = q.shape
    k_len = k.shape[2]
    options = draw(alignments(rng, batch, q_len, k_len))
    draw(positional(rng, (batch, heads, q_len, k_len, head_dim), k.shape[1], options))
    if draw(st.booleans()):
        options["mask"] = draw(masks(rng, [batch, heads, q_len, k_len], q.dtype))
    if draw(st.booleans()):
        options["sinks"] = rng.standard_normal(heads)
    if draw(st.booleans()):
        options["scale"] = draw(st.floats(-2, 2))
    if draw(st.booleans()):
        options["softcap"] = draw(st.floats(0.5, 50))
    options["threads"] = draw(st.sampled_from([1, 1, 1, 2]))
    return (q, k, v), options
