"""What a call refuses: terms that were not made for it, results that overlap what is read, numbers that float32 does not hold."""

import numpy as np
import pytest

import sextant

RNG = np.random.default_rng(0)
CALLS = {
    "attention": lambda q, k, **o: sextant.attention(q, k, k, **o),
    "attention_weights": lambda q, k, **o: sextant.attention_weights(q, k, **o),
    "attention_statistics": lambda q, k, **o: sextant.attention_statistics(q, k, **o),
    "attention_backward": lambda q, k, **o: sextant.attention_backward(q, q, k, k, **o),
    "plan": lambda q, k, **o: sextant.plan(q, k, k, **o),
}


def normal(*shape, dtype="f"):
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("call", CALLS)
def test_a_bias_of_other_heads_or_fewer_tokens_is_refused(call):
    q = normal(1, 4, 6, 8)
    with pytest.raises(ValueError, match=r"\[swin\] must be made for the call's heads, 4, got 2"):
        CALLS[call](q, q, bias=sextant.swin(6, 2))
    with pytest.raises(ValueError, match=r"\[fire.positions\] must have one for each of the tokens 0 .. 5 of the call, got 4"):
        CALLS[call](q, q, bias=sextant.fire(4, 4))


@pytest.mark.parametrize("call", CALLS)
def test_packed_queries_without_gates_are_refused(call):
    q = normal(1, 1, 8, 8)
    packed = {"causal": "top_left", "segments": np.array([0, 1, 8]), "key_segments": np.array([0, 5, 8])}
    with pytest.raises(ValueError, match=r"\[forgetting\] must have a key for every query's gate"):
        CALLS[call](q, q, bias=sextant.forgetting(8, 1, 8), **packed)


def test_a_cache_that_outgrows_its_bias_is_refused():
    cache, bias = sextant.KvCache(1, 2, 8), sextant.fire(4, 2)
    for _ in range(4):
        x = normal(1, 2, 1, 8)
        cache.append(x, x)
        assert cache.attend(x, bias=bias).any()
    cache.append(x, x)
    with pytest.raises(ValueError, match=r"tokens 0 .. 4 of the call, got 4"):
        cache.attend(x, bias=bias)


@pytest.mark.parametrize("stage", ["scores", "capped", "biased", "probabilities"])
def test_lengths_of_all_keys_change_no_stage(stage):
    q, k = normal(1, 2, 12, 16), normal(1, 2, 12, 16)
    options = {"bias": sextant.deberta(12, 2, 16), "rotation": sextant.rotary(12, 16), "causal": "top_left"}
    lengths = sextant.attention_weights(q, k, stage=stage, key_lengths=np.array([12]), **options)
    np.testing.assert_array_equal(lengths, sextant.attention_weights(q, k, stage=stage, **options))


def test_stages_before_masks_show_padding_that_a_term_has_no_ids_for():
    k = np.broadcast_to(np.ones((1, 1, 1, 2), "f"), (1, 1, 500_000, 2))
    q = np.ones((1, 1, 1, 2), "f")
    term = sextant.shaw(np.arange(12), 1, 2, values=False)
    weights = sextant.attention_weights(q, k, stage="capped", bias=term, causal="none", key_lengths=np.array([12]))
    plain = sextant.attention_weights(q, k, stage="scores")
    np.testing.assert_array_equal(weights[..., 12:], plain[..., 12:])


def overlapping():
    x = normal(1, 2, 10, 8)
    table, rows = sextant.rotary(10, 8), normal(11, 8)
    q, memory = normal(1, 2, 6, 8), np.zeros(400, "f")
    out = memory[20:116].reshape(q.shape)
    return {
        "rotate reversed": lambda: sextant.rotate(x, table, out=x[:, :, ::-1]),
        "rotate shifted": lambda: sextant.rotate(x[:, :, :-1], sextant.rotary(9, 8), out=x[:, :, 1:]),
        "add_positions": lambda: sextant.add_positions(rows[:10], normal(10, 8), out=rows[1:]),
        "add_positions table": lambda: sextant.add_positions(normal(10, 8), rows[:10], out=rows[1:]),
        "attention mask": lambda: sextant.attention(q, q, q, mask=memory[:36].reshape(6, 6), out=out),
        "attention values": lambda: sextant.attention(q, q, x[:, :, :6], out=x[:, :, 2:8]),
        "attention log_sum_exp": lambda: sextant.attention(q, q, q, out=out, log_sum_exp=out.reshape(-1)[:12].reshape(1, 2, 6)),
    }


@pytest.mark.parametrize("name", overlapping())
def test_results_that_overlap_are_refused(name):
    with pytest.raises(ValueError, match=r"\.(out|log_sum_exp)\] must (be x itself or )?not overlap"):
        overlapping()[name]()


def test_results_beside_what_is_read_are_taken():
    both = normal(1, 2, 6, 16)
    x, out = both[..., :8], both[..., 8:]
    want = sextant.attention(x.copy(), x.copy(), x.copy())
    np.testing.assert_array_equal(sextant.attention(x, x, x, out=out), want)
    table = sextant.rotary(6, 8)
    want = sextant.rotate(x, table)
    np.testing.assert_array_equal(sextant.rotate(x, table, out=out), want)
    np.testing.assert_array_equal(sextant.rotate(x, table, out=x), want)
    rows = normal(6, 8)
    np.testing.assert_array_equal(sextant.add_positions(x, rows, out=x), want + rows)


@pytest.mark.parametrize("dtype", ["f", "d", "e"])
@pytest.mark.parametrize("call", ["attention", "attention_weights", "attention_backward"])
def test_bytes_of_a_mask_other_than_0_are_true(dtype, call):
    q = normal(1, 1, 4, 8, dtype=dtype)
    mask = np.array([[0, 1, 2, 255], [128, 0, 3, 1], [1, 1, 1, 1], [7, 7, 7, 7]], np.uint8)
    run = {**CALLS, "attention_backward": lambda q, k, **o: sextant.attention_backward(q, q, k, k, **o).dk}[call]
    np.testing.assert_array_equal(run(q, q, mask=mask.view(bool)), run(q, q, mask=mask != 0))


@pytest.mark.parametrize("dtype", ["f", "d", "e"])
@pytest.mark.parametrize("call", CALLS)
def test_numbers_that_float32_does_not_hold_are_refused(dtype, call):
    q = normal(1, 1, 4, 8, dtype=dtype)
    for softcap in (1e-39, 1e31, -1, np.inf):
        with pytest.raises(ValueError, match=r"softcap\] must be 0 or 1e-30 .. 1e30, got"):
            CALLS[call](q, q, softcap=softcap)
    with pytest.raises(ValueError, match=r"scale\] must be within \+-1e38, got 1e\+39"):
        CALLS[call](q, q, scale=1e39)
    for softcap, limit in ((1e-30, 0), (1e30, None)):  # alike for all keys, and none
        out = sextant.attention_weights(q.astype("f"), q.astype("f"), softcap=softcap)
        want = np.full((1, 1, 4, 4), 0.25) if limit == 0 else sextant.attention_weights(q.astype("f"), q.astype("f"))
        np.testing.assert_allclose(out, want, atol=2e-7)  # a score of 4 has a rounding of 2^-22
