"""Decoding token by token gives the bits of the whole prompt."""

import copy
import threading

import ml_dtypes
import numpy as np
import pytest

import sextant


def random(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_steps_are_the_prompt(dtype):
    q, k, v = random(1, 4, 20, 16, dtype=dtype), random(1, 2, 20, 16, dtype=dtype), random(1, 2, 20, 8, dtype=dtype)
    table = sextant.rotary(20, 16)
    whole = sextant.attention(q, k, v, causal="top_left", rotation=table)
    cache = sextant.KvCache(1, 2, 16, 8, capacity=20, dtype=dtype)
    for i in range(20):
        cache.append(k[:, :, i : i + 1], v[:, :, i : i + 1])
        step = cache.attend(q[:, :, i : i + 1], rotation=table)
        np.testing.assert_array_equal(step.view(np.uint8), np.ascontiguousarray(whole[:, :, i : i + 1]).view(np.uint8))
    assert len(cache) == 20
    np.testing.assert_array_equal(cache.keys, k)
    np.testing.assert_array_equal(cache.values, v)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_queries_of_float32_on_a_cache_of_16_bits(dtype):
    q, k, v = random(1, 4, 20, 16), random(1, 2, 20, 16), random(1, 2, 20, 8)
    cache = sextant.KvCache(1, 2, 16, 8, capacity=20, dtype=dtype)
    cache.append(k, v)
    wide = k.astype(dtype).astype(np.float32), v.astype(dtype).astype(np.float32)
    for count in (1, 5, 20):
        out, sums = cache.attend(q[:, :, -count:], return_log_sum_exp=True)
        assert out.dtype == np.float32
        wanted, wanted_sums = sextant.attention(q[:, :, -count:], *wide, causal="bottom_right", return_log_sum_exp=True)
        np.testing.assert_array_equal(out, wanted)
        np.testing.assert_array_equal(sums, wanted_sums)
    with pytest.raises(TypeError, match=rf"\[KvCache.attend.q\] must be of {np.dtype(dtype).name}, as the cache, or float32, got float64"):
        cache.attend(q.astype(np.float64))


def test_lengths_fork_and_rewind():
    cache = sextant.KvCache(2, 1, 4, capacity=3)
    cache.append(random(2, 1, 3, 4), random(2, 1, 3, 4), counts=[3, 1])
    assert cache.lengths == [3, 1]
    fork = cache.fork()
    fork.rewind(0, sequence=1)
    assert (fork.lengths, cache.lengths) == ([3, 0], [3, 1])
    fork.rewind(0)
    assert fork.lengths == [0, 0]
    with pytest.raises(ValueError, match="capacity"):
        cache.append(random(2, 1, 1, 4), random(2, 1, 1, 4))
    cache.reserve(8)
    assert cache.capacity == 8
    cache.append(random(2, 1, 1, 4), random(2, 1, 1, 4))
    cache.clear()
    assert len(cache) == 0
    assert repr(cache).startswith("KvCache(batch=2, kv_heads=1, head_dim=4, v_dim=4, capacity=8, lengths=[0, 0]")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_a_cache_of_its_own(copied):
    cache = sextant.KvCache(1, 1, 4, capacity=8)
    cache.append(random(1, 1, 2, 4), random(1, 1, 2, 4))
    other = copied(cache)
    other.append(random(1, 1, 3, 4), random(1, 1, 3, 4))
    assert (cache.lengths, other.lengths) == ([2], [5])


def test_threads_share_a_cache():
    """Each call sees the cache before or after another one, never in between. Without a lock this is a double free."""
    cache = sextant.KvCache(2, 4, 64, capacity=16)
    k, q = np.ones((2, 4, 300, 64), np.float32), np.ones((2, 8, 1, 64), np.float32)
    wrong = []

    def write():
        for _ in range(40):
            cache.reserve(cache.capacity + 100)
            cache.append(k[:, :, :5], k[:, :, :5])
            cache.clear()

    def read():
        for _ in range(40):
            seen = cache.attend(q, causal="none")
            lengths, keys = cache.lengths, cache.keys
            if not np.isin(seen, (0, 1)).all() or lengths[0] != lengths[1] or not (keys == 1).all():
                wrong.append((seen, lengths))

    threads = [threading.Thread(target=target) for target in (write, read, write, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_out_and_errors():
    cache = sextant.KvCache(1, 1, 4, capacity=3)
    cache.append(random(1, 1, 2, 4), random(1, 1, 2, 4))
    out = np.zeros((1, 1, 1, 4), np.float32)
    assert cache.attend(random(1, 1, 1, 4), out=out) is out
    with pytest.raises(ValueError, match=r"\[KvCache.kv_heads\]|kv_heads"):
        sextant.KvCache(1, 0, 4, capacity=3)
    with pytest.raises(ValueError, match="batch"):
        sextant.KvCache(1 << 40, 1, 4, capacity=0)
    with pytest.raises(ValueError, match=r"\[KvCache.dtype\] must be float32, bfloat16 or float16"):
        sextant.KvCache(1, 1, 4, capacity=3, dtype="float64")
    with pytest.raises(TypeError, match=r"\[KvCache.append.k\] must be of float32, as the cache"):
        cache.append(random(1, 1, 1, 4, dtype=np.float16), random(1, 1, 1, 4))
    with pytest.raises(TypeError, match=r"\[KvCache.attend.scale\] must be a number"):
        cache.attend(random(1, 1, 1, 4), scale="1")
    with pytest.raises(TypeError, match=r"capacity"):
        sextant.KvCache(1, 1, 4)
