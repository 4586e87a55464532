"""The reference of the Python module as it was built: a page for each of its parts, which autodoc fills."""

from __future__ import annotations

import importlib
import inspect
import re
from operator import attrgetter
from types import ModuleType

from stage_pages import Stage, contents

KINDS = ["added", "rotated", "distance_bias", "indexed_bias", "content", "none"]
SECTION = re.compile(r"^[A-Z][a-z]+(?:, [a-z ]+)?:$")  # "Args:", "Options, which may all be combined:"


def documented(name: str) -> str:
    return f"```{{eval-rst}}\n{name}\n```\n"


def directive(module: str, name: str, value: object) -> str:
    """What makes autodoc describe a member of a module."""
    full = f"{module}.{name}"
    if inspect.isclass(value):
        return documented(f".. autoclass:: {full}\n   :members:")
    if callable(value):
        return documented(f".. autofunction:: {full}")
    return documented(f".. autodata:: {full}")


def line_of(value: object) -> int:
    """Where a function or class of a Python file begins."""
    try:
        return inspect.getsourcelines(inspect.unwrap(value))[1]  # type: ignore[arg-type]
    except (TypeError, OSError):
        return 0


def parts(package: ModuleType) -> dict[str, list[str]]:
    """The public names of the package by the file that they come from, schemes by their kind; names of a public module are "plot.heatmap"."""
    kinds = {scheme.name: scheme.kind for scheme in package.schemes()}
    result: dict[str, list[str]] = {}
    for name in sorted(package.__all__, key=lambda name: line_of(getattr(package, name))):
        value = getattr(package, name)
        if inspect.ismodule(value):
            result[name] = [f"{name}.{each}" for each in value.__all__]
        elif name in kinds:
            result.setdefault("schemes_" + kinds[name], []).append(name)
        elif inspect.isclass(value) and issubclass(value, Exception):
            result.setdefault("errors", []).append(name)
        elif not name.startswith("__"):
            result.setdefault(value.__module__.rpartition(".")[2].strip("_"), []).append(name)
    return result


def title(package: ModuleType, part: str, member: object) -> str:
    """The heading of a page: the first words of the file that `member` comes from."""
    if part == "core":
        return "Tables and results"
    if part == "errors":
        return "Errors"
    if part.startswith("schemes_"):
        return "Schemes: " + part.removeprefix("schemes_").replace("_", " ")
    public = getattr(package, part, None)
    file = public if inspect.ismodule(public) else importlib.import_module(member.__module__)
    purpose = file.__doc__ or part
    return purpose.split(".")[0].split(":")[0].split("\n")[0]


def add_python_reference(stage: Stage) -> None:
    package = importlib.import_module("sextant")
    found = parts(package)
    order = sorted(found, key=lambda part: (part.startswith("schemes_"), part == "core", KINDS.index(part[8:]) if part.startswith("schemes_") else 0, part))
    rows = []
    for part in order:
        members = {name: attrgetter(name)(package) for name in found[part]}
        heading = title(package, part, members[found[part][0]])
        page = f"# {heading}\n\n"
        page += "\n".join(directive("sextant", name, value) for name, value in members.items())
        stage.write(f"python/{part}.md", page)
        names = ", ".join(f"`{name}`" for name in found[part])
        rows.append(f"| [{heading}]({part}.md) | {names} |")
    intro = ("`import sextant`. Arrays are `[batch, heads, length, head_dim]` of NumPy, torch, jax or MLX. [How to install and use it](../python.md).")
    stage.write("python/index.md", "\n".join(["# Python reference", "", intro, "", "| page | names |", "|---|---|", *rows, contents(order)]))


ENTRY = re.compile(r"    ([a-zA-Z_*]\w*(?:, \w+)*)(?: \((.*?)\))?: (.*)")  # "    base (> 0): what it is"


def escaped(text: str) -> str:
    """Plain text as reStructuredText, in which `code` is code."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def as_restructured_text(app: object, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text with sections as Google's: indented blocks outside of sections are code."""
    result: list[str] = []
    section, block = False, False
    for line in inspect.cleandoc("\n".join(lines)).splitlines():
        if SECTION.match(line):
            section, block = True, False
            result.append("Options:" if line.startswith("Options") else line)
            continue
        if line and not line.startswith(" "):
            section, block = False, False
        if line.startswith("    ") and not section and not block:
            result += ["", ".. code-block:: text", ""]
            block = True
        entry = ENTRY.match(line) if section else None
        if entry and entry[2]:  # the range is no type
            line = f"    {entry[1]}: ({entry[2]}) {entry[3]}"
        result.append(line if block else escaped(line))
    lines[:] = [*result, ""]


def without_core(app: object, what: str, name: str, value: object, options: object, signature: str | None, returns: str | None) -> tuple[str | None, str | None]:
    """Types of the compiled part are public under the package's own name."""
    return tuple(text and text.replace("_core.", "") for text in (signature, returns))
