"""The interpreter's lock is released, forks compute, and calls leave nothing behind."""

import functools
import gc
import multiprocessing
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from calls import CALLS, arrays_of

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


def test_ids_may_be_written_to_during_a_call():
    """They are checked and then read again: another thread must not get in between."""
    q, ids, table = Q[:1, :, :64], np.arange(64), sextant.rotary(64, 32)
    done = threading.Event()

    def write():
        while not done.is_set():
            ids[:] = 2**52
            ids[:] = -(2**52)
            ids[:] = np.arange(64)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(300):
            for options in ({"rotation": table}, {"bias": np.zeros((1, 127), np.float32)}):
                try:
                    sextant.attention(q, q, q, positions=ids, threads=1, **options)
                except ValueError as error:
                    assert "positions" in str(error) or "rotation" in str(error) or "bias" in str(error)
    finally:
        done.set()
        thread.join()


class Emptying(list):
    """Numbers whose reading empties another list, as another thread may at any time."""

    def __init__(self, numbers, other):
        super().__init__(numbers)
        self.other = other

    def __iter__(self):
        self.other.clear()
        gc.collect()
        return super().__iter__()


def test_a_list_of_biases_may_be_emptied_during_a_call():
    wanted = sextant.attention(Q, Q, Q, bias=sextant.t5(64, 4))
    for _ in range(5):
        bias = [sextant.t5(64, 4)]
        seen = sextant.attention(Q, Q, Q, bias=bias, key_lengths=Emptying([64, 64], bias))
        np.testing.assert_array_equal(seen, wanted)
        assert not bias


EXIT = """
import threading, time
import numpy as np, sextant
q = np.ones((1, 8, {length}, 64), np.float32)
cache = sextant.KvCache(1, 8, 64)
cache.append(q, q)
def work():
    while True:
        {call}
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""


@pytest.mark.parametrize("length", [1, 1500])
@pytest.mark.parametrize(
    "call", ["sextant.attention(q, q, q)", "cache.attend(q, causal='none'); cache.lengths", "sextant.plot.heatmap('alibi')", "sextant.rotary(200000, 64)"]
)
def test_the_interpreter_ends_while_daemon_threads_compute(call, length):
    """CPython ends them with pthread_exit() when they ask for its lock: no frame of C++ may end the process for that."""
    run = subprocess.run([sys.executable, "-c", EXIT.format(call=call, length=length)], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")


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


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (ValueError, TypeError):
        return
    raise AssertionError("no error")


SMALL = sextant.shipped().attention_maps("may 5", "2").cross
REPEATED = {
    **{name: functools.partial(call.run, **arrays_of(call)) for name, call in CALLS.items()},
    **{f"{name}, out=": functools.partial(call.run, **arrays_of(call), out=arrays_of(call)[call.out].copy()) for name, call in CALLS.items() if call.out},
    "strided": lambda: sextant.attention(Q[:, ::-1, :8, ::2], Q[:, ::-1, :8, ::2], Q[:, ::-1, :8, ::2], threads=1),
    "slopes": lambda: sextant.attention(Q[:, :, :8], Q[:, :, :8], Q[:, :, :8], causal="top_left", slopes=[0.1] * 4, threads=1),
    "sinusoidal": lambda: sextant.sinusoidal(64, 64),
    "rotary": lambda: sextant.rotary(64, 64).cos,
    "alibi": lambda: sextant.alibi(64, 4).values,
    "fork of a cache": lambda: sextant.KvCache(1, 1, 8).fork().keys,
    "a wrong shape": lambda: refused(sextant.attention, Q, Q[:, :, :, :8], Q),
    "a wrong dtype": lambda: refused(sextant.attention, Q, Q.astype(np.float64), Q),
    "a wrong option": lambda: refused(sextant.attention, Q, Q, Q, windows=3),
    "no array": lambda: refused(sextant.attention, "q", Q, Q),
    "a wrong out": lambda: refused(sextant.attention, Q, Q, Q, out=Q[0]),
    "a wrong scheme": lambda: refused(sextant.rotary, 8, 7),
}
# Each takes a millisecond or more.
SLOW = {
    "picture": lambda: sextant.plot.attention(SMALL, layer=0)._repr_html_(),
    "heatmap": lambda: sextant.plot.heatmap("rotary", length=8, head_dim=8).svg,
    "picture that is refused": lambda: refused(sextant.plot.heatmap, "rotary", length=0),
    "compare": lambda: sextant.lessons.compare("a b", "b a", width=8, heads=1),
    "weights of a model": lambda: sextant.shipped().weights,
}


def allocated() -> int:
    """Blocks in use, without garbage and without the names that CPython keeps of attributes it looked up (up to 4,096, which fill by and by)."""
    gc.collect()
    sys._clear_type_cache()
    return sys.getallocatedblocks()


@pytest.mark.parametrize(("name", "times"), [*((name, 10000) for name in REPEATED), *((name, 300) for name in SLOW)])
def test_calls_leak_nothing(name, times):
    """10,000 of each. A leak of one object of Python's, 16 bytes at least, or of an array would be seen."""
    call = {**REPEATED, **SLOW}[name]
    for _ in range(times // 20):
        call()
    blocks, before = allocated(), resident()
    for _ in range(times):
        call()
    assert allocated() - blocks < times // 10
    assert resident() - before < 3 << 20
