"""Types of arguments, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Sequence, Union

if TYPE_CHECKING:
    from ._core import ContentTerm, DistanceBias, IndexedBias

# An array of NumPy, torch, jax, MLX or any library with DLPack or the buffer protocol. Type checkers know no protocol that all
# of them fulfil.
Array = Any
# A length, or ids.
Positions = Union[int, Sequence[int], Array]
# "float32", numpy.float32, torch.float32, ...
DType = Any
Causal = Literal["none", "top_left", "bottom_right", "at_offsets", "at_lengths"]
Layout = Literal["half_split", "interleaved"]
Stage = Literal["scores", "capped", "biased", "probabilities"]
Bias = Union[Array, "DistanceBias", "IndexedBias", "ContentTerm"]
