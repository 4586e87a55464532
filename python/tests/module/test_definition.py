"""The operator, its weights and its gradients beside the definition, with any options together and bounds that are derived."""

import numpy as np
from hypothesis import given
from random_calls import SETTINGS, calls
from reference import Attention
from reference_gradients import Gradients
from rounding import Rounded, assert_within, stored

import sextant


@given(calls())
@SETTINGS
def test_attention(call):
    (q, k, v), options = call
    wanted = Attention(q, k, **options)
    sums = np.empty(q.shape[:3], np.float32)
    got = sextant.attention(q, k, v, log_sum_exp=sums, **options)
    assert got.dtype == q.dtype
    assert_within(got, wanted.output(v))
    np.testing.assert_array_equal(np.isneginf(sums), ~wanted.sees)
    assert_within(np.where(wanted.sees, sums, 0), as_float32(wanted.log_sum_exp))


def as_float32(x):
    """Of float64 calls too, this is float32."""
    return Rounded(x.value, x.arithmetic, x.error + 2.0**-24 * (np.abs(x.value) + x.error))


@given(calls())
@SETTINGS
def test_weights(call):
    (q, k, _), options = call
    wanted = Attention(q, k, **options)
    got = sextant.attention_weights(q, k, **options)
    assert got.dtype == q.dtype
    assert_within(got, stored(wanted.weights, q.dtype))
    # In log2 units inside, and once more converted.
    for stage in ("scores", "capped"):
        got = sextant.attention_weights(q, k, stage=stage, **options)
        paired = np.broadcast_to(wanted.places.paired[:, None], wanted.shape)
        assert np.isneginf(np.asarray(got, np.float64)[~paired]).all()
        assert_within(np.where(paired, got, 0), stored(getattr(wanted, stage).rounded(2), q.dtype).where(paired))
    got = sextant.attention_weights(q, k, stage="biased", heads=[0], rows=[0], **options).astype(np.float64)
    first = wanted.biased.each(lambda x: x[:, :1, :1]).rounded(2)
    seen = wanted.seen[:, :1, :1]
    np.testing.assert_array_equal(np.isneginf(got), ~seen)
    assert_within(np.where(seen, got, 0), stored(first, q.dtype).where(seen))


@given(calls())
@SETTINGS
def test_gradients(call):
    (q, k, v), options = call
    dout = np.random.default_rng(1).standard_normal((*q.shape[:3], v.shape[3])).astype(q.dtype)
    wanted = Gradients(Attention(q, k, **options), dout, v)
    got = sextant.attention_backward(dout, q, k, v, **options)
    for name in ("dq", "dk", "dv"):
        assert_within(getattr(got, name), getattr(wanted, name))
    for name in ("mask", "bias", "slopes", "sinks"):
        given_one = options.get(name)
        if given_one is None or given_one.dtype == bool:
            assert getattr(got, "d" + name) is None
        else:
            assert_within(getattr(got, "d" + name), getattr(wanted, "d" + name))
