"""Stick-breaking attention of Python: against its definition, and its gradients against differences."""

import numpy as np
import pytest
import sextant

LENGTH, DIM = 30, 8


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


Q, K, V, DOUT = numbers(2, 4, LENGTH, DIM), numbers(2, 2, LENGTH, DIM, seed=1), numbers(2, 2, LENGTH, 5, seed=2), numbers(2, 4, LENGTH, 5, seed=3)


def defined(q, k, v, current=False):
    """The output in float64."""
    z = q.astype(np.float64) @ np.repeat(k.astype(np.float64), 2, 1).swapaxes(-1, -2) / DIM**0.5
    share = np.where(np.tri(LENGTH, k=0 if current else -1, dtype=bool), 1 / (1 + np.exp(-z)), 0)
    left = np.cumprod(1 - share[..., ::-1], -1)[..., ::-1]  # after each key
    before = np.concatenate([left[..., 1:], np.ones_like(left[..., :1])], -1)
    return share * before @ np.repeat(v.astype(np.float64), 2, 1)


@pytest.mark.parametrize("current", [False, True])
def test_the_output_is_the_definition(current):
    # A score is a chain of DIM products that five operations round, once itself and once in the sum over later keys; 16 more roundings.
    wanted = defined(Q, K, V, current)
    products = (np.abs(Q) @ np.abs(np.repeat(K, 2, 1)).swapaxes(-1, -2)).max() / DIM**0.5
    error = (2 * (DIM + 5) * products + 16) * 2.0**-24
    np.testing.assert_allclose(sextant.stick_breaking_attention(Q, K, V, current=current), wanted, rtol=0, atol=error * np.abs(wanted).max())


def test_a_channel_of_ones_gives_what_is_left():
    ones = np.ones((2, 2, LENGTH, 1), np.float32)
    taken = sextant.stick_breaking_attention(Q * 0, K, ones)[0, 0, :, 0]
    np.testing.assert_allclose(1 - taken, 0.5 ** np.arange(LENGTH), rtol=0, atol=16 * 2.0**-24)


def test_one_query_after_a_cache_is_the_last_row():
    whole = sextant.stick_breaking_attention(Q, K, V)
    np.testing.assert_array_equal(sextant.stick_breaking_attention(Q[:, :, -1:], K, V, causal="bottom_right"), whole[:, :, -1:])
    turned = [x.swapaxes(1, 2) for x in (Q, K, V)]
    np.testing.assert_array_equal(sextant.stick_breaking_attention(*turned, layout="blhd").swapaxes(1, 2), whole)


def test_gradients_are_differences():
    got = sextant.stick_breaking_backward(DOUT, Q, K, V)
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
    (dict(current="a"), r"\[stick_breaking_attention.current\]"),
    (dict(causal=None), r"\[stick_breaking_attention.causal\] must be given"),
    (dict(mask=np.zeros((LENGTH, LENGTH), np.float32)), r"\[stick_breaking_attention.mask\] must be absent: only a boolean mask"),
    (dict(softcap=2.0), "unexpected keyword argument 'softcap'"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sextant.stick_breaking_attention(Q, K, V, **given)
