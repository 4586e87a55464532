"""The operator against NumPy in float64: shapes, strides, masks of every rank, alignments, grouped heads, dtypes."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import attention as expected_attention
from reference import gradients as expected_gradients
from reference import scores, softmax

import sextant

TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}
DTYPES = {"float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def numbers(rng, *shape, dtype="float32", order="bhld"):
    """Random numbers [batch, heads, length, channels], in memory in any order of axes."""
    stored = [shape["bhld".index(axis)] for axis in order]
    array = rng.standard_normal(stored).astype(DTYPES[dtype])
    return array.transpose([order.index(axis) for axis in "bhld"])


@st.composite
def calls(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    batch, kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    q_len, k_len = draw(st.integers(1, 70)), draw(st.integers(1, 70))
    head_dim, v_dim = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    dtype = draw(st.sampled_from(sorted(DTYPES)))
    order = draw(st.sampled_from(["bhld", "blhd", "lbhd", "bhdl"]))
    heads = kv_heads * group
    q = numbers(rng, batch, heads, q_len, head_dim, dtype=dtype, order=order)
    k = numbers(rng, batch, kv_heads, k_len, head_dim, dtype=dtype, order=order)
    v = numbers(rng, batch, kv_heads, k_len, v_dim, dtype=dtype, order=order)
    options = {"causal": draw(st.sampled_from([None, "none", "top_left", "bottom_right"]))}
    if options["causal"] in ("top_left", "bottom_right") or q_len == k_len:
        window = draw(st.none() | st.tuples(st.integers(-1, 8), st.integers(-1, 8)))
        options["window"] = window
        if draw(st.booleans()):
            options["slopes"] = rng.uniform(0, 1, heads)
        if draw(st.booleans()):
            options["bias"] = rng.standard_normal((heads, 2 * max(q_len, k_len) - 1)).astype(np.float32)
    full = [batch, heads, q_len, k_len]
    if draw(st.booleans()):
        rank = draw(st.integers(1, 4))
        shape = [size if draw(st.booleans()) else 1 for size in full[4 - rank :]]
        shape[-1] = k_len
        if draw(st.booleans()):
            options["mask"] = rng.random(shape) < 0.7
        else:
            options["mask"] = rng.standard_normal(shape).astype(np.float64 if dtype == "float64" else np.float32)
    if draw(st.booleans()):
        options["key_lengths"] = rng.integers(0, k_len + 1, batch)
    if draw(st.booleans()):
        options["sinks"] = rng.standard_normal(heads)
    if draw(st.booleans()):
        options["scale"] = draw(st.floats(0.01, 2))
    if draw(st.booleans()):
        options["softcap"] = draw(st.floats(0.5, 50))
    return dtype, q, k, v, options


SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@given(calls())
@SETTINGS
def test_is_the_definition(call):
    dtype, q, k, v, options = call
    got = sextant.attention(q, k, v, **options)
    assert got.dtype == q.dtype
    np.testing.assert_allclose(got.astype(np.float64), expected_attention(q, k, v, **options), atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@given(calls())
@SETTINGS
def test_weights_are_the_softmax(call):
    dtype, q, k, _, options = call
    sinks = options.pop("sinks", None)
    got = sextant.attention_weights(q, k, sinks=sinks, **options)
    wanted = softmax(scores(q, k, **options), sinks)
    np.testing.assert_allclose(got.astype(np.float64), wanted, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    biased = sextant.attention_weights(q, k, stage="biased", heads=[0], rows=[0], **options).astype(np.float64)
    wanted = scores(q, k, **options)[:, :1, :1]
    np.testing.assert_array_equal(np.isneginf(biased), np.isneginf(wanted))
    seen = np.isfinite(wanted)
    np.testing.assert_allclose(biased[seen], wanted[seen], atol=10 * TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@given(calls())
@SETTINGS
def test_gradients_are_the_definition(call):
    dtype, q, k, v, options = call
    options.pop("softcap", None)
    if dtype not in ("float32", "float64"):
        return
    dout = np.random.default_rng(1).standard_normal((*q.shape[:3], v.shape[3])).astype(q.dtype)
    got = sextant.attention_backward(dout, q, k, v, **options)
    dq, dk, dv, ds, dsinks = expected_gradients(dout, q, k, v, **options)
    close = {"atol": 20 * TOLERANCE[dtype], "rtol": 20 * TOLERANCE[dtype]}
    np.testing.assert_allclose(got.dq, dq, **close)
    np.testing.assert_allclose(got.dk, dk, **close)
    np.testing.assert_allclose(got.dv, dv, **close)
    mask = options.get("mask")
    if mask is not None and mask.dtype != bool:
        axes = tuple(range(4 - mask.ndim)) + tuple(4 - mask.ndim + i for i, n in enumerate(mask.shape) if n == 1)
        np.testing.assert_allclose(got.dmask, ds.sum(axes, keepdims=True).reshape(mask.shape), **close)
    else:
        assert got.dmask is None
    if options.get("sinks") is not None:
        np.testing.assert_allclose(got.dsinks, dsinks, **close)
    else:
        assert got.dsinks is None
    assert (got.dslopes is None) == (options.get("slopes") is None)
    assert (got.dbias is None) == (options.get("bias") is None)


def test_gradient_of_bias_and_slopes_by_differences():
    rng = np.random.default_rng(2)
    q, k, v = (numbers(rng, 1, 2, 6, 8, dtype="float64") for _ in range(3))
    bias, slopes, dout = rng.standard_normal((2, 11)), np.array([0.3, 0.1]), rng.standard_normal(q.shape)
    bias = bias.astype(np.float32)
    got = sextant.attention_backward(dout, q, k, v, causal="top_left", bias=bias, slopes=slopes)

    def loss(bias, slopes):
        return (expected_attention(q, k, v, causal="top_left", bias=bias, slopes=slopes) * dout).sum()

    for head, column in [(0, 5), (0, 3), (1, 0), (1, 8)]:
        step = np.zeros_like(bias, np.float64)
        step[head, column] = 1e-6
        slope = (loss(bias + step, slopes) - loss(bias - step, slopes)) / 2e-6
        np.testing.assert_allclose(got.dbias[head, column], slope, atol=1e-7)
    step = np.array([1e-6, 0])
    np.testing.assert_allclose(got.dslopes[0], (loss(bias, slopes + step) - loss(bias, slopes - step)) / 2e-6, atol=1e-7)


def test_backward_takes_what_the_forward_pass_gave():
    rng = np.random.default_rng(3)
    q, k, v = (numbers(rng, 2, 2, 40, 16) for _ in range(3))
    sums = np.empty(q.shape[:3], np.float32)
    out = sextant.attention(q, k, v, causal="top_left", log_sum_exp=sums)
    wanted = np.log(np.exp(scores(q, k, causal="top_left")).sum(-1))
    np.testing.assert_allclose(sums, wanted, atol=1e-5)
    dout = numbers(rng, *out.shape)
    first = sextant.attention_backward(dout, q, k, v, causal="top_left")
    second = sextant.attention_backward(dout, q, k, v, output=out, log_sum_exp=sums, causal="top_left")
    third = sextant.attention_backward(dout, q, k, v, output=out, causal="top_left")
    np.testing.assert_array_equal(first.dq, second.dq)
    np.testing.assert_allclose(third.dk, second.dk, atol=1e-5)


def test_every_kind_of_scheme_is_a_bias():
    rng = np.random.default_rng(4)
    q, k, v = (numbers(rng, 2, 4, 12, 8) for _ in range(3))
    alibi, chunks, shaw = sextant.alibi(12, 4), sextant.chunk_mask(12, 4, chunk=5), sextant.shaw(12, 4, 8, values=False)
    np.testing.assert_allclose(
        sextant.attention(q, k, v, bias=alibi), expected_attention(q, k, v, bias=alibi.values), atol=1e-5
    )
    np.testing.assert_allclose(
        sextant.attention(q, k, v, bias=chunks), expected_attention(q, k, v, mask=np.isfinite(chunks.array())), atol=1e-5
    )
    both = sextant.attention(q, k, v, bias=[alibi, chunks])
    np.testing.assert_allclose(
        both, expected_attention(q, k, v, bias=alibi.values, mask=np.isfinite(chunks.array())), atol=1e-5
    )
    assert np.abs(sextant.attention(q, k, v, bias=shaw) - sextant.attention(q, k, v)).max() > 1e-3
    with pytest.raises(ValueError, match=r"\[attention.bias\] must have one of each kind"):
        sextant.attention(q, k, v, bias=[alibi, alibi])


def test_rotation_inside_the_call_is_rotation_before_it():
    rng = np.random.default_rng(5)
    q, k, v = (numbers(rng, 2, 4, 12, 8) for _ in range(3))
    table = sextant.rotary(12, 8)
    inside = sextant.attention(q, k, v, rotation=table)
    before = sextant.attention(sextant.rotate(q, table), sextant.rotate(k, table.keys), v)
    np.testing.assert_allclose(inside, before, atol=1e-6)


def test_position_ids_choose_rows():
    rng = np.random.default_rng(6)
    q, k, v = (numbers(rng, 1, 4, 5, 8) for _ in range(3))
    ids = np.array([3, 4, 9, 10, 11])
    table = sextant.rotary(12, 8)
    by_ids = sextant.attention(q, k, v, rotation=table, positions=ids)
    np.testing.assert_allclose(by_ids, sextant.attention(q, k, v, rotation=sextant.rotary(ids, 8)), atol=1e-6)
    both = sextant.attention(q, k, v, rotation=table, positions=(ids[None, :], ids.astype(np.int32)))
    np.testing.assert_array_equal(by_ids, both)


def test_segments_are_calls_of_their_own():
    rng = np.random.default_rng(7)
    q, k, v = (numbers(rng, 1, 2, 9, 8) for _ in range(3))
    packed = sextant.attention(q, k, v, causal="top_left", segments=[0, 4, 9])
    for begin, end in [(0, 4), (4, 9)]:
        part = [x[:, :, begin:end] for x in (q, k, v)]
        np.testing.assert_array_equal(packed[:, :, begin:end], sextant.attention(*part, causal="top_left"))


def test_bits_do_not_depend_on_threads_or_batch():
    rng = np.random.default_rng(8)
    q, k, v = (numbers(rng, 3, 4, 200, 32) for _ in range(3))
    whole = sextant.attention(q, k, v, causal="top_left", threads=1)
    np.testing.assert_array_equal(whole, sextant.attention(q, k, v, causal="top_left", threads=2))
    np.testing.assert_array_equal(whole[1:2], sextant.attention(q[1:2], k[1:2], v[1:2], causal="top_left"))


def test_statistics_are_those_of_the_weights():
    rng = np.random.default_rng(9)
    q, k = (numbers(rng, 2, 2, 30, 8) for _ in range(2))
    p = softmax(scores(q, k, causal="top_left"))
    got = sextant.attention_statistics(q, k, top=3, causal="top_left")
    np.testing.assert_allclose(got.entropy, -(p * np.log(np.where(p > 0, p, 1))).sum(-1), atol=1e-5)
    np.testing.assert_allclose(got.mass, p.sum(2), atol=1e-4)
    np.testing.assert_array_equal(got.top_keys[:, :, 5:, 0], p.argmax(-1)[:, :, 5:])
    np.testing.assert_allclose(got.top_weights, np.sort(p, -1)[..., ::-1][..., :3], atol=1e-5)


def test_plan_explains_itself():
    q = np.zeros((1, 2, 300, 64), np.float32)
    plan = sextant.plan(q, q, q, causal="top_left", threads=1)
    assert plan.kernel == "queries in lanes"
    assert plan.threads == 1
    assert "scratch" in plan.explain()
    assert sextant.plan(q.astype(np.float64), q.astype(np.float64), q.astype(np.float64)).arithmetic == "float64"


Q = np.zeros((1, 2, 3, 4), np.float32)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"foo": 1}, TypeError, "unexpected keyword argument 'foo'"),
        ({"causal": True}, TypeError, r"\[attention.causal\] must be one of none, top_left, .*, got bool"),
        ({"causal": "left"}, ValueError, r"\[attention.causal\] must be one of none, top_left"),
        ({"window": 3}, TypeError, r"\[attention.window\] must be a list of whole numbers, got int"),
        ({"window": (1, 2, 3)}, ValueError, r"\[attention.window\] must be \(left, right\)"),
        ({"window": (-2, 0)}, ValueError, r"attention.window"),
        ({"mask": np.ones(3, int)}, TypeError, r"\[attention.mask\] must be of bool or floats, got int64"),
        ({"mask": [True]}, TypeError, r"\[attention.mask\] must be an array"),
        ({"mask": np.ones((2, 2), bool)}, ValueError, r"attention.mask"),
        ({"bias": np.zeros((2, 4), np.float32)}, ValueError, r"\[attention.bias\] must have an odd number"),
        ({"bias": np.zeros((2, 5), int)}, TypeError, r"\[attention.bias\] must be an array of floats"),
        ({"bias": "alibi"}, TypeError, r"\[attention.bias\] must be an array"),
        ({"slopes": [0.1, 0.2, 0.3]}, ValueError, r"attention.*slopes"),
        ({"scale": "1"}, TypeError, r"\[attention.scale\] must be a number, got str"),
        ({"scale": float("nan")}, ValueError, "attention.scale"),
        ({"softcap": -1.0}, ValueError, "attention.softcap"),
        ({"segments": [0, 2]}, ValueError, "attention.segments"),
        ({"key_lengths": [1, 2]}, ValueError, "attention.key_lengths"),
        ({"key_lengths": 3}, TypeError, r"\[attention.key_lengths\] must be a list of whole numbers, got int"),
        ({"key_lengths": [1.5]}, TypeError, r"\[attention.key_lengths\] must be a whole number, got float"),
        ({"sinks": [0.0]}, ValueError, "attention.sinks"),
        ({"rotation": np.zeros(3)}, TypeError, r"\[attention.rotation\] must be a RotationTable, got ndarray"),
        ({"rotation": sextant.rotary(3, 4, dtype="float64")}, TypeError, "RotationTable of dtype float32"),
        ({"positions": [0.5, 1.0, 2.0]}, TypeError, r"\[attention.positions\] must be an array"),
        ({"positions": np.zeros(3)}, TypeError, r"\[attention.positions\] must be an array of whole numbers"),
        ({"threads": -1}, ValueError, r"\[attention.threads\] must be 0 .. 1024, got -1"),
        ({"threads": 1.5}, TypeError, r"\[attention.threads\] must be a whole number, got float"),
        ({"k": Q.astype(np.float64)}, TypeError, r"\[attention.k\] must be of float32, as q, got float64"),
        ({"q": Q[0]}, ValueError, r"\[attention.q\] must be \[batch, heads, length, head_dim\], got the shape \[2, 3, 4\]"),
        ({"q": Q.astype(int), "k": Q.astype(int), "v": Q.astype(int)}, TypeError, r"\[attention.q\] must be of float32"),
        ({"v": [1.0]}, TypeError, r"\[attention.v\] must be an array of numbers .*, got list"),
        ({"k": Q[:, :, :, :3]}, ValueError, r"\[attention.k\] must be \[1, 2, 3, 4\]"),
        ({"out": Q}, ValueError, r"attention.out"),
        ({"log_sum_exp": np.zeros((1, 2, 4), np.float32)}, ValueError, r"\[attention.log_sum_exp\] must be of shape \[1, 2, 3\]"),
    ],
)
def test_errors_name_the_argument(options, error, text):
    arguments = {"q": Q, "k": Q, "v": Q, **options}
    with pytest.raises(error, match=text):
        sextant.attention(**arguments)


def test_errors_name_the_function():
    with pytest.raises(TypeError, match=r"\[attention_weights.scale\]"):
        sextant.attention_weights(Q, Q, scale="1")
    with pytest.raises(ValueError, match=r"\[attention_weights.stage\] must be one of scores"):
        sextant.attention_weights(Q, Q, stage="logits")
    with pytest.raises(ValueError, match=r"\[attention_weights.rows\] must not be empty"):
        sextant.attention_weights(Q, Q, rows=[])
    with pytest.raises(TypeError, match=r"plan\(\) got an unexpected keyword argument 'foo'"):
        sextant.plan(Q, Q, Q, foo=1)
