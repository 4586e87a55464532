"""Absolute positions as embeddings, with the weights of Hugging Face's models."""

from __future__ import annotations

from typing import Any

import torch

from ... import _core
from ..._errors import ArgumentError
from ..._registry import find_scheme
from .._operator import is_seen
from .._tensors import in_memory, new_memory
from ._layer import checked_parameters
from ._tables import check_float, checked_positions


def positions_of_mask(attention_mask: torch.Tensor, past: int = 0) -> torch.Tensor:
    """Positions of the tokens of padded texts: 0, 1, 2, ... from the first that is seen, and -1 where there is padding.

    OPT counts so, and RoBERTa, whose table has the offset 2 as well.

    Args:
        attention_mask: [batch, length], 1 where a token is seen
        past: how many tokens of attention_mask are in a cache: of these no positions are returned
    """
    seen = in_memory("positions_of_mask.attention_mask", attention_mask).long()
    return (seen.cumsum(1) * seen - 1)[:, past:]


def rows_of(where: str, positions: Any, offset: int, end: int | None) -> torch.Tensor:
    """Rows of a table where position 0 is in row `offset`; `end`: how many positions from 0 on it has, None: any number."""
    if isinstance(positions, torch.Tensor) and is_seen(positions):
        return positions + offset  # a graph has no numbers: embedding() says what is out of its range
    positions = checked_positions(where, positions)
    ids = torch.arange(positions) if isinstance(positions, int) else torch.as_tensor(positions)
    if isinstance(positions, int):
        low, high = 0, max(positions - 1, 0)
    else:
        low, high = (int(x) for x in ids.aminmax()) if ids.numel() else (0, 0)
    if low < -offset or (end is not None and high >= max(end, 1)):
        allowed = f"{-offset} or more" if end is None else f"{-offset} .. {end - 1}"
        raise ArgumentError(f"[{where}] must be {allowed}, got {low if low < -offset else high}")
    return ids + offset


class LearnedPositionalEmbedding(torch.nn.Embedding):
    """A trained vector for each position, as BERT, GPT-2 (offset 0), BART, OPT (offset 2) have them.

    state_dict: `weight` [num_embeddings + offset, embedding_dim], the tensor that their checkpoints call
    `position_embeddings.weight`, `wpe.weight` or `embed_positions.weight`.

    Args:
        num_embeddings: positions
        embedding_dim: width
        offset: rows before that of position 0
        others: of torch.nn.Embedding, by name: padding_idx, dtype, ...
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, *, offset: int = 0, **others: Any):
        if offset < 0:
            raise ArgumentError(f"[LearnedPositionalEmbedding.offset] must be 0 or more, got {offset}")
        self.offset = offset
        super().__init__(num_embeddings + offset, embedding_dim, **others)

    def reset_parameters(self) -> None:
        """Normal numbers of deviation 0.02, as those models begin."""
        torch.nn.init.normal_(self.weight, std=0.02)
        self._fill_padding_idx_with_zero()

    def forward(self, positions: Any) -> torch.Tensor:
        """[..., embedding_dim] of a length, or of ids of any shape; positions_of_mask() gives those of padded texts."""
        return super().forward(rows_of("LearnedPositionalEmbedding.positions", positions, self.offset, len(self.weight) - self.offset))

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, offset={self.offset}"


class SinusoidalPositionalEmbedding(torch.nn.Module):
    """Sines and cosines as an embedding without training, as Marian, Pegasus, Whisper, M2M100 have them.

    state_dict: `weight` [num_embeddings + offset, embedding_dim], a parameter that needs no gradient; nothing with
    persistent=False, as M2M100's. Row r is the vector of r. Positions beyond the last row are computed.

    Args:
        num_embeddings: positions that are kept
        embedding_dim: width
        offset: rows before that of position 0
        padding_idx: a row of zeros
        persistent: whether the rows are in the state_dict
        dtype: of the rows, each number rounded once; None: torch's default
        parameters: of sextant.sinusoidal(): base, layout, ladder, ...; Marian's are layout="half_split", Whisper's and
            M2M100's ladder="d/2-1" as well
    """

    weight: torch.Tensor

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        offset: int = 0,
        padding_idx: int | None = None,
        persistent: bool = True,
        dtype: torch.dtype | None = None,
        **parameters: Any,
    ):
        super().__init__()
        if offset < 0:
            raise ArgumentError(f"[SinusoidalPositionalEmbedding.offset] must be 0 or more, got {offset}")
        self.parameters_of_rows = checked_parameters(find_scheme("sinusoidal"), parameters)
        self.offset, self.padding_idx, self.width = offset, padding_idx, embedding_dim
        dtype = dtype or torch.get_default_dtype()
        check_float("SinusoidalPositionalEmbedding.dtype", dtype)
        rows = self.rows(torch.arange(num_embeddings + offset, device="cpu"), dtype)
        if persistent:
            self.weight = torch.nn.Parameter(rows, requires_grad=False)
        else:
            self.register_buffer("weight", rows, persistent=False)

    def rows(self, numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        made = new_memory("sinusoidal", (len(numbers), self.width), dtype)
        name = str(dtype).removeprefix("torch.")
        _core.make("sinusoidal", numbers, {"width": self.width}, self.parameters_of_rows, None, name, made)
        if self.padding_idx is not None:
            made[numbers == self.padding_idx] = 0
        return made

    def forward(self, positions: Any) -> torch.Tensor:
        """[..., embedding_dim] of a length, or of ids of any shape."""
        if is_seen(self.weight):
            return torch.nn.functional.embedding(self.numbers_seen(positions), self.weight)
        weight = in_memory("SinusoidalPositionalEmbedding.weight", self.weight)
        numbers = rows_of("SinusoidalPositionalEmbedding.positions", positions, self.offset, None)
        if numbers.numel() and int(numbers.max()) >= len(weight):
            return self.rows(numbers.flatten(), weight.dtype).unflatten(0, numbers.shape)
        return torch.nn.functional.embedding(numbers, weight)

    def numbers_seen(self, positions: Any) -> torch.Tensor:
        """Rows of the table, of which a graph cannot make more."""
        if not isinstance(positions, torch.Tensor):
            if isinstance(positions, int) and positions + self.offset > len(self.weight):
                end = len(self.weight) - self.offset
                raise ArgumentError(f"[SinusoidalPositionalEmbedding.positions] must be up to {end} where it is compiled, got {positions}")
            positions = torch.arange(positions, device=self.weight.device) if isinstance(positions, int) else torch.as_tensor(positions)
        return positions + self.offset

    def extra_repr(self) -> str:
        return f"{len(self.weight) - self.offset}, {self.width}, offset={self.offset}"
