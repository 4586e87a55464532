"""Ctrl-C in calls that take long: KeyboardInterrupt comes long before they would have ended."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time

import pytest

# What is set up, and the call, which takes a second or more.
CALLS = {
    "identify": ("table = np.random.default_rng(0).random((8192, 1024))", "sextant.identify(table, threads=1)"),
    "identify of a matrix of buckets": (
        "i = np.arange(2400)\ntable = np.minimum(abs(i[:, None] - i), 31).astype(float)", "sextant.identify(table)"),
    "learned": ("", "sextant.learned(2**17, 256)"),
    "alibi": ("", "sextant.alibi(2**24, 8)"),
    "t5": ("", "sextant.t5(2**22, 8)"),
    "training of sub-words": (
        "import io\nwords = [str(n**5) for n in range(12000)]\ntext = '\\n'.join(words)",
        "sextant.train.lm(io.StringIO(text), tokenizer='subword', vocabulary=4000, steps=1, width=8, heads=2, layers=1, length=8)"),
    "plot.distance": ("", "sextant.plot.distance(length=2048, width=512)"),
    "plot.distance of dot products": ("", "sextant.plot.distance(length=2048, width=512, measure='dot')"),
}  # fmt: skip

# Says how long the call takes, then when it is under way for the second time and when it was interrupted.
SCRIPT = """
import time
import numpy as np
import sextant
{before}
start = time.monotonic()
{call}
print(time.monotonic() - start, flush=True)
print("begins", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


def seconds_late(before: str, call: str) -> tuple[float, float]:
    """How long after the signal a call ends that is interrupted after a quarter of its time (infinite if it ended before), and how long it
    takes undisturbed."""
    child = subprocess.Popen([sys.executable, "-c", SCRIPT.format(before=before, call=call)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    whole = float(child.stdout.readline())
    assert child.stdout.readline() == "begins\n"
    time.sleep(whole / 4)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=600)
    assert child.returncode == 0
    return float(said) - sent if said else math.inf, whole


@pytest.mark.parametrize("name", CALLS)
def test_control_c_ends_a_long_call(name: str) -> None:
    # A call that does not look at signals is three quarters of its time late; a machine with other work makes a few tries differ.
    tries = []
    for _ in range(3):
        late, whole = seconds_late(*CALLS[name])
        if late < whole / 3:
            return
        tries.append((round(late, 2), round(whole, 2)))
    raise AssertionError(f"seconds between the signal and its exception, of how many the call takes: {tries}")
