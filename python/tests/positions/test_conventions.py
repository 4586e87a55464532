"""What users of torch, JAX, MLX and flash-attention write: it works where it means one thing, else the error says what to write."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sextant

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal((2, heads, 5, 8)).astype(np.float32) for heads in (4, 2, 2))


def swapped(x):
    return x.swapaxes(1, 2)


def test_true_and_false_are_alignments_where_all_agree():
    for name in ("top_left", "bottom_right"):
        np.testing.assert_array_equal(sextant.attention(Q, K, V, causal=True), sextant.attention(Q, K, V, causal=name))
    np.testing.assert_array_equal(sextant.attention(Q, K, V, causal=np.False_), sextant.attention(Q, K, V))
    packed = dict(segments=[0, 2, 5])
    np.testing.assert_array_equal(sextant.attention(Q, K, V, causal=True, **packed), sextant.attention(Q, K, V, causal="top_left", **packed))
    weights = sextant.attention_weights(Q, K, causal=True)
    assert (weights[..., 0, 1:] == 0).all()


@pytest.mark.parametrize(("queries", "more"), [(3, {}), (5, dict(segments=[0, 2, 5], key_segments=[0, 3, 5]))])
def test_true_is_refused_where_alignments_differ(queries, more):
    with pytest.raises(ValueError, match=r"\[attention.causal\] must be a name .*'top_left'.*torch.*'bottom_right'.*flash-attention.*'at_lengths'"):
        sextant.attention(Q[:, :, :queries], K, V, causal=True, **more)
    sextant.attention(Q[:, :, :queries], K, V, causal=False, **more)


def test_a_cache_takes_true_as_its_own_alignment():
    cache = sextant.KvCache(2, 2, 8)
    cache.append(K, V)
    np.testing.assert_array_equal(cache.attend(Q[:, :, 3:], causal=True), cache.attend(Q[:, :, 3:]))
    np.testing.assert_array_equal(cache.attend(Q[:, :, 3:], causal=False), cache.attend(Q[:, :, 3:], causal="none"))


@pytest.mark.parametrize(("given", "kind", "words"), [
    (dict(is_causal=True), TypeError, r"attention\(\) got an unexpected keyword argument 'is_causal'; .*causal=True.*'top_left' \(torch's"),
    (dict(return_lse=True), TypeError, "'return_lse'.*return_log_sum_exp=True"),
    (dict(score_mod=None), TypeError, r"'score_mod'.*sextant.bias\(function"),
    (dict(window_size=(3, 0)), TypeError, "'window_size'.*window="),
    (dict(segmens=[0, 5]), TypeError, "'segmens'; use segments="),
    (dict(zebra=1), TypeError, "got an unexpected keyword argument 'zebra'$"),
    (dict(window=4), TypeError, r"\[attention.window\] must be \(left, right\).*\(4, 0\) or \(4, 4\)"),
    (dict(mask="causal"), TypeError, r"\[attention.mask\] must be an array.*causal='bottom_right'"),
    (dict(bias=np.zeros((4, 5, 5), np.float32)), ValueError, r"\[attention.bias\] must be by distance.*mask="),
    (dict(layout="bshd"), ValueError, r"\[attention.layout\] must be one of bhld, blhd"),
])  # fmt: skip
def test_other_libraries_words_get_a_hint(given, kind, words):
    with pytest.raises(kind, match=words):
        sextant.attention(Q, K, V, **given)


def test_every_function_of_the_operator_gives_hints():
    cache = sextant.KvCache(2, 2, 8)
    cache.append(K, V)
    calls = {
        "attention_backward": lambda **more: sextant.attention_backward(Q, Q, K, V, **more),
        "attention_weights": lambda **more: sextant.attention_weights(Q, K, **more),
        "attention_statistics": lambda **more: sextant.attention_statistics(Q, K, **more),
        "plan": lambda **more: sextant.plan(Q, K, V, **more),
        "KvCache.attend": lambda **more: cache.attend(Q, **more),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=rf"^{re.escape(name)}\(\) got an unexpected keyword argument 'softmax_scale'; use scale="):
            call(softmax_scale=1.0)


def test_the_log_sum_exp_comes_as_a_pair():
    sums = np.empty((2, 4, 5), np.float32)
    sextant.attention(Q, K, V, log_sum_exp=sums)
    out, made = sextant.attention(Q, K, V, return_log_sum_exp=True)
    np.testing.assert_array_equal(made, sums)
    np.testing.assert_array_equal(out, sextant.attention(Q, K, V))
    again = np.empty_like(sums)
    assert sextant.attention(Q, K, V, return_log_sum_exp=True, log_sum_exp=again)[1] is again
    cache = sextant.KvCache(2, 2, 8)
    cache.append(K, V)
    out, made = cache.attend(Q, return_log_sum_exp=True, causal=False)
    np.testing.assert_array_equal(made, sums)
    backward = dict(out=out, log_sum_exp=made)
    np.testing.assert_array_equal(sextant.attention_backward(Q, Q, K, V, **backward).dq, sextant.attention_backward(Q, Q, K, V).dq)


@pytest.mark.parametrize("lead", [0, 1, 2])
@pytest.mark.parametrize("layout", ["bhld", "blhd"])
def test_leading_axes_are_free_and_heads_may_follow_the_length(lead, layout):
    heads = K[:, :1] if lead == 2 else K
    values = V[:, :1] if lead == 2 else V
    queries = Q[:, :1] if lead == 2 else Q
    turn = swapped if layout == "blhd" else lambda x: x

    def given(x):
        return turn(x)[0] if lead == 1 else x[0, 0] if lead == 2 else turn(x)

    batch = slice(None) if lead == 0 else slice(0, 1)
    full = [x[batch] for x in (queries, heads, values)]
    own = [given(x) for x in full]
    more = dict(causal=True, layout=layout)
    out, sums = sextant.attention(*own, return_log_sum_exp=True, **more)
    wanted, wanted_sums = sextant.attention(*full, causal=True, return_log_sum_exp=True)
    np.testing.assert_array_equal(out, given(wanted))
    np.testing.assert_array_equal(sums, wanted_sums.reshape(sums.shape))
    assert sums.ndim == 3 - lead and out.ndim == 4 - lead
    gradients = sextant.attention_backward(out, *own, out=out, log_sum_exp=sums, **more)
    wanted_gradients = sextant.attention_backward(wanted, *full, causal=True)
    for name in ("dq", "dk", "dv"):
        np.testing.assert_array_equal(getattr(gradients, name), given(getattr(wanted_gradients, name)))
    target = np.empty_like(out)
    assert sextant.attention(*own, out=target, **more) is target
    np.testing.assert_array_equal(target, out)
    weights = sextant.attention_weights(*own[:2], **more)
    np.testing.assert_array_equal(weights, sextant.attention_weights(*full[:2], causal=True).reshape(weights.shape))
    assert weights.ndim == 4 - lead and sextant.attention_statistics(*own[:2], **more).entropy.ndim == 3 - lead
    table = sextant.rotary(5, 8)
    np.testing.assert_array_equal(sextant.rotate(own[0], table, layout=layout), given(sextant.rotate(full[0], table)))
    cache = sextant.KvCache(full[1].shape[0], full[1].shape[1], 8)
    cache.append(*own[1:], layout=layout)
    np.testing.assert_array_equal(cache.attend(own[0], layout=layout), out)


def test_masks_and_ids_keep_their_axes_in_every_layout():
    mask = RNG.random((2, 1, 5, 5)) < 0.7
    wanted = sextant.attention(Q, K, V, mask=mask, positions=np.arange(5), rotation=sextant.rotary(5, 8))
    got = sextant.attention(swapped(Q), swapped(K), swapped(V), mask=mask, positions=np.arange(5), rotation=sextant.rotary(5, 8), layout="blhd")
    np.testing.assert_array_equal(swapped(got), wanted)


def test_shapes_that_do_not_fit_are_refused_in_the_words_of_the_layout():
    with pytest.raises(ValueError, match=r"\[attention.k\] must be \[batch, length, heads, head_dim\], got the shape \[2, 5, 8\]"):
        sextant.attention(swapped(Q), swapped(K)[:, :, 0], swapped(V), layout="blhd")
    with pytest.raises(ValueError, match=r"\[attention.v\] must be \[length, head_dim\]"):
        sextant.attention(Q[0, 0], K[0, 0], V[0])
    with pytest.raises(ValueError, match=r"\[attention.q\] must be \[batch, heads, length, head_dim\], \[heads, length, head_dim\] or"):
        sextant.attention(Q[None], K, V)
    with pytest.raises(ValueError, match=r"\[attention_weights.heads\] must not be given"):
        sextant.attention_weights(Q[0, 0], K[0, 0], heads=[0])
