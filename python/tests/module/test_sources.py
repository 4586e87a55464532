"""The package's sources say what the library can: nothing has to run, nor be built, for an editor to show the real arguments."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import sextant

SOURCES = Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCES))

import generate  # noqa: E402


@pytest.mark.parametrize("path", sorted(generate.sources(sextant._core)), ids=lambda path: path.name)
def test_what_is_made_from_the_library_is_up_to_date(path: Path) -> None:
    assert path.read_text() == generate.sources(sextant._core)[path], "run: cmake --build --preset release --target python_sources"


def functions() -> dict[str, ast.FunctionDef]:
    """Every public function and method, by its file and name, as a reader of the text alone finds them."""
    found = {}
    for path in sorted((SOURCES / "sextant").rglob("*.py")):
        tree = ast.parse(path.read_text())
        bodies = [("", tree.body)] + [(part.name + ".", part.body) for part in tree.body if isinstance(part, ast.ClassDef)]
        for owner, body in bodies:
            for part in body:
                if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                    found[f"{path.name}:{owner}{part.name}"] = part
    return found


FUNCTIONS = functions()
OPERATOR = ["attention", "attention_backward", "attention_weights", "attention_statistics", "plan"]


def hides_arguments(function: ast.FunctionDef) -> bool:
    """Whether it takes keywords that its signature does not name; those that are NoReturn are refused with a hint."""
    kwarg = function.args.kwarg
    return kwarg is not None and not (isinstance(kwarg.annotation, ast.Name) and kwarg.annotation.id == "NoReturn")


def keywords(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in function.args.kwonlyargs]


@pytest.mark.parametrize("name", [f"_attention.py:{name}" for name in OPERATOR] + ["_kv_cache.py:KvCache.attend"])
def test_the_options_of_the_operator_stand_in_the_text(name: str) -> None:
    function = FUNCTIONS[name]
    assert not hides_arguments(function)
    assert {"causal", "window", "bias", "rotation", "key_lengths", "threads"} <= set(keywords(function))
    assert all(argument.annotation is not None for argument in function.args.kwonlyargs)
    text = ast.get_docstring(function) or ""
    assert all(f"    {option}: " in text for option in ("causal", "softcap", "threads"))


def test_every_scheme_and_training_has_its_parameters_in_the_text() -> None:
    for scheme in sextant.schemes():
        function = FUNCTIONS[f"_schemes.py:{scheme.name}"]
        assert {parameter.name for parameter in scheme.parameters} <= set(keywords(function))
    for name, options in sextant._core.calls().items():
        function = FUNCTIONS.get(f"_calls.py:{name}")
        if function is not None:
            assert {option["name"] for option in options} <= set(keywords(function)), name


def test_no_function_of_the_module_hides_its_arguments() -> None:
    public = {*sextant.__all__, *sextant.plot.__all__, *sextant.train.__all__}
    assert [name for name, function in FUNCTIONS.items() if name.split(":")[1] in public and hides_arguments(function)] == []
