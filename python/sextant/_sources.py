"""Texts and pairs to learn from or to score: paths, objects with read(), or lists of pairs."""

from __future__ import annotations

import contextlib
import operator
import os
from typing import Any, Iterator, Mapping, Sequence

from . import _core
from ._errors import ArgumentError, ArgumentTypeError, MissingFileError


@contextlib.contextmanager
def named(**arguments: str) -> Iterator[None]:
    """Errors of functions that a call uses as errors of that call: named(encode="attention_maps") makes "[encode.text] ..."
    to "[attention_maps.text] ...", with "attention_maps.target" to "[attention_maps.target] ..."."""
    try:
        yield
    except (TypeError, ValueError) as error:
        where, closed, what = str(error).partition("]")
        function, _, argument = where[1:].partition(".")
        if not closed or where[:1] != "[" or function not in arguments:
            raise
        to = arguments[function]
        raise type(error)(f"[{to if '.' in to else f'{to}.{argument}'}]{what}") from None


def flag_of(given: Any, argument: str) -> bool:
    """True or False, NumPy's too."""
    if type(given).__name__ not in ("bool", "bool_"):
        raise ArgumentTypeError(f"[{argument}] must be True or False, got {type(given).__name__}")
    return bool(given)


def type_of(given: Any, argument: str) -> str:
    """A model type, or "" for none."""
    if given is not None and not isinstance(given, str):
        raise ArgumentTypeError(f"[{argument}] must be a model type, such as 'llama', or None, got {type(given).__name__}")
    return given or ""


def integer_of(given: Any, argument: str) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise ArgumentTypeError(f"[{argument}] must be a whole number, got {type(given).__name__}") from None


def is_source(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike)) or hasattr(given, "read")


def path_of(given: Any, argument: str) -> str:
    try:
        path = os.fsdecode(given)
    except TypeError:
        raise ArgumentTypeError(f"[{argument}] must be a path, got {type(given).__name__}") from None
    if not path or "\0" in path:
        raise ArgumentError(f"[{argument}] must be a path, got {path!r}")
    return path


def name_of(given: Any, argument: str) -> str:
    """What errors call it: the path, or the argument."""
    return argument if hasattr(given, "read") else path_of(given, argument)


def contents_of(given: Any, argument: str) -> bytes:
    if not is_source(given):
        raise ArgumentTypeError(f"[{argument}] must be a path or an object with read(), got {type(given).__name__}")
    if hasattr(given, "read"):
        read: str | bytes = given.read()
        return read.encode() if isinstance(read, str) else bytes(read)
    try:
        with open(path := path_of(given, argument), "rb") as file:
            return file.read()
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else ArgumentError
        raise kind(f"[{path}] cannot be read: {error.strerror}") from None


def elements_of(given: Any, argument: str, wanted: str) -> list[Any]:
    """The elements of an iterable. What its own iteration raises stays as it is."""
    refused = ArgumentTypeError(f"[{argument}] must be {wanted}, got {type(given).__name__}")
    try:
        elements = iter(given)
    except (TypeError, NotImplementedError):  # the latter of a memoryview of several axes, here or
        raise refused from None
    try:
        return list(elements)
    except NotImplementedError:  # at its first element, by the version of Python
        raise refused from None


