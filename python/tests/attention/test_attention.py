"""What the operator promises beside its definition (test_definition.py): equal bits, schemes as biases, statistics, plans, errors."""

import numpy as np
import pytest
from random_calls import numbers
from reference import Attention
from reference_gradients import Gradients
from rounding import assert_within

import sextant

def test_backward_takes_what_the_forward_pass_gave():
    rng = np.random.default_rng(3)
    q, k, v = (numbers(rng, 2, 2, 40, 16) for _ in range(3))
    sums = np.empty(q.shape[:3], np.float32)
    out = sextant.attention(q, k, v, causal="top_left", log_sum_exp=sums)
    wanted = Attention(q, k, causal="top_left")
    assert_within(sums, wanted.log_sum_exp)
    dout = numbers(rng, *out.shape)
    first = sextant.attention_backward(dout, q, k, v, causal="top_left")
    second = sextant.attention_backward(dout, q, k, v, out=out, log_sum_exp=sums, causal="top_left")
    third = sextant.attention_backward(dout, q, k, v, out=out, causal="top_left")
    np.testing.assert_array_equal(first.dq, second.dq)
    assert_within(third.dk, Gradients(wanted, dout, v).dk)


def test_every_kind_of_scheme_is_a_bias():
    rng = np.random.default_rng(4)
    q, k, v = (numbers(rng, 2, 4, 12, 8) for _ in range(3))
    alibi, chunks, shaw = sextant.alibi(12, 4), sextant.chunk_mask(12, 4, chunk=5), sextant.shaw(12, 4, 8, values=False)
    seen = np.isfinite(chunks.array())
    assert_within(sextant.attention(q, k, v, bias=alibi), Attention(q, k, bias=alibi.values).output(v))
    assert_within(sextant.attention(q, k, v, bias=chunks), Attention(q, k, mask=seen).output(v))
    both = sextant.attention(q, k, v, bias=[alibi, chunks])
    assert_within(both, Attention(q, k, bias=alibi.values, mask=seen).output(v))
    assert np.abs(sextant.attention(q, k, v, bias=shaw) - sextant.attention(q, k, v)).max() > 1e-3
    with pytest.raises(ValueError, match=r"\[attention.bias\] must have at most one bias by distance"):
        sextant.attention(q, k, v, bias=[alibi, alibi])


def test_rotation_inside_the_call_is_rotation_before_it():
    rng = np.random.default_rng(5)
    q, k, v = (numbers(rng, 2, 4, 12, 8) for _ in range(3))
    table = sextant.rotary(12, 8)
    inside = sextant.attention(q, k, v, rotation=table)
    before = sextant.attention(sextant.rotate(q, table), sextant.rotate(k, table.keys), v)
    np.testing.assert_array_equal(inside, before)


def test_position_ids_choose_rows():
    rng = np.random.default_rng(6)
    q, k, v = (numbers(rng, 1, 4, 5, 8) for _ in range(3))
    ids = np.array([3, 4, 9, 10, 11])
    table = sextant.rotary(12, 8)
    by_ids = sextant.attention(q, k, v, rotation=table, positions=ids)
    np.testing.assert_array_equal(by_ids, sextant.attention(q, k, v, rotation=sextant.rotary(ids, 8)))
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
    wanted = Attention(q, k, causal="top_left")
    got = sextant.attention_statistics(q, k, top=3, causal="top_left")
    surprise = (wanted.log_sum_exp.each(lambda x: x[..., None]) - wanted.biased).where(wanted.seen)
    assert_within(got.entropy, (wanted.weights * surprise).rounded(3).sum(-1, 30))
    assert_within(got.mass, wanted.weights.sum(2, 30))
    p = wanted.weights.value
    np.testing.assert_array_equal(got.top_keys[:, :, 5:, 0], p.argmax(-1)[:, :, 5:])
    nearest = wanted.weights.each(lambda x: np.take_along_axis(x, np.argsort(-p, -1)[..., :3], -1))
    assert_within(got.top_weights, nearest)


