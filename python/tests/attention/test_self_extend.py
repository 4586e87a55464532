"""Self-Extend of Python: against its definition, one softmax over scores of two rotations, and its gradients against differences."""

import numpy as np
import pytest
import sextant

WINDOW, GROUP, LENGTH, DIM = 6, 3, 30, 8
TABLE = sextant.rotary(LENGTH, DIM, base=100.0)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


Q, K, V, DOUT = numbers(2, 4, LENGTH, DIM), numbers(2, 2, LENGTH, DIM, seed=1), numbers(2, 2, LENGTH, 5, seed=2), numbers(2, 4, LENGTH, 5, seed=3)


def defined(q, k, v):
    """The output in float64."""
    i, j = np.arange(LENGTH)[:, None], np.arange(LENGTH)[None]
    far = i // GROUP - j // GROUP + WINDOW - WINDOW // GROUP
    distance = np.where(i - j < WINDOW, i - j, far)
    angle = distance[..., None] * 100.0 ** (-2 * np.arange(DIM // 2) / DIM)
    q1, q2 = np.split(q.astype(np.float64), 2, -1)
    k1, k2 = np.split(np.repeat(k.astype(np.float64), 2, 1), 2, -1)
    even = q1[..., :, None, :] * k1[..., None, :, :] + q2[..., :, None, :] * k2[..., None, :, :]
    odd = q1[..., :, None, :] * k2[..., None, :, :] - q2[..., :, None, :] * k1[..., None, :, :]
    scores = (even * np.cos(angle) + odd * np.sin(angle)).sum(-1) / DIM**0.5
    weights = np.exp(np.where(j <= i, scores, -np.inf))
    return weights / weights.sum(-1, keepdims=True) @ np.repeat(v.astype(np.float64), 2, 1)


def test_the_output_is_that_of_one_softmax():
    out = sextant.self_extend_attention(Q, K, V, rotation=TABLE, window=WINDOW, group=GROUP)
    # Scores of 8 products and sums of 30 keys in float32, of numbers of a few units.
    np.testing.assert_allclose(out, defined(Q, K, V), rtol=0, atol=2.0**-24 * 500)


def test_other_axes_and_an_array_of_the_caller_give_the_same():
    wanted = sextant.self_extend_attention(Q, K, V, rotation=TABLE, window=WINDOW, group=GROUP)
    turned = [x.swapaxes(1, 2) for x in (Q, K, V)]
    got = sextant.self_extend_attention(*turned, rotation=TABLE, window=WINDOW, group=GROUP, layout="blhd")
    np.testing.assert_array_equal(got.swapaxes(1, 2), wanted)
    out = np.empty((4, LENGTH, 5), np.float32)
    assert sextant.self_extend_attention(Q[0], K[0], V[0], rotation=TABLE, window=WINDOW, group=GROUP, out=out) is out
    np.testing.assert_array_equal(out, wanted[0])
    plain = sextant.attention(Q, K, V, rotation=TABLE, causal=True)
    np.testing.assert_array_equal(sextant.self_extend_attention(Q, K, V, rotation=TABLE, window=LENGTH), plain)


def test_gradients_are_differences():
    got = sextant.self_extend_backward(DOUT, Q, K, V, rotation=TABLE, window=WINDOW, group=GROUP)
    assert got.dsinks is None
    for n, gradient in enumerate((got.dq, got.dk, got.dv)):
        arrays = [x.astype(np.float64) for x in (Q, K, V)]
        direction = np.random.default_rng(n).standard_normal(arrays[n].shape)
        losses = []
        for step in (1e-5, -1e-5):
            moved = [*arrays]
            moved[n] = arrays[n] + step * direction
            losses.append((defined(*moved) * DOUT).sum())
        slope = (losses[0] - losses[1]) / 2e-5
        np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=1e-4, atol=1e-3)


def test_sinks_have_gradients():
    got = sextant.self_extend_backward(DOUT, Q, K, V, rotation=TABLE, window=WINDOW, group=GROUP, sinks=[0.5, -1, 2, 0])
    assert got.dsinks.shape == (4,)
    assert np.all(got.dsinks != 0)


@pytest.mark.parametrize("given, words", [
    (dict(window=0), r"\[self_extend_attention.window\]"),
    (dict(group="a"), r"\[self_extend_attention.group\]"),
    (dict(causal=None), r"\[self_extend_attention.causal\] must be given"),
    (dict(rotation=None), r"\[self_extend_attention.rotation\] must be given"),
    (dict(segments=[0, LENGTH]), "unexpected keyword argument 'segments'"),
    (dict(is_causal=True), "use causal=True"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        sextant.self_extend_attention(Q, K, V, **{"rotation": TABLE, **given})
    with pytest.raises(TypeError, match=r"\[self_extend_attention.q\] must be of float32"):
        sextant.self_extend_attention(*(x.astype(np.float64) for x in (Q, K, V)), rotation=TABLE)
