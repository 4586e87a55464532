"""Types of arguments, for annotations."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Literal, Mapping, Sequence, Tuple, Union

if TYPE_CHECKING:
    from ._core import DistanceBias, ScoreTerm

# An array of NumPy, torch, jax, MLX or any library with DLPack or the buffer protocol. Type checkers know no protocol that all
# of them fulfil.
Array = Any
# A length, or ids.
Positions = Union[int, Sequence[int], Array]
# "float32", numpy.float32, torch.float32, ...
DType = Any
Causal = Union[Literal["none", "top_left", "bottom_right", "at_offsets", "at_lengths"], bool]
HeadLayout = Literal["bhld", "blhd"]
Layout = Literal["half_split", "interleaved"]
Stage = Literal["scores", "capped", "biased", "probabilities"]
Bias = Union[Array, "DistanceBias", "ScoreTerm"]
# A text: a file's path, or what has read().
Source = Union[str, "os.PathLike[str]", IO[str], IO[bytes]]
# Pairs of sentences: a file, or a list of them.
Pairs = Union[Source, Sequence[Tuple[str, str]]]
# Schemes: a name, or names with their parameters.
PositionNames = Union[str, Mapping[str, Mapping[str, Any]]]
