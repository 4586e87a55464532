"""Dual chunk attention of Python: against its definition, one softmax over scores of three rotations, and its gradients against differences."""

import numpy as np
import pytest
import sextant

CHUNK, LOCAL, LENGTH, DIM = 12, 4, 30, 8
TABLE = sextant.rotary(CHUNK, DIM, base=100.0)
SIZES = dict(rotation=TABLE, chunk_size=CHUNK, local_size=LOCAL)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


Q, K, V, DOUT = numbers(2, 4, LENGTH, DIM), numbers(2, 2, LENGTH, DIM, seed=1), numbers(2, 2, LENGTH, 5, seed=2), numbers(2, 4, LENGTH, 5, seed=3)


def defined(q, k, v):
    """The output in float64."""
    i, j = np.arange(LENGTH)[:, None], np.arange(LENGTH)[None]
    size = CHUNK - LOCAL
    apart = i // size - j // size
    neighbours = np.minimum(size + i % size, CHUNK - 1) - j % size
    distance = np.where(apart == 0, i - j, np.where(apart == 1, neighbours, CHUNK - 1 - j % size))
    angle = distance[..., None] * 100.0 ** (-2 * np.arange(DIM // 2) / DIM)
    q1, q2 = np.split(q.astype(np.float64), 2, -1)
    k1, k2 = np.split(np.repeat(k.astype(np.float64), 2, 1), 2, -1)
    even = q1[..., :, None, :] * k1[..., None, :, :] + q2[..., :, None, :] * k2[..., None, :, :]
    odd = q1[..., :, None, :] * k2[..., None, :, :] - q2[..., :, None, :] * k1[..., None, :, :]
    scores = (even * np.cos(angle) + odd * np.sin(angle)).sum(-1) / DIM**0.5
    weights = np.exp(np.where(j <= i, scores, -np.inf))
    return weights / weights.sum(-1, keepdims=True) @ np.repeat(v.astype(np.float64), 2, 1)


def test_the_output_is_that_of_one_softmax():
    # Scores of 8 products and sums of 30 keys in float32, of numbers of a few units.
    np.testing.assert_allclose(sextant.dual_chunk_attention(Q, K, V, **SIZES), defined(Q, K, V), rtol=0, atol=2.0**-24 * 500)


def test_one_query_after_a_cache_is_the_last_row():
    whole = sextant.dual_chunk_attention(Q, K, V, **SIZES)
    last = sextant.dual_chunk_attention(Q[:, :, -1:], K, V, causal="bottom_right", **SIZES)
    np.testing.assert_array_equal(last, whole[:, :, -1:])


def test_gradients_are_differences():
    got = sextant.dual_chunk_backward(DOUT, Q, K, V, **SIZES)
    assert got.dsinks is None
    for n, gradient in enumerate((got.dq, got.dk, got.dv)):
        arrays = [x.astype(np.float64) for x in (Q, K, V)]
        direction = np.random.default_rng(n).standard_normal(arrays[n].shape)
        losses = []
        for step in (1e-5, -1e-5):
            moved = [*arrays]
            moved[n] = arrays[n] + step * direction
            losses.append((defined(*moved) * DOUT).sum())
        np.testing.assert_allclose((gradient * direction).sum(), (losses[0] - losses[1]) / 2e-5, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("given, words", [
    (dict(chunk_size=1), r"\[dual_chunk_attention.chunk_size\]"),
    (dict(local_size=CHUNK), r"\[dual_chunk_attention.local_size\] must be 1 .. 11, got 12"),
    (dict(local_size="a"), r"\[dual_chunk_attention.local_size\]"),
    (dict(causal=None), r"\[dual_chunk_attention.causal\] must be given"),
    (dict(rotation=None), r"\[dual_chunk_attention.rotation\] must be given"),
    (dict(mask=np.ones((LENGTH, LENGTH), bool)), "unexpected keyword argument 'mask'"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sextant.dual_chunk_attention(Q, K, V, **{**SIZES, **given})
