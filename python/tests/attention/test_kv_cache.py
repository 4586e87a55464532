"""Decoding token by token gives the bits of the whole prompt."""

import copy
import pickle
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
    cache = sextant.KvCache(1, 2, 16, 8, dtype=dtype)
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
    cache = sextant.KvCache(1, 2, 16, 8, dtype=dtype)
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


@pytest.mark.parametrize("dtype", ["int8", np.int8])
def test_a_cache_of_8_bits(dtype, tmp_path):
    q, k, v = random(1, 4, 20, 64), random(1, 2, 20, 64), random(1, 2, 20, 8)
    cache = sextant.KvCache(1, 2, 64, 8, dtype=dtype)
    cache.append(k, v)
    assert cache.dtype == "int8"
    assert cache.bytes == 2 * 128 * (64 + 4 + 8 + 4)
    for stored, before in ((cache.keys, k), (cache.values, v)):
        assert stored.dtype == np.float32
        largest = np.abs(before).max(-1, keepdims=True)
        assert (np.abs(stored - before) <= largest / 254 * (1 + 2**-15)).all()
        np.testing.assert_array_equal(np.abs(stored).max(-1) * np.float32(1 + 2**-15) >= largest[..., 0], True)
    for count in (1, 20):
        out = cache.attend(q[:, :, -count:])
        wanted = sextant.attention(q[:, :, -count:], cache.keys, cache.values, causal="bottom_right")
        np.testing.assert_array_equal(out, wanted)
    cache.save(tmp_path / "cache.safetensors")
    for same in (sextant.KvCache.load(tmp_path / "cache.safetensors"), pickle.loads(pickle.dumps(cache)), cache.fork()):
        assert same.dtype == "int8"
        np.testing.assert_array_equal(same.keys, cache.keys)
        np.testing.assert_array_equal(same.values, cache.values)
    with pytest.raises(ValueError, match=r"\[kv_cache.v\] must be within \+-1e38 for a cache of int8, got nan in row 0 of head 1"):
        cache.append(k[:, :, :1], np.where(np.arange(2)[:, None, None] == 1, np.nan, v[:, :, :1]).astype(np.float32))
    assert len(cache) == 20
    with pytest.raises(TypeError, match=r"\[KvCache.append.k\] must be of float32, for a cache of int8, got float16"):
        cache.append(k.astype(np.float16), v.astype(np.float16))
    with pytest.raises(TypeError, match=r"\[KvCache.attend.q\] must be of float32, for a cache of int8, got float16"):
        cache.attend(q.astype(np.float16))
    with pytest.raises(ValueError, match=r"\[KvCache.join.other\] must be of int8, as this cache"):
        cache.join(sextant.KvCache(1, 2, 64, 8))


def test_lengths_fork_and_rewind():
    cache = sextant.KvCache(2, 1, 4)
    cache.append(random(2, 1, 3, 4), random(2, 1, 3, 4), counts=[3, 1])
    assert cache.lengths == [3, 1]
    fork = cache.fork()
    fork.rewind(0, sequence=1)
    assert (fork.lengths, cache.lengths) == ([3, 0], [3, 1])
    fork.rewind(0)
    assert fork.lengths == [0, 0]
    cache.append(random(2, 1, 1, 4), random(2, 1, 1, 4))
    cache.clear()
    assert len(cache) == 0
    assert repr(cache).startswith("KvCache(batch=2, kv_heads=1, head_dim=4, v_dim=4, page_size=128, lengths=[0, 0]")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_a_cache_of_its_own(copied):
    cache = sextant.KvCache(1, 1, 4)
    cache.append(random(1, 1, 2, 4), random(1, 1, 2, 4))
    other = copied(cache)
    other.append(random(1, 1, 3, 4), random(1, 1, 3, 4))
    assert (cache.lengths, other.lengths) == ([2], [5])


