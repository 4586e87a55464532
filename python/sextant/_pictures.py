"""What the functions of plot do with their arguments."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from . import _core
from ._errors import ArgumentError, ArgumentTypeError
from ._results import AttentionMaps, TranslatorMaps
from ._sources import elements_of, path_of, positions_of


MAX_TOKENS = 1 << 16  # of a picture of weights, and a panel shows far fewer


def what_of(given: Any, call: str, several: bool = False) -> Any:
    """Schemes as a list of lists of names and parameters; arrays and tables as they are."""
    if isinstance(given, (str, Mapping)):
        return [positions_of(given, f"{call}.what")]
    if several and isinstance(given, (list, tuple)):
        if not given:
            raise ArgumentError(f"[{call}.what] must be one scheme or more, got none")
        return [positions_of(one, f"{call}.what") for one in given]
    if isinstance(given, list):
        raise ArgumentTypeError(f"[{call}.what] must be an array or a scheme by name, got list; numpy.asarray() makes an array of numbers")
    return given


def words_of(given: str | Sequence[str] | None, call: str, split: str = "words", lower_case: bool = False, name: str = "words") -> list[str] | None:
    """A text as its words; a list of words as it is."""
    if given is None:
        return None
    if isinstance(given, str):
        return _core.split_text(given, split, lower_case, call, name)
    return strings_of(given, f"{call}.{name}")


def strings_of(given: Any, argument: str) -> list[str]:
    strings = elements_of(given, argument, "a list of str")
    for one in strings:
        if not isinstance(one, str):
            raise ArgumentTypeError(f"[{argument}] must be a list of str, got {one!r}")
    return strings


def tables_of(weights: Any, layer: int | None) -> tuple[Any, list[str] | None, list[str] | None, str]:
    """An array, the tokens that come with it, and what it is called."""
    if isinstance(weights, TranslatorMaps):
        raise ArgumentTypeError("[attention.weights] must be one of the maps: .encoder, .decoder or .cross, got all of them")
    if not isinstance(weights, AttentionMaps):
        if layer is not None:
            raise ArgumentError("[attention.layer] must be given with the result of attention_maps(), got an array; weights[layer] is one")
        return weights, None, None, "Attention"
    layers = list(range(len(weights.weights))) if weights.layers is None else weights.layers
    chosen = layers[-1] if layer is None else layer
    if not isinstance(chosen, int) or chosen not in layers:
        there = f"0 .. {len(layers) - 1}" if weights.layers is None else " | ".join(map(str, layers))
        raise ArgumentError(f"[attention.layer] must be {there}, got {layer!r}")
    return weights.masked(chosen), weights.queries, weights.keys, f"{weights.title}, layer {chosen}"


def labels_of(array: Any, queries: Any, keys: Any) -> tuple[list[str], list[str]]:
    """A token for each row and column; numbers where none are given."""
    shape = getattr(array, "shape", ())
    if not isinstance(shape, tuple) or len(shape) < 2:
        return [], []  # no array of weights, as the call itself says
    if max(shape[-2:]) > MAX_TOKENS:
        raise ArgumentError(f"[attention.weights] must have up to {MAX_TOKENS} rows and columns, got {list(shape[-2:])}")
    rows = [str(i) for i in range(shape[-2])] if queries is None else strings_of(queries, "attention.queries")
    if keys is not None:
        return rows, strings_of(keys, "attention.keys")
    return rows, rows if queries is not None and shape[-1] == len(rows) else [str(i) for i in range(shape[-1])]


def run_of(given: Any, number: int) -> Any:
    """A run's folder, or its name and numbers."""
    training = getattr(given, "training", given)
    if isinstance(given, (str, os.PathLike)):
        return path_of(given, "losses.runs")
    if training is None:
        raise ArgumentError(f"[losses.runs] must be trained in this process, or a folder, got {given!r}")
    names = ("step", "mean_loss", "validation_step", "validation_loss")
    if not all(hasattr(training, name) for name in ("folder", *names)):
        raise ArgumentTypeError(f"[losses.runs] must be folders, models or trainings, got {type(given).__name__}")
    if training.folder:
        return training.folder
    return (f"run {number}", {name: getattr(training, name) for name in names})
