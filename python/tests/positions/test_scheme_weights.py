"""What the compiled part says of a scheme's weights: initial values, gradients, frequencies, length classes."""

import numpy as np
import pytest

from sextant import _core, rotary_yarn, schemes

SIZES = {
    "added": {"width": 8},
    "rotated": {"head_dim": 8, "heads": 2},
    "distance_bias": {"heads": 2},
    "indexed_bias": {"heads": 2},
    "content": {"heads": 2, "head_dim": 4},
}
# Parameters of schemes that have to be given, and ids of schemes of more than one axis.
PARAMETERS = {"fourier": {"form": "gaussian"}, "swin": {"rows": 2, "columns": 3}, "swin_v2": {"rows": 2, "columns": 3}}
LENGTH = 6


def ids(name):
    two = name in ("rotary_mixed", "fourier")
    return np.stack([np.arange(LENGTH) % 3, np.arange(LENGTH) // 3], 1) if two else LENGTH


def table_of(scheme, weights):
    made = _core.make(scheme.name, ids(scheme.name), SIZES[scheme.kind], PARAMETERS.get(scheme.name, {}), weights, "float64", None)
    if scheme.kind == "distance_bias":
        return np.asarray(made.values, np.float64)
    return np.stack([made.cos, made.sin]) if scheme.kind == "rotated" else made


LEARNED = [s for s in schemes() if s.weights and s.kind in ("added", "rotated", "distance_bias")]


@pytest.mark.parametrize("scheme", LEARNED, ids=lambda scheme: scheme.name)
def test_gradients_of_tables_are_differences(scheme):
    parameters, sizes = PARAMETERS.get(scheme.name, {}), SIZES[scheme.kind]
    weights = _core.initial_weights(scheme.name, ids(scheme.name), sizes, parameters)
    assert set(weights) == {weight.name for weight in scheme.weights}
    table = table_of(scheme, weights)
    gradient = np.random.default_rng(0).standard_normal(table.shape)
    got = _core.weight_gradients(scheme.name, ids(scheme.name), sizes, parameters, weights, gradient)
    # Tables by distance are of float32, whose rounding is 2^-24 of about 1: a step of 2^-8 makes that 2^-16 of the result.
    step, tolerance = (2.0**-8, 2e-3) if scheme.kind == "distance_bias" else (1e-6, 1e-6)
    for name, values in weights.items():
        place = np.unravel_index(values.size // 2, values.shape)
        losses = []
        for sign in (1, -1):
            moved = {**weights, name: values.copy()}
            moved[name][place] += sign * step
            losses.append((table_of(scheme, moved) * gradient).sum())
        np.testing.assert_allclose(got[name][place], (losses[0] - losses[1]) / (2 * step), rtol=tolerance, atol=10 * tolerance)


def test_frequencies_and_length_classes():
    options = {"factor": 8.0, "original_length": 64}
    inv_freq, factor = _core.frequencies("rotary_yarn", 1, {"head_dim": 16}, options)
    table = rotary_yarn([1], 16, dtype="float64", **options)
    np.testing.assert_allclose(np.arctan2(table.sin, table.cos)[0], inv_freq, rtol=1e-14)
    np.testing.assert_allclose(np.hypot(table.sin, table.cos)[0], factor, rtol=1e-14)
    assert _core.length_class("rotary", {"head_dim": 16}, {}, 5) is None
    dynamic = [_core.length_class("rotary_dynamic_ntk", {"head_dim": 16}, {"max_length": 64}, n) for n in (8, 64, 65, 66)]
    assert dynamic[0] == dynamic[1]
    assert len(set(dynamic[1:])) == 3
    assert _core.initial_weights("rotary", 4, {"head_dim": 8}, {}) == {}


def test_what_a_scheme_has_not_is_an_error():
    with pytest.raises(ValueError, match=r"\[scheme\] must be a scheme with weights, got rotary"):
        _core.weight_gradients("rotary", 4, {"head_dim": 8}, {}, {}, np.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"\[scheme\] must be a rotation, got alibi"):
        _core.frequencies("alibi", 4, {"heads": 8}, {})
    with pytest.raises(TypeError, match=r"\[t5.gradient\] must be of float64, got float32"):
        _core.weight_gradients("t5", 4, {"heads": 2}, {}, _core.initial_weights("t5", 4, {"heads": 2}, {}), np.zeros((2, 7), np.float32))