def test_threads_share_a_cache():
    """Each call sees the cache before or after another one, never in between. Without a lock this is a double free."""
    cache = sextant.KvCache(2, 4, 64)
    k, q = np.ones((2, 4, 300, 64), np.float32), np.ones((2, 8, 1, 64), np.float32)
    wrong = []

    def write():
        for _ in range(40):
            cache.select([1, 0])
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
    cache = sextant.KvCache(1, 1, 4)
    cache.append(random(1, 1, 2, 4), random(1, 1, 2, 4))
    out = np.zeros((1, 1, 1, 4), np.float32)
    assert cache.attend(random(1, 1, 1, 4), out=out) is out
    with pytest.raises(ValueError, match=r"\[KvCache.kv_heads\]|kv_heads"):
        sextant.KvCache(1, 0, 4)
    with pytest.raises(ValueError, match="batch"):
        sextant.KvCache(1 << 40, 1, 4)
    with pytest.raises(ValueError, match=r"\[KvCache.dtype\] must be float32, bfloat16, float16 or int8"):
        sextant.KvCache(1, 1, 4, dtype="float64")
    with pytest.raises(TypeError, match=r"\[KvCache.append.k\] must be of float32, as the cache"):
        cache.append(random(1, 1, 1, 4, dtype=np.float16), random(1, 1, 1, 4))
    with pytest.raises(TypeError, match=r"\[KvCache.attend.scale\] must be a number"):
        cache.attend(random(1, 1, 1, 4), scale="1")
    with pytest.raises(ValueError, match=r"\[kv_cache.page_size\] must be a multiple of 128"):
        sextant.KvCache(1, 1, 4, page_size=100)


def test_prompts_and_single_tokens_in_one_call():
    k, v, q = random(1, 2, 140, 16), random(1, 2, 140, 8), random(1, 4, 32, 16)
    cache = sextant.KvCache(3, 2, 16, 8)
    cache.append(k, v, segments=[0, 30, 139, 140])
    assert cache.lengths == [30, 109, 1]
    out = cache.attend(q, segments=[0, 30, 31, 32])
    for sequence, (rows, keys) in enumerate([((0, 30), (0, 30)), ((30, 31), (30, 139)), ((31, 32), (139, 140))]):
        wanted = sextant.attention(q[:, :, slice(*rows)], k[:, :, slice(*keys)], v[:, :, slice(*keys)], causal="bottom_right")
        np.testing.assert_array_equal(out[:, :, slice(*rows)], wanted, err_msg=str(sequence))


def test_beams_share_memory():
    cache = sextant.KvCache(1, 1, 4)
    cache.append(random(1, 1, 130, 4), random(1, 1, 130, 4))
    page = cache.bytes // 2
    cache.select([0, 0, 0])
    assert cache.bytes == 2 * page
    cache.append(random(3, 1, 1, 4), random(3, 1, 1, 4))
    assert cache.bytes == 4 * page
    other = cache.fork()
    other.join(cache)
    other.drop(0, 128)
    assert (other.lengths, cache.lengths) == ([3] * 6, [131] * 3)
    np.testing.assert_array_equal(other.keys[:3], cache.keys[:, :, 128:])
    with pytest.raises(ValueError, match=r"\[KvCache.join.other\] must be of float32, as this cache"):
        cache.join(sextant.KvCache(1, 1, 4, dtype="float16"))
    with pytest.raises(TypeError, match=r"\[KvCache.join.other\] must be a KvCache, got int"):
        cache.join(1)


def test_rotate_moves_stored_keys():
    table, k = sextant.rotary(40, 8), random(1, 2, 40, 8)
    cache = sextant.KvCache(1, 2, 8)
    cache.append(sextant.rotate(k, table), k)
    cache.drop(0, 10)
    cache.rotate(table, -10)
    # Three rotations, each within 3 * 2^-24 (|x1| + |x2|) (operations_test.cc); |x1| + |x2| <= 2 sqrt(2) max |x|.
    bound = 9 * 2**-24 * 2 * 2**0.5 * np.abs(k).max()
    np.testing.assert_allclose(cache.keys, sextant.rotate(k[:, :, 10:], sextant.rotary(30, 8)), rtol=0, atol=bound)
    with pytest.raises(TypeError, match=r"\[KvCache.rotate.table\] must be a RotationTable"):
        cache.rotate(k, 1)
    with pytest.raises(ValueError, match=r"\[kv_cache.shift\] must be within \+-39"):
        cache.rotate(table, 40)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_saved_and_loaded(dtype, tmp_path):
    cache = sextant.KvCache(2, 2, 8, 4, dtype=dtype, page_size=256)
    cache.append(random(2, 2, 300, 8, dtype=dtype), random(2, 2, 300, 4, dtype=dtype), [300, 7])
    cache.save(tmp_path / "cache.safetensors")
    loaded = sextant.KvCache.load(tmp_path / "cache.safetensors")
    assert repr(loaded) == repr(cache)
    np.testing.assert_array_equal(loaded.keys, cache.keys)
    damaged = bytearray((tmp_path / "cache.safetensors").read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "cache.safetensors").write_bytes(damaged)
    with pytest.raises(ValueError, match="must have the checksum"):
        sextant.KvCache.load(tmp_path / "cache.safetensors")