def test_plan_explains_itself():
    q = np.zeros((1, 2, 300, 64), np.float32)
    plan = sextant.plan(q, q, q, causal="top_left", threads=1)
    assert plan.kernel == "queries in lanes"
    assert plan.threads == 1
    assert "scratch" in plan.explain()
    assert sextant.plan(q.astype(np.float64), q.astype(np.float64), q.astype(np.float64)).arithmetic == "float64"


Q = np.zeros((1, 2, 3, 4), np.float32)


def nested(depth):
    bias = []
    for _ in range(depth):
        bias = [bias]
    return bias


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"foo": 1}, TypeError, "unexpected keyword argument 'foo'"),
        ({"causal": 1}, TypeError, r"\[attention.causal\] must be one of none, top_left, .*, got int"),
        ({"causal": "left"}, ValueError, r"\[attention.causal\] must be one of none, top_left"),
        ({"window": 3}, TypeError, r"\[attention.window\] must be \(left, right\), .*, got int"),
        ({"window": (1, 2, 3)}, ValueError, r"\[attention.window\] must be \(left, right\)"),
        ({"window": (-2, 0)}, ValueError, r"attention.window"),
        ({"mask": np.ones(3, int)}, TypeError, r"\[attention.mask\] must be of bool or floats, got int64"),
        ({"mask": [True]}, TypeError, r"\[attention.mask\] must be an array"),
        ({"mask": np.ones((2, 2), bool)}, ValueError, r"attention.mask"),
        ({"bias": np.zeros((2, 4), np.float32)}, ValueError, r"\[attention.bias\] must have an odd number"),
        ({"bias": np.zeros((2, 5), int)}, TypeError, r"\[attention.bias\] must be an array of floats"),
        ({"bias": "alibi"}, TypeError, r"\[attention.bias\] must be an array"),
        ({"bias": [[sextant.alibi(3, 2)]]}, TypeError, r"\[attention.bias\] must be an array"),
        ({"bias": nested(100000)}, TypeError, r"\[attention.bias\] must be an array"),
        ({"slopes": [0.1, 0.2, 0.3]}, ValueError, r"attention.*slopes"),
        ({"scale": "1"}, TypeError, r"\[attention.scale\] must be a number, got str"),
        ({"scale": float("nan")}, ValueError, "attention.scale"),
        ({"softcap": -1.0}, ValueError, "attention.softcap"),
        ({"dropout": 1.0}, ValueError, "attention.dropout"),
        ({"dropout": 0.5, "dropout_seed": -1}, ValueError, "attention.dropout_seed"),
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
        ({"q": Q[0]}, ValueError, r"\[attention.k\] must be \[heads, length, head_dim\], got the shape \[1, 2, 3, 4\]"),
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


@pytest.mark.parametrize("name", ["key_lengths", "query_offsets", "segments", "key_segments", "slopes", "sinks", "bias"])
@pytest.mark.parametrize("empty", [[], (), np.zeros(0, np.int64)], ids=["list", "tuple", "array"])
def test_an_empty_option_is_not_an_absent_one(name, empty):
    q = np.ones((1, 2, 4, 8), np.float32)
    cache = sextant.KvCache(1, 2, 8)
    cache.append(q, q)
    calls = [lambda o: sextant.attention(q, q, q, **o), lambda o: sextant.attention_backward(q, q, q, q, **o), lambda o: cache.attend(q, **o)]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match=rf"^(\[[a-zA-Z_.]*\.{name}\]|.*unexpected keyword argument '{name}')"):
            call({name: empty})
        call({name: None})


def test_a_window_has_an_order():
    q = np.ones((1, 1, 4, 8), np.float32)
    for value in ({3, 1}, {3: 0, 1: 0}, frozenset((3, 1))):
        with pytest.raises(TypeError, match=r"^\[attention.window\] must be a list of whole numbers"):
            sextant.attention(q, q, q, window=value)


def test_log_sum_exp_of_gradients_goes_with_the_output():
    q = np.ones((1, 1, 4, 8), np.float32)
    with pytest.raises(ValueError, match=r"^\[attention_backward.log_sum_exp\] must be given together with out,"):
        sextant.attention_backward(q, q, q, q, log_sum_exp=np.zeros((1, 1, 4), np.float32))