def arrays_of(given: Any, argument: str) -> dict[str, Any]:
    """Arrays by name."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"[{argument}] must be a dict from names to arrays, got {type(given).__name__}")
    return dict(given)


def chosen_of(given: Any, argument: str) -> list[int] | None:
    """Numbers of layers, heads or rows; None: all."""
    if given is None:
        return None
    chosen = [integer_of(one, argument) for one in elements_of(given, argument, "a list of whole numbers")]
    if not chosen:
        raise ArgumentError(f"[{argument}] must have at least one {argument.rpartition('.')[2][:-1]}, got none")
    return chosen


def pair_list(given: Any, argument: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for number, pair in enumerate(elements_of(given, argument, "pairs of str")):
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(side, str) for side in pair)):
            raise ArgumentTypeError(f"[{argument}] must be pairs of str, got {pair!r} as number {number}")
        pairs.append((pair[0], pair[1]))
    return pairs


def pairs_of(given: Any, argument: str, reverse: bool) -> list[tuple[str, str]]:
    """Pairs of any kind as a list, to be scored."""
    if is_source(given):
        return _core.parse_pairs(contents_of(given, argument), reverse, name_of(given, argument))
    pairs = pair_list(given, argument)
    return [(target, source) for source, target in pairs] if reverse else pairs


class Files:
    """Sources as files: the library reads paths. Texts in memory are written to the folder, under a name made of their contents."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, given: Any, argument: str) -> str:
        if not hasattr(given, "read"):
            if not is_source(given):
                raise ArgumentTypeError(f"[{argument}] must be a path or an object with read(), got {type(given).__name__}")
            return path_of(given, argument)
        return self.keep(contents_of(given, argument), ".txt")

    def texts(self, given: Any, argument: str) -> list[str]:
        sources: Sequence[Any] = [given] if is_source(given) or not isinstance(given, Sequence) else given
        if not sources:
            raise ArgumentError(f"[{argument}] must be one or more files, got none")
        return [self.path(each, argument) for each in sources]

    def pairs(self, given: Any, argument: str) -> str:
        if is_source(given):
            return self.path(given, argument)
        lines = ["source\ttarget"]
        for number, pair in enumerate(pair_list(given, argument)):
            if any(mark in side for side in pair for mark in "\t\r\n"):
                raise ArgumentError(f"[{argument}] must have neither tabs nor line breaks in a sentence, got {pair!r} as number {number}")
            lines.append("\t".join(pair))
        return self.keep("\n".join([*lines, ""]).encode(), ".tsv")

    def keep(self, contents: bytes, ending: str) -> str:
        import hashlib
        from pathlib import Path

        path = Path(self.folder) / (hashlib.sha256(contents).hexdigest()[:16] + ending)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}.part")
            part.write_bytes(contents)
            part.replace(path)
        return str(path)


def temporary_folder() -> contextlib.AbstractContextManager[str]:
    import tempfile

    return tempfile.TemporaryDirectory(prefix="sextant-")


@contextlib.contextmanager
def files_for(folder: str) -> Iterator[Files]:
    """In FOLDER/data, so that the run can be resumed; without a folder until the call ends."""
    if folder:
        yield Files(os.path.join(folder, "data"))
        return
    with temporary_folder() as made:
        yield Files(made)


def folder_of(folder: str | os.PathLike[str] | None, argument: str) -> str:
    if folder is None:
        return ""
    if isinstance(folder, bytes):
        raise ArgumentTypeError(f"[{argument}] must be a path, got bytes")
    return path_of(folder, argument)


def positions_of(given: Any, argument: str) -> list[tuple[str, dict[str, Any]]]:
    """Names of schemes with their parameters."""
    if isinstance(given, str):
        return [(given, {})]
    if isinstance(given, dict):
        for name, parameters in given.items():
            if not isinstance(name, str) or not isinstance(parameters, dict):
                raise ArgumentTypeError(f"[{argument}] must be a dict from names of schemes to dicts of parameters, got {given!r}")
        return list(given.items())
    raise ArgumentTypeError(f"[{argument}] must be a scheme's name, or a dict from names to parameters, got {type(given).__name__}")


def layer_schemes_of(given: Any, argument: str) -> list[tuple[list[Any], list[tuple[str, dict[str, Any]]]]]:
    """Numbers of layers with the schemes that they have."""
    try:
        return [(list(layers), positions_of(positions, argument)) for layers, positions in given]
    except (TypeError, ValueError) as error:
        if str(error).startswith("["):
            raise
        raise ArgumentTypeError(f"[{argument}] must be a list of tuples of layers and schemes, got {given!r}") from None
