"""The interpreter's lock is released, forks compute, and calls leave nothing behind."""

import gc
import multiprocessing
import sys
import threading
import warnings

import numpy as np
import pytest

import sextant

Q = np.random.default_rng(0).standard_normal((2, 4, 64, 32)).astype(np.float32)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_threads_at_once_get_the_same_bits():
    wanted = sextant.attention(Q, Q, Q, causal="top_left")
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(sextant.attention(Q, Q, Q, causal="top_left", threads=2), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_lock_is_released():
    """While a long call runs, another thread of Python counts."""
    q = np.random.default_rng(0).standard_normal((1, 8, 2048, 64)).astype(np.float64)
    counted = 0
    done = threading.Event()

    def work():
        sextant.attention(q, q, q, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counted += 1
        done.wait(0.001)
    thread.join()
    assert counted > 20


def child(queue):
    queue.put(sextant.attention(Q, Q, Q, causal="top_left", threads=2))


def test_a_fork_computes():
    wanted = sextant.attention(Q, Q, Q, causal="top_left", threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of 3.12 on, for every process with threads
        process = context.Process(target=child, args=(queue,))
        process.start()
    got = queue.get(timeout=60)
    process.join()
    np.testing.assert_array_equal(got, wanted)


CALLS = {
    "attention": lambda: sextant.attention(Q, Q, Q, causal="top_left", slopes=[0.1] * 4, threads=1),
    "backward": lambda: sextant.attention_backward(Q[:, :, :4], Q[:, :, :4], Q[:, :, :4], Q[:, :, :4], threads=1),
    "weights": lambda: sextant.attention_weights(Q, Q, rows=[1, 2], threads=1),
    "sinusoidal": lambda: sextant.sinusoidal(64, 64),
    "rotary": lambda: sextant.rotary(64, 64).cos,
    "alibi": lambda: sextant.alibi(64, 4).values,
    "rotate": lambda: sextant.rotate(Q, sextant.rotary(64, 32), threads=1),
    "cache": lambda: sextant.KvCache(1, 1, 8, capacity=64).fork().keys,
    "errors": lambda: pytest.raises(ValueError, sextant.attention, Q, Q[:, :, :, :8], Q),
}


@pytest.mark.parametrize("name", CALLS)
def test_ten_thousand_calls_leak_nothing(name):
    call = CALLS[name]
    for _ in range(500):
        call()
    gc.collect()
    before, references = resident(), sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else 0
    for _ in range(10000 if name != "errors" else 2000):
        call()
    gc.collect()
    assert resident() - before < 3 << 20
    if references:
        assert sys.gettotalrefcount() - references < 1000
