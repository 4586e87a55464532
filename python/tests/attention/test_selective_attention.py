"""Selective attention of Python: against the paper's listing, and its gradients against differences."""

import numpy as np
import pytest
import sextant

LENGTH, DIM, HEAD = 270, 8, 1  # two blocks of queries


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


Q, K = numbers(2, 4, LENGTH, DIM) / 4, numbers(2, 2, LENGTH, DIM, seed=1)
V, DOUT = numbers(2, 2, LENGTH, 5, seed=2), numbers(2, 4, LENGTH, 5, seed=3)


def selection(logits):
    s = np.tril(np.maximum(logits, 0), -1)  # of earlier tokens
    s[..., 0] = 0  # but the first
    return np.cumsum(np.pad(s, ((0, 0), (1, 0), (0, 0)))[:, :-1], 1)  # for later tokens


def defined(q, k, v):
    """The output in float64."""
    k, v = np.repeat(k.astype(np.float64), 2, 1), np.repeat(v.astype(np.float64), 2, 1)
    logits = q.astype(np.float64) @ k.swapaxes(-1, -2) / DIM**0.5
    logits -= selection(logits[:, HEAD])[:, None]
    weights = np.exp(np.where(np.tri(LENGTH, dtype=bool), logits, -np.inf))
    return weights / weights.sum(-1, keepdims=True) @ v


def test_the_output_is_that_of_the_listing():
    # Scores of 8 products in float32, summed over up to 270 rows, and sums of 270 keys of a few units.
    got = sextant.selective_attention(Q, K, V, selection_head=HEAD)
    np.testing.assert_allclose(got, defined(Q, K, V), rtol=0, atol=2.0**-24 * 1000)
    assert abs(got - sextant.attention(Q, K, V, causal=True)).max() > 0.1


def test_a_rotation_is_that_of_the_rows():
    table = sextant.rotary(LENGTH, DIM)
    got = sextant.selective_attention(Q, K, V, selection_head=HEAD, rotation=table)
    rotated = [sextant.rotate(x, table) for x in (Q, K)]
    np.testing.assert_allclose(got, defined(*rotated, V), rtol=0, atol=2.0**-24 * 1000)


def test_gradients_are_differences():
    got = sextant.selective_attention_backward(DOUT, Q, K, V, selection_head=HEAD)
    assert got.dsinks is None
    for n, gradient in enumerate((got.dq, got.dk, got.dv)):
        arrays = [x.astype(np.float64) for x in (Q, K, V)]
        direction = np.random.default_rng(n).standard_normal(arrays[n].shape)
        losses = []
        for step in (1e-7, -1e-7):
            moved = [*arrays]
            moved[n] = arrays[n] + step * direction
            losses.append((defined(*moved) * DOUT).sum())
        np.testing.assert_allclose((gradient * direction).sum(), (losses[0] - losses[1]) / 2e-7, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("given, words", [
    (dict(selection_head=4), r"\[selective_attention.selection_head\] must be 0 .. 3, got 4"),
    (dict(selection_head="a"), r"\[selective_attention.selection_head\]"),
    (dict(causal=None), r"\[selective_attention.causal\] must be top_left or bottom_right"),
    (dict(rotation=sextant.rotary(LENGTH - 1, DIM)), r"\[selective_attention.rotation"),
    (dict(mask=np.ones((LENGTH, LENGTH), bool)), "unexpected keyword argument 'mask'"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sextant.selective_attention(Q, K, V, **given)
