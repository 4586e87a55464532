"""The oracle of test_definition.py itself: its gradients beside differences of its output, its bounds beside real rounding."""

import numpy as np
import pytest
from reference import Attention
from reference_gradients import Gradients
from rounding import FLOAT32, Rounded, assert_within

import sextant

RNG = np.random.default_rng(2)
Q, K, V, DOUT = (RNG.standard_normal((1, 2, 6, 8)) for _ in range(4))
ANGLES = np.outer(np.arange(6), [1.0, 0.1, 0.01])
OPTIONS = {
    "causal": "top_left",
    "bias": RNG.standard_normal((2, 11)),
    "slopes": np.array([0.3, 0.1]),
    "mask": RNG.standard_normal((6, 6)),
    "sinks": np.array([0.5, -0.5]),
    "softcap": 2.0,
    "rotation": sextant.RotationTable(np.cos(ANGLES).astype("f"), np.sin(ANGLES).astype("f"), layout="half_split"),
}


def loss(name, moved):
    given = {"q": Q, "k": K, "v": V, **OPTIONS, name: moved}
    return (Attention(given.pop("q"), given.pop("k"), **{x: y for x, y in given.items() if x != "v"}).output(given["v"]).value * DOUT).sum()


@pytest.mark.parametrize("name", ["q", "k", "v", "bias", "slopes", "mask", "sinks"])
def test_gradients_are_differences(name):
    """(f(x + h) - f(x - h)) / 2h is off by h^2 |f'''| / 6 and by 2^-53 |f| / h: below 1e-8 for h = 1e-5, where f and f''' are below 100."""
    place = {"q": Q, "k": K, "v": V, **OPTIONS}[name]
    gradient = getattr(Gradients(Attention(Q, K, **OPTIONS), DOUT, V), "d" + name).value
    assert gradient.shape == place.shape
    for index in RNG.permutation(place.size)[:8]:
        step = np.zeros(place.size)
        step[index] = 1e-5
        step = step.reshape(place.shape)
        slope = (loss(name, place + step) - loss(name, place - step)) / 2e-5
        assert abs(gradient.flat[index] - slope) < 1e-8


def test_bounds_hold_for_float32_and_are_not_far_above():
    x, y = RNG.standard_normal((2, 50, 400)).astype("f")
    exact, got = Rounded(x, FLOAT32), np.zeros((50, 50), "f")
    for i in range(400):  # one after the other, with two roundings each
        got += x[:, i, None] * y[None, :, i]
    bound = exact.dot(Rounded(y.T, FLOAT32), more=1)
    assert_within(got, bound)
    assert np.abs(got - bound.value).max() > 1e-3 * bound.error.max()
    assert_within(np.exp(x), exact.exp())
    assert_within(np.tanh(x), exact.tanh())
    assert_within(x * x - x, exact * exact - exact)


def test_what_is_beyond_its_bound_is_named():
    bound = Rounded(np.ones((2, 2)), FLOAT32).rounded(1)
    assert_within(np.full((2, 2), 1 + 2.0**-24), bound)
    with pytest.raises(AssertionError, match=r"1 of 4 numbers are beyond their bound; at \(1, 0\): got 1.0000001"):
        assert_within(np.array([[1, 1], [1 + 2.0**-23, 1]]), bound)
    with pytest.raises(AssertionError, match="1 of 4"):
        assert_within(np.array([[1, np.nan], [1, 1]]), bound)
