"""Tables, configs and weights of other libraries."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping

from . import _core, _schemes
from ._errors import ArgumentError, ArgumentTypeError
from ._registry import find_scheme
from ._sources import named, path_of, type_of

if TYPE_CHECKING:
    from ._types import Array, DType, Layout, Positions, SameArray


def identify(
    array: Array | _core.RotationTable | _core.DistanceBias | _core.ScoreTerm,
    *,
    dtype: DType | None = None,
    threads: int = 0,
) -> _core.Identification:
    """Finds the scheme and every parameter of a table of positions from its numbers alone.

    Args:
        array: a table [length, width], a cache of cosines or sines, of complex numbers [positions, pairs] (freqs_cis),
            frequencies [pairs] (inv_freq), slopes or biases by distance, buckets, ...; or a table or bias of this module
        dtype: the type that the numbers were rounded to before they were stored; None: the array's
        threads: number of threads; 0: all cores

    Returns:
        An Identification: scheme, parameters, mistake, explanation, confidence, max_deviation, ...

    Raises:
        ValueError: NaN, no values, or a shape that cannot be a table
        TypeError: what is no array of numbers
    """
    numbers: Any = array
    if isinstance(array, _core.ScoreTerm):
        try:
            numbers = array.array()
        except ValueError as error:
            raise ArgumentTypeError("[identify.array] must be numbers, or a ScoreTerm that depends on positions alone") from error
    if str(getattr(numbers, "dtype", "")).rpartition(".")[2].startswith("complex"):
        import numpy as np

        if hasattr(numbers, "resolve_conj"):  # torch's
            numbers = numbers.detach().resolve_conj()
        numbers = np.stack([np.asarray(numbers.real), np.asarray(numbers.imag)], axis=-1)
    return _core.identify(numbers, dtype, threads)


@dataclass(frozen=True)
class LayerPositions:
    """The positions of one layer of attention of a model. Calling it with a length or ids makes the layer's table."""

    model_type: str
    scheme: str
    parameters: Mapping[str, Any]  # what the config says; the rest are the scheme's defaults
    layers: int  # of the model
    max_positions: int  # 0: the config does not say
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    causal: bool
    window: tuple[int, int]
    chunk: int  # positions in a chunk; keys of other chunks are hidden; 0: none
    scale: float | None  # of the scores; None: head_dim ** -0.5
    softcap: float  # > 0: scaled scores become softcap * tanh(score / softcap); 0: off
    sinks: bool  # whether each head of queries has a sink, a number among the model's weights
    bias_factor: float

    def __call__(self, positions: Positions, /, **changes: Any) -> Any:
        """What sextant.<scheme>(positions, ..., **parameters) makes for this layer, of a length or of ids; `changes` are further
        parameters of the scheme, `length` too where it has one."""
        sizes = {
            "added": [self.width],
            "rotated": [self.head_dim],
            "distance_bias": [self.heads],
            "indexed_bias": [self.heads],
            "content": [self.heads, self.head_dim],
            "none": [],
        }[find_scheme(self.scheme).kind]
        return getattr(_schemes, self.scheme)(positions, *sizes, **{**self.parameters, **changes})


MAX_NUMBERS = 1 << 16  # of an array in a config; factors of pairs of channels are a few hundred


def plain(value: Any) -> Any:
    """What JSON has no form for, in Python's own types: mappings of other classes, arrays and scalars of NumPy and torch."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        if math.prod(max(1, size) for size in getattr(value, "shape", ())) > MAX_NUMBERS:
            raise ArgumentError(f"[from_config.config] must have arrays of up to {MAX_NUMBERS} numbers, got the shape {list(value.shape)}")
        return value.tolist()
    raise ArgumentTypeError(f"[from_config.config] must be values that JSON supports, got {type(value).__name__}")


def json_of(config: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(config), default=plain)
    except TypeError as error:
        words = str(error)
        raise ArgumentTypeError(words if words.startswith("[") else f"[from_config.config] must be values that JSON supports: {words}") from None
    except (ValueError, RecursionError) as error:
        if str(error).startswith("["):
            raise
        raise ArgumentError("[from_config.config] must not hold itself, nor be nested more deeply than Python's stack allows") from None


def from_config(config: str | os.PathLike[str] | Mapping[str, Any], *, layer: int = 0, read_as: str | None = None) -> LayerPositions:
    """The positions of a model, read from its Hugging Face config.json.

    Args:
        config: the path, or the contents as a dict
        layer: which layer of attention; encoders first, then decoders
        read_as: the model type whose keys and defaults are taken where the config's own type is not known: "llama"

    Returns:
        LayerPositions: sextant.from_config("config.json")(4096) is the table of 4096 positions.

    Raises:
        ValueError: a model type or a key about positions that is not known, or values that contradict each other
    """
    if not isinstance(config, (Mapping, str, os.PathLike)):
        raise ArgumentTypeError(f"[from_config.config] must be a path or a dict, got {type(config).__name__}")
    source = json_of(config) if isinstance(config, Mapping) else path_of(config, "from_config.config")
    with named(model_config="from_config"):
        read = _core.layer_of(source, not isinstance(config, Mapping), layer, type_of(read_as, "from_config.read_as"))
    texts = read.pop("texts")
    return LayerPositions(parameters=find_scheme(read["scheme"]).read(texts), **read)


def convert_rotary(
    weights: SameArray,
    head_dim: int,
    to: Layout,
    *,
    rotary_dim: int = 0,
    span: str = "first",
    out: Array | None = None,
) -> SameArray:
    """Permutes the rows of a projection of q or k, per head, from one rotary layout to the other. Scores stay the same.

    Args:
        weights: [heads * head_dim, in], a bias [heads * head_dim] or a norm's weight [head_dim], of any dtype
        head_dim: channels of a head
        to: "half_split" (HF checkpoints) or "interleaved" (Meta's files)
        rotary_dim: channels that are rotated; 0: all
        span: "first" or "last": which channels these are
        out: where the result goes; may be `weights` itself

    Returns:
        out, or a new array; no bit of an element changes.

    Raises:
        ValueError: rows that are no whole number of heads, or a size out of its range
    """
    return _core.convert_rotary(weights, head_dim, to, rotary_dim, span, out)  # type: ignore[no-any-return]
