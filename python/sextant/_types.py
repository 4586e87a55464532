"""Types of arguments, for annotations."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Literal, Mapping, Protocol, Sequence, Tuple, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._core import DistanceBias, ScoreTerm
else:
    Buffer = Any  # type checkers alone have typing_extensions for sure


class SupportsDLPack(Protocol):
    """torch's tensors, arrays of jax and MLX, and of every library with DLPack."""

    def __dlpack__(self) -> Any: ...


class SupportsArrayInterface(Protocol):
    """NumPy's arrays; those of bool and of ml_dtypes.bfloat16 have nothing else that type checkers see."""

    @property
    def __array_interface__(self) -> Mapping[str, Any]: ...


# An array of NumPy, torch, jax, MLX or any library with DLPack or the buffer protocol.
Array = Union[SupportsDLPack, SupportsArrayInterface, "Buffer"]
# The same kind of array comes back.
SameArray = TypeVar("SameArray", bound=Array)
# Numbers in an array or a list.
Numbers = Union[Array, Sequence[float]]
Integers = Union[Array, Sequence[int]]
# Ids [tokens] or [batch, tokens].
IdBatch = Union[Integers, Sequence[Sequence[int]]]
# A length, or ids.
Positions = Union[int, Sequence[int], Array]
# "float32", numpy.float32, torch.float32, ...
DType = Any
Causal = Union[Literal["none", "top_left", "bottom_right", "at_offsets", "at_lengths"], bool]
HeadLayout = Literal["bhld", "blhd"]
ResizeConvention = Literal["torch", "torch_antialias", "torch_corners", "jax"]
Layout = Literal["half_split", "interleaved"]
MatmulPrecision = Literal["float32", "bfloat16"]
Stage = Literal["scores", "capped", "biased", "probabilities"]
OneBias = Union[Array, "DistanceBias", "ScoreTerm"]
Bias = Union[OneBias, Sequence[OneBias]]
# A text: a file's path, or what has read().
Source = Union[str, "os.PathLike[str]", IO[str], IO[bytes]]
# Pairs of sentences: a file, or a list of them.
Pairs = Union[Source, Sequence[Tuple[str, str]]]
# Schemes: a name, or names with their parameters.
PositionNames = Union[str, Mapping[str, Mapping[str, Any]]]
