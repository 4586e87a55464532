"""Thousands of calls that do not fit, in processes of their own: none crashes, hangs, or raises anything but ValueError and TypeError that name the argument.

SEXTANT_HOSTILE_CALLS says how many (5,000), SEXTANT_HOSTILE_SEED which (0).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import hostile_calls
import pytest

PROGRAM = Path(__file__).parents[1] / "hostile_calls.py"
COUNT = int(os.environ.get("SEXTANT_HOSTILE_CALLS", "5000"))
SEED = int(os.environ.get("SEXTANT_HOSTILE_SEED", "0"))
CHUNK = 1000


def failures(first: int, count: int, folder: Path, *more: str, limit: float = 3600) -> list[str]:
    """A line for each call that fails; of one that ends the process too, after which the next ones are made."""
    found: list[str] = []
    end = first + count
    while first < end:
        words = [sys.executable, str(PROGRAM), f"--seed={SEED}", f"--first={first}", f"--count={end - first}", *more]
        run = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=limit, env={**os.environ, "TMPDIR": str(folder)})
        lines = run.stdout.splitlines()
        found += [line for line in lines if "\t" in line]
        last = int(lines[-1].split("\t")[0]) if lines else first
        if run.returncode != 0:
            text = hostile_calls.call_text(SEED, last)
            found.append(f"{last}\tthe process ended with {run.returncode}: {run.stderr[-3000:]}\t{text}")
        elif last != end - 1:
            found.append(f"{last}\tthe process ended early\t")
        first = last + 1
    return found


def repeated(found: list[str]) -> str:
    how = f"python/tests/hostile_calls.py --seed {SEED} --first NUMBER repeats one"
    return "\n".join([f"{len(found)} calls failed; {how}", *found[:40]])


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_calls_that_do_not_fit_are_refused_with_words(first: int, tmp_path: Path) -> None:
    found = failures(first, min(CHUNK, COUNT - first), tmp_path)
    assert not found, repeated(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ctypes.string_at(0)", "ended with -11: Fatal Python error: Segmentation fault"),
        ("exec('import os; os.abort()')", "ended with -6: Fatal Python error: Aborted"),
        ("exec('import hostile_calls, faulthandler, time; faulthandler.dump_traceback_later(0.1, exit=True); time.sleep(60)')", "Timeout"),
        ("1 / 0", "ZeroDivisionError: 'division by zero'"),
        ("sextant.attention(Q, K)", ""),
        ("sextant.attention(Q, K, 3)", ""),
        ("sextant.attention(Q, K, Lies(dlpack=deliberately))", ""),
        ("float(Lies(float=deliberately))", ""),
    ],
)
def test_what_fails_is_seen(text: str, words: str, tmp_path: Path) -> None:
    found = failures(0, 1, tmp_path, f"--text={text}")
    assert (words in found[0]) if words else not found


def test_calls_depend_on_their_number_alone() -> None:
    texts = [hostile_calls.call_text(1, number) for number in range(200)]
    assert len(set(texts)) > 150
    assert texts[50:60] == [hostile_calls.call_text(1, number) for number in range(50, 60)]
    assert texts != [hostile_calls.call_text(2, number) for number in range(200)]
