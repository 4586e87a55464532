"""PoPE of Python: expanded rows and a rotation against the definition, gradients against differences."""

import numpy as np
import pytest
import sextant

LENGTH, DIM = 12, 6


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


Q, K, V = numbers(2, 3, LENGTH, DIM), numbers(2, 3, LENGTH, DIM, seed=1), numbers(2, 3, LENGTH, 5, seed=2)
OFFSETS = np.random.default_rng(3).standard_normal((3, DIM))


def test_attention_of_such_rows_is_pope():
    table = sextant.rotary(LENGTH, 2 * DIM, base=100.0)
    out = sextant.attention(sextant.polar_rows(Q), sextant.polar_rows(K, OFFSETS), V, causal=True, rotation=table, scale=DIM**-0.5)
    q, k = (np.log1p(np.exp(x.astype(np.float64))) for x in (Q, K))
    i, j = np.arange(LENGTH)[:, None], np.arange(LENGTH)[None]
    angle = (j - i)[..., None] * 100.0 ** (-np.arange(DIM) / DIM) + OFFSETS[:, None, None]
    scores = np.einsum("bhic,bhjc,hijc->bhij", q, k, np.cos(angle)) / DIM**0.5
    weights = np.exp(np.where(j <= i, scores, -np.inf))
    wanted = weights / weights.sum(-1, keepdims=True) @ V.astype(np.float64)
    np.testing.assert_allclose(out, wanted, rtol=0, atol=4 * 20 * 16 * 2.0**-24)  # scores of up to 20, 12 products, values below 4


def test_layouts_agree():
    rows = sextant.polar_rows(K, OFFSETS)
    np.testing.assert_array_equal(sextant.polar_rows(K.swapaxes(1, 2), OFFSETS, layout="blhd").swapaxes(1, 2), rows)
    np.testing.assert_array_equal(sextant.polar_rows(K[0, 1], OFFSETS[1]), rows[0, 1])


def test_gradients_are_differences():
    dout = numbers(2, 3, LENGTH, 2 * DIM, seed=4)
    dx, doffsets = sextant.polar_rows_backward(dout, K, OFFSETS)

    def loss(x, offsets):
        size, phase = np.log1p(np.exp(x)), offsets[:, None]
        return (size * np.cos(phase) * dout[..., :DIM] + size * np.sin(phase) * dout[..., DIM:]).sum()

    x = K.astype(np.float64)
    step = 1e-5 * np.random.default_rng(5).standard_normal(x.shape)
    np.testing.assert_allclose((dx * step).sum(), (loss(x + step, OFFSETS) - loss(x - step, OFFSETS)) / 2, rtol=1e-4)
    step = 1e-5 * np.random.default_rng(6).standard_normal(OFFSETS.shape)
    np.testing.assert_allclose((doffsets * step).sum(), (loss(x, OFFSETS + step) - loss(x, OFFSETS - step)) / 2, rtol=1e-6)
    assert sextant.polar_rows_backward(dout, K)[1] is None


@pytest.mark.parametrize("given, words", [
    (dict(offsets=OFFSETS[:2]), r"\[polar_rows.offsets\] must be \[3, 6\]"),
    (dict(offsets=np.full(DIM, np.nan)), r"\[polar_rows.offsets\] must be finite"),
    (dict(out=np.zeros((2, 3, LENGTH, DIM), np.float32)), r"\[polar_rows.out\]"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sextant.polar_rows(K, **given)
