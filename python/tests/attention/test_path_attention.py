"""PaTH attention of Python: against the product of Householder matrices, and its gradients against differences."""

import numpy as np
import pytest
import sextant

LENGTH, DIM = 135, 8  # three blocks of tokens


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


Q, K = numbers(2, 4, LENGTH, DIM), numbers(2, 2, LENGTH, DIM, seed=1)
V, DOUT = numbers(2, 2, LENGTH, 5, seed=2), numbers(2, 4, LENGTH, 5, seed=3)
W = numbers(2, 2, LENGTH, DIM, seed=4)
W /= np.linalg.norm(W, axis=-1, keepdims=True)
BETA = (2 / (1 + np.exp(-numbers(2, 2, LENGTH, seed=5)))).astype(np.float32)
SINKS = [0.5, -1.0, 2.0, 0.0]


def defined(q, k, v, w, beta, sinks=None):
    """The output in float64: in each row, keys before it go through its matrix once more."""
    q, k, v, w, beta = (x.astype(np.float64) for x in (q, k, v, w, beta))
    scores = np.full((2, 4, LENGTH, LENGTH), -np.inf)
    seen = np.zeros_like(k)
    for i in range(LENGTH):
        seen -= beta[:, :, i, None, None] * (seen @ w[:, :, i, :, None]) * w[:, :, i, None]
        seen[:, :, i] = k[:, :, i]
        scores[:, :, i, : i + 1] = np.einsum("bhc,bhjc->bhj", q[:, :, i], np.repeat(seen[:, :, : i + 1], 2, 1)) / DIM**0.5
    weights = np.exp(scores)
    total = weights.sum(-1, keepdims=True) + (0 if sinks is None else np.exp(np.array(sinks))[:, None, None])
    return weights / total @ np.repeat(v, 2, 1)


def test_the_output_is_that_of_the_product():
    # Each of 135 reflections rounds 20 operations on rows of length 5; signs are random.
    got = sextant.path_attention(Q, K, V, W, BETA, sinks=SINKS)
    np.testing.assert_allclose(got, defined(Q, K, V, W, BETA, SINKS), rtol=0, atol=2.0**-24 * 2000)
    assert abs(got - sextant.attention(Q, K, V, causal=True, sinks=SINKS)).max() > 0.1


def test_every_layout_gives_the_same():
    wanted = sextant.path_attention(Q, K, V, W, BETA)
    moved = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in (Q, K, V, W)]
    np.testing.assert_array_equal(sextant.path_attention(*moved, BETA, layout="blhd").swapaxes(1, 2), wanted)
    alone = [np.ascontiguousarray(x[0, 0]) for x in (Q, K, V, W, BETA)]
    np.testing.assert_array_equal(sextant.path_attention(*alone), wanted[0, 0])
    got = sextant.path_attention_backward(np.ascontiguousarray(DOUT.swapaxes(1, 2)), *moved, BETA, layout="blhd")
    plain = sextant.path_attention_backward(DOUT, Q, K, V, W, BETA)
    np.testing.assert_array_equal(got.dw.swapaxes(1, 2), plain.dw)
    np.testing.assert_array_equal(got.dbeta, plain.dbeta)


def test_gradients_are_differences():
    got = sextant.path_attention_backward(DOUT, Q, K, V, W, BETA, sinks=SINKS)
    given = [*(x.astype(np.float64) for x in (Q, K, V, W, BETA)), np.array(SINKS)]
    for n, gradient in enumerate((got.dq, got.dk, got.dv, got.dw, got.dbeta, got.dsinks)):
        direction = np.random.default_rng(n).standard_normal(given[n].shape)
        losses = []
        for step in (1e-6, -1e-6):
            moved = [*given]
            moved[n] = given[n] + step * direction
            losses.append((defined(*moved) * DOUT).sum())
        np.testing.assert_allclose((gradient * direction).sum(), (losses[0] - losses[1]) / 2e-6, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("given, words", [
    (dict(w=W[..., :7]), r"\[path_attention.w\] must be \[2, 2, 135, 8\], got \[2, 2, 135, 7\]"),
    (dict(beta=BETA[:, :, :-1]), r"\[path_attention.beta\] must be \[2, 2, 135\], got \[2, 2, 134\]"),
    (dict(beta=BETA[0]), r"\[path_attention.beta\] must be \[batch, kv_heads, length\]"),
    (dict(beta=BETA.astype(np.float64)), r"\[path_attention.beta\]"),
    (dict(w=None), r"\[path_attention.w\]"),
    (dict(causal=None), r"\[path_attention.causal\] must be top_left or bottom_right"),
    (dict(softcap=3.0), "unexpected keyword argument 'softcap'"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sextant.path_attention(Q, K, V, **{"w": W, "beta": BETA, **given})
