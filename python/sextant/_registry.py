"""The list of schemes as data."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from . import _core, _schemes
from ._errors import ArgumentError, ArgumentTypeError


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scheme: one row of the tables of its page."""

    name: str
    type: str  # "flag", "choice", "integer", "number", "text", "integers", "numbers"
    default: Any  # None: not given, or `required`
    allowed: str  # "even, 2 .. 2^20, or 0"
    meaning: str
    required: bool = False

    def read(self, text: str) -> Any:
        """The value that a text of the command line or of a file is."""
        if self.default is None and text in ("auto", "none"):
            return None
        return _READERS.get(self.type, str)(text)


@dataclass(frozen=True)
class Weight:
    """A learned array of a scheme."""

    name: str
    shape: str  # "[num_buckets, heads]"
    meaning: str


@dataclass(frozen=True)
class Scheme:
    """A scheme of the registry. Calling it is calling the function of that name."""

    name: str
    title: str  # as people write it: "ALiBi"
    kind: str  # "added", "rotated", "distance_bias", "indexed_bias", "content" or "none"
    idea: str
    paper: str
    parameters: tuple[Parameter, ...]
    weights: tuple[Weight, ...]

    @property
    def function(self) -> Callable[..., Any]:
        """The function of this module that makes its table."""
        return getattr(_schemes, self.name)  # type: ignore[no-any-return]

    def read(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Parameters given as texts, as Python's values."""
        return {p.name: p.read(texts[p.name]) for p in self.parameters if p.name in texts}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


_READERS: dict[str, Callable[[str], Any]] = {
    "flag": lambda text: text == "yes",
    "integer": int,
    "number": float,
    "integers": lambda text: [int(one) for one in text.split(",")],
    "numbers": lambda text: [float(one) for one in text.split(",")],
}


def find_scheme(name: str) -> Scheme:
    """The scheme of that name. Raises ValueError, with the name that is meant where one is near."""
    return scheme_named(name, "find_scheme.name")


def scheme_named(name: str, argument: str) -> Scheme:
    """The same for an argument of another function."""
    if not isinstance(name, str):
        raise ArgumentTypeError(f"[{argument}] must be a str, got {type(name).__name__}")
    by_name = {scheme.name: scheme for scheme in schemes()}
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name[:64], by_name, 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentError(f"[{argument}] must be one of the names that schemes() lists, got {name[:64]!r}{meant}")


def schemes() -> list[Scheme]:
    """All schemes, in alphabetical order."""
    return [
        Scheme(
            name=scheme["name"],
            title=scheme["title"],
            kind=scheme["kind"],
            idea=scheme["idea"],
            paper=scheme["paper"],
            parameters=tuple(
                Parameter(p["name"], p["type"], p.get("default"), p["allowed"], p["meaning"], p["required"])
                for p in scheme["parameters"]
            ),
            weights=tuple(Weight(**weight) for weight in scheme["weights"]),
        )
        for scheme in _core.schemes()
    ]
