"""`import sextant` itself: what it loads, and what it loads later."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sextant


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_models_lessons_and_pictures_are_loaded_when_they_are_used() -> None:
    later = ["plot", "train", "_calls", "_models", "_registry", "_results", "lessons"]
    code = f"import sys, sextant; print([name for name in {later} if 'sextant.' + name in sys.modules])"
    assert python(code) == "[]\n"
    assert python("import sextant; print(sextant.train.lm.__name__, sextant.plot.rows.__name__, sextant.load.__name__)") == "lm rows load\n"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="the names of the standard library are known from Python 3.10 on")
def test_only_numpy_is_needed() -> None:
    code = "import sys; old = set(sys.modules); import sextant; print({name.split('.')[0] for name in set(sys.modules) - old})"
    loaded = set(eval(python(code))) - set(sys.stdlib_module_names)
    assert loaded <= {"sextant", "numpy", "_xxsubinterpreters"}  # the last is Python's own


def test_every_name_is_there_and_listed() -> None:
    for name in sextant.__all__:
        assert getattr(sextant, name) is not None
    assert set(sextant.__all__) <= set(dir(sextant)) and len(set(sextant.__all__)) == len(sextant.__all__)


def test_a_star_brings_all_of_them() -> None:
    assert python("from sextant import *; print(lessons.__name__, train.__name__, rotary.__name__)") == "sextant.lessons sextant.train rotary\n"


def test_another_name_is_an_attribute_error() -> None:
    assert python("import sextant\ntry: sextant.nothing\nexcept AttributeError as error: print(error)") == (
        "module 'sextant' has no attribute 'nothing'\n"
    )
