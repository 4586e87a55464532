"""Tables of schemes as tensors, and how a loss's gradients get from tables to weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ... import _core
from ..._errors import ArgumentTypeError
from .._function import LearnedTerm, versions_of
from .._tensors import in_memory, kept, new_memory

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Recipe:
    """What makes a table, but for positions and weights."""

    scheme: str
    kind: str
    sizes: dict[str, int]
    parameters: dict[str, Any]
    weights: tuple[str, ...]

    def make(self, positions: Any, dtype: str, weights: Any = (), out: Any = None) -> Any:
        given = {name: tensor.detach() for name, tensor in zip(self.weights, weights)}
        return _core.make(self.scheme, positions, self.sizes, self.parameters, given or None, dtype, out)

    def initial_weights(self, positions: Any) -> dict[str, Any]:
        return _core.initial_weights(self.scheme, positions, self.sizes, self.parameters)

    def gradients(self, positions: Any, weights: Any, of_table: Any) -> tuple[torch.Tensor, ...]:
        """Those of the weights, each of its dtype, from that of the table."""
        given = {name: tensor.detach() for name, tensor in zip(self.weights, weights)}
        of_table = in_memory("PositionalLayer.grad_outputs", of_table)
        found = _core.weight_gradients(self.scheme, positions, self.sizes, self.parameters, given, of_table)
        return tuple(torch.from_numpy(found[name]).to(tensor.dtype) for name, tensor in zip(self.weights, weights))


def check_float(where: str, dtype: torch.dtype) -> None:
    if dtype not in FLOATS:
        raise ArgumentTypeError(f"[{where}] must be of float32, bfloat16, float16 or float64, got {str(dtype).removeprefix('torch.')}")


def checked_positions(where: str, positions: Any) -> Any:
    """A length, or ids on the CPU."""
    if not isinstance(positions, torch.Tensor):
        return positions
    positions = in_memory(where, positions)
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise ArgumentTypeError(f"[{where}] must be whole numbers, got {str(positions.dtype).removeprefix('torch.')}")
    return int(positions) if positions.ndim == 0 else positions


def row_count(positions: Any) -> int:
    return positions if isinstance(positions, int) else len(positions)


def vectors(recipe: Recipe, positions: Any, dtype: torch.dtype, weights: Any = ()) -> torch.Tensor:
    """[positions, width] of an added scheme."""
    rows = new_memory(recipe.scheme, (row_count(positions), recipe.sizes["width"]), dtype)
    recipe.make(positions, str(dtype).removeprefix("torch."), weights, rows)
    return rows


def distances(recipe: Recipe, positions: Any, weights: Any = ()) -> torch.Tensor:
    """[heads, 2 * length - 1] of a bias by distance, which is of float32 always."""
    return torch.from_numpy(np.array(recipe.make(positions, "float32", weights).values))


def rotation(recipe: Recipe, positions: Any, dtype: torch.dtype, weights: Any = ()) -> _core.RotationTable:
    """The table for tensors of this dtype: of float32 for those of 16 bits."""
    return recipe.make(positions, "float64" if dtype == torch.float64 else "float32", weights)


def waves(table: _core.RotationTable, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of every pair, [positions, pairs] or [heads, positions, pairs]."""
    return torch.from_numpy(np.array(table.cos)).to(dtype), torch.from_numpy(np.array(table.sin)).to(dtype)


def for_channels(pairs: torch.Tensor, layout: str) -> torch.Tensor:
    """The number of each pair at both of its channels."""
    return torch.cat([pairs, pairs], -1) if layout == "half_split" else pairs.repeat_interleave(2, -1)


class LearnedTable(torch.autograd.Function):
    """vectors() or distances() of weights, with their first derivatives."""

    @staticmethod
    def forward(ctx: Any, recipe: Recipe, positions: Any, *weights: Any) -> Any:
        ctx.recipe, ctx.positions = recipe, kept(positions)
        ctx.save_for_backward(*weights)
        if recipe.kind == "distance_bias":
            return distances(recipe, positions, weights)
        return vectors(recipe, positions, weights[0].dtype, weights)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Any) -> Any:
        return None, None, *ctx.recipe.gradients(ctx.positions, ctx.saved_tensors, gradient.double())


class LearnedWaves(torch.autograd.Function):
    """waves() of weights, with their first derivatives."""

    @staticmethod
    def forward(ctx: Any, recipe: Recipe, positions: Any, *weights: Any) -> Any:
        ctx.recipe, ctx.positions = recipe, kept(positions)
        cos, sin = waves(rotation(recipe, positions, weights[0].dtype, weights), weights[0].dtype)
        ctx.save_for_backward(*weights)
        return cos, sin

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, of_cos: Any, of_sin: Any) -> Any:
        return None, None, *ctx.recipe.gradients(ctx.positions, ctx.saved_tensors, torch.stack([of_cos, of_sin]).double())


def learned_term(recipe: Recipe, positions: Any, weights: tuple[torch.Tensor, ...]) -> LearnedTerm:
    """A bias by index or a content term, for bias= of attention, whose backward pass gives the gradient of its numbers."""

    positions = kept(positions)

    def gradients(of_numbers: Any) -> tuple[torch.Tensor, ...]:
        return recipe.gradients(positions, weights, of_numbers.reshape(1, -1))

    return LearnedTerm(recipe.make(positions, "float32", weights), weights, gradients, versions_of(weights))
