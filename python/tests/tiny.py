"""Tiny models for tests: a second of training at most."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sextant

TEXT = "".join(f"the {animal} saw the {place}.\n" for animal in ("cat", "dog", "hen") for place in ("sea", "hut", "oak")) * 30
OPTIONS: dict[str, Any] = dict(width=16, heads=2, layers=1, length=16, batch_size=4, dropout=0.0, rate=0.01, seed=7)
PAIRS = [(word, word[::-1]) for word in ("ab", "cd", "ac", "bd", "ad", "bc", "abc", "bcd", "acd", "abd")] * 4
TRANSLATOR: dict[str, Any] = dict(width=16, heads=2, layers=1, tokenizer="character", batch_size=8, dropout=0.0, rate=0.01)


def language_model(**changes: Any) -> sextant.LanguageModel:
    return sextant.train.lm(io.StringIO(TEXT), **{**OPTIONS, "steps": 30, **changes})


def program(*arguments: str, fails: bool = False) -> str:
    """Runs the command line of this build; skips the test where there is none."""
    path = os.environ.get("SEXTANT_PROGRAM", "")
    if not Path(path).is_file():
        assert "CI" not in os.environ, "SEXTANT_PROGRAM must name the command line"
        pytest.skip("no command line in this build")
    done = subprocess.run([path, *arguments], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout
