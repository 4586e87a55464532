"""sextant.bias() and mask(): functions of positions, against the dense arrays that they stand for."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from reference import Attention
from reference_gradients import Gradients
from rounding import assert_within

import sextant

LENGTH = 300


def numbers(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def dense(function, length=LENGTH, heads=1):
    """All that a function gives, [heads, length, length]."""
    ids = np.arange(length)
    tiles = [np.broadcast_to(function(np.array([[head]]), ids[:, None], ids[None, :]), (length, length)) for head in range(heads)]
    return np.stack(tiles)


def hilbert_like(x, y):
    """The Morton number of a place in a grid of 32 x 32."""
    number = np.zeros(np.broadcast(x, y).shape, np.int64)
    for bit in range(5):
        number |= ((x >> bit) & 1) << (2 * bit) | ((y >> bit) & 1) << (2 * bit + 1)
    return number


DOCUMENTS = np.repeat(np.arange(7), [10, 90, 1, 64, 35, 60, 40])
WIDTH = 20  # of a grid of LENGTH / WIDTH rows
MEDIA = np.sort(np.random.default_rng(5).integers(0, LENGTH, 4))  # where images begin
PLACES = np.stack(np.unravel_index(np.arange(1024), (32, 32)))
MORTON = np.argsort(hilbert_like(*PLACES), kind="stable")  # the place of each token


def near(center, place, kernel, size):
    """NATTEN: a window of `kernel` places around the center, moved inside the edges."""
    center = np.clip(center, kernel // 2, size - 1 - kernel // 2)
    return np.abs(center - place) <= kernel // 2


def natten(_, q, k):
    return near(q // WIDTH, k // WIDTH, 5, LENGTH // WIDTH) & near(q % WIDTH, k % WIDTH, 7, WIDTH)


def tiled(token, tile=5):
    """Row and column of a token where tokens come tile by tile."""
    tiles = WIDTH // tile
    inside, number = token % (tile * tile), token // (tile * tile)
    return number // tiles * tile + inside // tile, number % tiles * tile + inside % tile


def tiled_natten(_, q, k):
    (row, column), (key_row, key_column) = tiled(q), tiled(k)
    return near(row, key_row, 5, LENGTH // WIDTH) & near(column, key_column, 7, WIDTH)


def morton_natten(_, q, k):
    row, column = PLACES[:, MORTON[q]]
    key_row, key_column = PLACES[:, MORTON[k]]
    return near(row, key_row, 7, 32) & near(column, key_column, 7, 32)


def sliding_tile(_, q, k):
    row, column = q // (5 * WIDTH), q // 5 % (WIDTH // 5)
    key_row, key_column = k // (5 * WIDTH), k // 5 % (WIDTH // 5)
    return near(row, key_row, 3, 3) & near(column, key_column, 3, WIDTH // 5)


# The twelve of attention-gym.
MASKS = {
    "causal": lambda _, q, k: k <= q,
    "sliding window": lambda _, q, k: (k <= q) & (q - k < 40),
    "prefix of a language model": lambda _, q, k: (k < 70) | (k <= q),
    "documents": lambda _, q, k: (DOCUMENTS[q] == DOCUMENTS[k]) & (k <= q),
    "dilated sliding window": lambda _, q, k: (np.abs(q - k) <= 60) & (np.abs(q - k) % 4 == 0),
    "attention sinks": lambda _, q, k: (k <= q) & ((q - k < 50) | (k < 4)),
    "words that see the last image": lambda _, q, k: np.searchsorted(MEDIA, q, "right") == np.searchsorted(MEDIA, k, "right"),
    "NATTEN": natten,
    "tiled NATTEN": tiled_natten,
    "Morton NATTEN": morton_natten,
    "sliding tiles": sliding_tile,
    "frames of a video": lambda _, q, k: (k // 60 == 0) | (np.abs(q // 60 - k // 60) <= 1) | (q % 60 // 12 == k % 60 // 12),
}


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_is_the_dense_one_forward_and_backward(name):
    function = MASKS[name]
    q, k, v, dout = (numbers(2, heads, LENGTH, 16, seed=n) for n, heads in enumerate((4, 2, 2, 4)))
    seen = np.broadcast_to(dense(function), (1, 1, LENGTH, LENGTH))
    assert 0 < seen.mean() < 1
    term = sextant.mask(function, LENGTH)
    for _ in range(2):  # hidden blocks are known the second time
        np.testing.assert_array_equal(sextant.attention(q, k, v, bias=term), sextant.attention(q, k, v, mask=seen))
    by_function, by_array = (sextant.attention_backward(dout, q, k, v, **given) for given in (dict(bias=term), dict(mask=seen)))
    for each in ("dq", "dk", "dv"):
        np.testing.assert_array_equal(getattr(by_function, each), getattr(by_array, each))
    np.testing.assert_array_equal(sextant.attention_weights(q, k, bias=term), sextant.attention_weights(q, k, mask=seen))
    np.testing.assert_array_equal(~np.isneginf(term.array()[0]), seen[0, 0])
    assert_within(sextant.attention(q, k, v, bias=term), Attention(q, k, mask=seen).output(v))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("more", [dict(), dict(causal=True), dict(softcap=4.0), dict(slopes=[0.1, 0.2, 0.3, 0.4]), dict(sinks=[0.5] * 4)])
def test_a_bias_is_what_the_function_gives(dtype, more):
    slopes = np.array([0.5, 0.25, 0.125, 0.0625])

    def function(head, query, key):
        distance = key - query
        return np.where(distance % 7 == 3, -np.inf, -slopes[head] * np.sqrt(np.abs(distance)))

    q, k, v = (numbers(1, 4, 150, 8, seed=n, dtype=dtype) for n in range(3))
    term = sextant.bias(function, 150, heads=4)
    wanted = dense(function, 150, 4).astype(np.float32)[None]
    out = sextant.attention(q, k, v, bias=term, **more)
    by_mask = sextant.attention(q, k, v, mask=wanted, **more)
    np.testing.assert_allclose(out.astype(np.float64), by_mask.astype(np.float64), atol=1e-3 if dtype == np.float16 else 2e-6)
    if dtype == np.float32:
        np.testing.assert_array_equal(term.array()[None], wanted)
        np.testing.assert_array_equal(out, by_mask)


def test_the_bits_do_not_depend_on_threads():
    q, k, v = (numbers(2, 4, LENGTH, 16, seed=n) for n in range(3))
    term = sextant.mask(MASKS["NATTEN"], LENGTH)
    one = sextant.attention(q, k, v, bias=term, threads=1)
    np.testing.assert_array_equal(one, sextant.attention(q, k, v, bias=term, threads=3))


def test_parameters_of_a_function_have_gradients():
    table = numbers(2 * LENGTH - 1, dtype=np.float64)

    def function(_, query, key):
        return table[key - query + LENGTH - 1]

    def gradient(dscores, _, query, key):
        return np.bincount((key - query + LENGTH - 1).ravel(), dscores.ravel(), table.size)

    q, k, v, dout = (numbers(1, 2, LENGTH, 8, seed=n) for n in range(4))
    term = sextant.bias(function, LENGTH, gradient=gradient, parameters=table.size)
    given = dict(causal=True)
    found = sextant.attention_backward(dout, q, k, v, bias=term, **given)
    wanted = sextant.attention_backward(dout, q, k, v, bias=table[None].astype(np.float32), **given)
    np.testing.assert_allclose(found.dterms[0], wanted.dbias[0], atol=2e-4)
    np.testing.assert_allclose(found.dq, wanted.dq, atol=2e-5)
    again = sextant.attention_backward(dout, q, k, v, bias=term, threads=1, **given)
    np.testing.assert_array_equal(found.dterms[0], again.dterms[0])
    reference = Gradients(Attention(q, k, bias=table[None], **given), dout, v)
    assert_within(found.dk, reference.dk)


def test_positions_are_those_of_the_call():
    seen = []

    def function(head, query, key):
        seen.append((int(query.min()), int(query.max()), int(key.min()), int(key.max())))
        return (key + query) % 3 != 1

    q, k, v = (numbers(1, 2, length, 8, seed=n) for n, length in enumerate((4, 10, 10)))
    ids = np.array([5, 17, 3, 40]), np.arange(10) * 3
    out = sextant.attention(q, k, v, bias=sextant.mask(function, 50), positions=ids)
    wanted = sextant.attention(q, k, v, mask=((ids[1][None] + ids[0][:, None]) % 3 != 1)[None, None])
    np.testing.assert_array_equal(out, wanted)
    assert min(low for low, *_ in seen) == 3 and max(high for *_, high in seen) == 27
    aligned = sextant.attention(q, k, v, bias=sextant.mask(MASKS["causal"], 10), causal="bottom_right")
    np.testing.assert_array_equal(aligned, sextant.attention(q, k, v, causal="bottom_right"))
    cache = sextant.KvCache(1, 2, 8)
    cache.append(k, v)
    np.testing.assert_array_equal(cache.attend(q, bias=sextant.mask(MASKS["causal"], 10), causal=False, query_offsets=[6]), aligned)


def test_hidden_and_whole_blocks_are_found_once():
    calls = []

    def function(head, query, key):
        calls.append((int(query[0, 0]), int(key[0, 0])))
        return np.abs(query - key) < 100

    length = 1024
    q = numbers(1, 2, length, 8)
    term = sextant.mask(function, length)
    first = sextant.attention(q, q, q, bias=term)
    found = len(set(calls))
    calls.clear()
    np.testing.assert_array_equal(sextant.attention(q, q, q, bias=term), first)
    assert found == length // 64 * (length // 128)
    some = {(row, column) for row in range(0, length, 64) for column in range(0, length, 128)
            if 0 < (np.abs(np.arange(row, row + 64)[:, None] - np.arange(column, column + 128)) < 100).sum() < 64 * 128}  # fmt: skip
    assert set(calls) == some and len(some) < found / 2


def test_a_short_call_says_nothing_of_the_rest_of_a_block():
    q = numbers(1, 1, 100, 8)
    function = lambda _, query, key: (query >= 10) | (key >= 10)  # noqa: E731
    term = sextant.mask(function, 100)
    assert (sextant.attention(q[:, :, :10], q[:, :, :10], q[:, :, :10], bias=term) == 0).all()
    np.testing.assert_array_equal(sextant.attention(q, q, q, bias=term), sextant.attention(q, q, q, mask=dense(function, 100)[None]))


def test_it_may_stand_beside_others():
    q, k, v = (numbers(1, 4, LENGTH, 8, seed=n) for n in range(3))
    terms = [sextant.mask(MASKS["documents"], LENGTH), sextant.alibi(LENGTH, 4), sextant.mask(lambda _, query, key: key % 2 == query % 2, LENGTH)]
    seen = dense(MASKS["documents"]) & dense(lambda _, query, key: key % 2 == query % 2)
    np.testing.assert_array_equal(sextant.attention(q, k, v, bias=terms), sextant.attention(q, k, v, bias=sextant.alibi(LENGTH, 4), mask=seen[None]))


def test_a_number_is_a_whole_tile():
    q = numbers(1, 1, 8, 4)
    np.testing.assert_array_equal(sextant.attention(q, q, q, bias=sextant.mask(lambda *_: True, 8)), sextant.attention(q, q, q))
    assert (sextant.attention(q, q, q, bias=sextant.mask(lambda *_: False, 8)) == 0).all()
    assert (sextant.bias(lambda *_: 3, 8).array() == 3).all()


class Mine(Exception):
    pass


def raising(*_):
    raise Mine("of the function")


@pytest.mark.parametrize("call", [
    lambda q, term: sextant.attention(q, q, q, bias=term),
    lambda q, term: sextant.attention(q.astype(np.float64), q.astype(np.float64), q.astype(np.float64), bias=term),
    lambda q, term: sextant.attention_weights(q, q, bias=term),
    lambda q, term: sextant.attention_statistics(q, q, bias=term),
    lambda q, term: sextant.attention_backward(q, q, q, q, bias=term),
    lambda q, term: term.array(),
    lambda q, term: sextant.plot.heatmap(term),
])  # fmt: skip
def test_what_the_function_raises_is_raised_by_the_call(call):
    q = numbers(1, 2, 200, 8)
    for term in (sextant.mask(raising, 200), sextant.bias(raising, 200)):
        for _ in range(2):
            with pytest.raises(Mine, match="of the function"):
                call(q, term)


def test_what_the_gradient_raises_is_raised_too():
    q = numbers(1, 2, 20, 8)
    term = sextant.bias(lambda _, query, key: 0.0 * (query + key), 20, gradient=raising, parameters=1)
    with pytest.raises(Mine):
        sextant.attention_backward(q, q, q, q, bias=term)


Q = numbers(1, 2, 20, 8)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: sextant.mask(3, 8), r"\[mask.function\] must be a function"),
    (lambda: sextant.bias(None, 8), r"\[bias.function\] must be a function"),
    (lambda: sextant.bias(lambda *_: 0, 0), r"\[bias.length\] must be 1"),
    (lambda: sextant.bias(lambda *_: 0, 8, heads=0), r"\[bias.heads\] must be 1"),
    (lambda: sextant.bias(lambda *_: 0, 8, gradient=3, parameters=1), r"\[bias.gradient\] must be a function"),
    (lambda: sextant.bias(lambda *_: 0, 8, gradient=raising), r"\[bias.parameters\] must be given with gradient"),
    (lambda: sextant.bias(lambda *_: 0, 8, parameters=2), r"\[bias.parameters\] must be given with gradient"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.mask(lambda *_: True, 19)), r"\[mask.length\] must hold the positions of the call, 0 .. 19, got 19"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.bias(lambda *_: 0.0, 20, heads=3)), r"\[bias.heads\] must be 1 or the heads of the call, 2, got 3"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.mask(lambda _, q, k: q - k, 20)), r"\[mask.function\] must give an array of bool, got int64"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.bias(lambda _, q, k: q > k, 20)), r"\[bias.function\] must give an array of numbers, got bool"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.mask(lambda _, q, k: np.ones((3, 3), bool), 20)), r"\[mask.function\] must give an array that broadcasts to"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.bias(lambda _, q, k: None, 20)), r"\[bias.function\] must be an array"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.mask(lambda q, k: True, 20)), "positional argument"),
    (lambda: sextant.attention_backward(Q, Q, Q, Q, bias=sextant.bias(lambda *_: 0.0, 20, gradient=lambda *_: np.zeros(3), parameters=2)),
     r"\[bias.gradient\] must give an array of the parameters' gradients, \[2\]"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def causal(_, query, key):
    return key <= query


def test_a_function_with_a_name_survives_a_pickle():
    term = sextant.mask(causal, 20)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(term)).array(), term.array())


@pytest.mark.parametrize("sizes", [(64, 64, 1), (16, 40, 2), (1, 7, 1)])
def test_a_mask_of_blocks_is_the_dense_one_forward_and_backward(sizes):
    query_block, key_block, group = sizes
    q, k, v, dout = (numbers(2, heads, LENGTH, 16, seed=n) for n, heads in enumerate((4, 2, 2, 4)))
    blocks = -(-LENGTH // key_block)
    lists = np.random.default_rng(3).integers(-1, blocks, (2, 4 // group, -(-LENGTH // query_block), 3))
    ids = np.arange(LENGTH)
    listed = np.zeros((*lists.shape[:3], blocks), bool)
    for place in np.ndindex(lists.shape):
        if lists[place] >= 0:
            listed[(*place[:3], lists[place])] = True
    seen = np.repeat(listed[:, :, ids // query_block][..., ids // key_block], group, 1)
    assert 0 < seen.mean() < 1
    term = sextant.block_mask(lists, query_block=query_block, key_block=key_block, group=group)
    np.testing.assert_array_equal(sextant.attention(q, k, v, bias=term), sextant.attention(q, k, v, mask=seen))
    by_lists, by_array = (sextant.attention_backward(dout, q, k, v, **given) for given in (dict(bias=term), dict(mask=seen)))
    for each in ("dq", "dk", "dv"):
        np.testing.assert_array_equal(getattr(by_lists, each), getattr(by_array, each))
    assert_within(sextant.attention(q, k, v, bias=term), Attention(q, k, mask=seen).output(v))
    again = pickle.loads(pickle.dumps(term))
    np.testing.assert_array_equal(sextant.attention(q, k, v, bias=again), sextant.attention(q, k, v, bias=term))


def test_lists_of_blocks_may_leave_out_batch_and_heads_and_serve_a_cache():
    q, k, v = (numbers(2, 2, 200, 8, seed=n) for n in range(3))
    shown = sextant.block_mask(np.array([[1, -1], [0, 1]])).array()[0]  # of the first 128 keys
    np.testing.assert_array_equal(np.isneginf(shown[[0, 127]][:, [0, 63, 64, 127]]), [[True, True, False, False], [False] * 4])
    cache = sextant.KvCache(batch=2, kv_heads=2, head_dim=8)
    cache.append(k, v)
    newest = sextant.block_mask(np.array([[0, 3]]))  # of one query: the first block and the last
    seen = np.isin(np.arange(200) // 64, [0, 3])
    np.testing.assert_array_equal(cache.attend(q[:, :, -1:], bias=newest), sextant.attention(q[:, :, -1:], k, v, mask=seen[None, None, None]))


@pytest.mark.parametrize("make, words", [
    (lambda: sextant.block_mask(np.zeros((2, 1))), r"\[block_mask.block_indices\] must be an array of whole numbers"),
    (lambda: sextant.block_mask(np.array([0, 1])), r"\[block_mask.block_indices\] must be an array of whole numbers"),
    (lambda: sextant.block_mask(np.array([[0, -2]])), r"\[block_mask.block_indices\] must be in -1 .. 2\^31, got -2"),
    (lambda: sextant.block_mask(np.array([[0]]), query_block=0), r"\[block_mask.query_block\] must be in 1 .. 1048576, got 0"),
    (lambda: sextant.block_mask(np.array([[0]]), key_block="a"), r"\[block_mask.key_block\]"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.block_mask(np.array([[1]]))), r"\[block_mask.block_indices\] must be -1 or a key block of the call, 0 .. 0, got 1"),
    (lambda: sextant.attention(Q, Q, Q, bias=sextant.block_mask(np.array([[0]]), query_block=8)), r"must have 3 query blocks of 8 for q_len 20, got 1"),
])  # fmt: skip
def test_lists_of_blocks_that_do_not_fit_are_refused_by_name(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_many_threads_of_python_may_use_one_mask():
    q = numbers(1, 2, LENGTH, 8)
    term = sextant.mask(MASKS["documents"], LENGTH)
    wanted = sextant.attention(q, q, q, mask=dense(MASKS["documents"])[None])
    results = [None] * 6

    def run(n):
        results[n] = sextant.attention(q, q, q, bias=term)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for result in results:
        np.testing.assert_array_equal(result, wanted)


def test_torch_calls_it_forward_and_backward():
    torch = pytest.importorskip("torch")
    import sextant.torch

    q, k, v = (torch.tensor(numbers(1, 2, LENGTH, 8, seed=n), requires_grad=True) for n in range(3))
    for name in MASKS:
        term = sextant.mask(MASKS[name], LENGTH)
        seen = torch.tensor(dense(MASKS[name]))[None]
        mine = sextant.torch.scaled_dot_product_attention(q, k, v, bias=term)
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        torch.testing.assert_close(mine, theirs)
        grads = [torch.autograd.grad(out.square().sum(), (q, k, v)) for out in (mine, theirs)]
        for a, b in zip(*grads):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
