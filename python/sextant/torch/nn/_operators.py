"""Tables of schemes as operators of torch, where something else than eager torch looks at a module: see torch/_operator.py."""

from __future__ import annotations

import functools
import json
from typing import Any, Sequence

import torch

from ..._errors import UnsupportedError
from .._function import FIRST_ONLY
from .._operator import is_transformed
from .._tensors import in_memory
from . import _tables as tables
from ._rotate import Rotate

DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in tables.FLOATS}


def as_text(recipe: tables.Recipe) -> str:
    return json.dumps([recipe.scheme, recipe.kind, recipe.sizes, recipe.parameters, recipe.weights], default=lambda value: value.tolist())


@functools.lru_cache(256)
def of_text(text: str) -> tables.Recipe:
    scheme, kind, sizes, parameters, weights = json.loads(text)
    return tables.Recipe(scheme, kind, sizes, parameters, tuple(weights))


def positions_of(ids: torch.Tensor | None, length: int) -> Any:
    return length if ids is None else in_memory("PositionalLayer.positions", ids)


def given_positions(positions: Any) -> tuple[torch.Tensor | None, int]:
    """Ids, or None and their number."""
    if isinstance(positions, torch.Tensor):
        return positions, positions.shape[0] if positions.ndim else 0
    return (None, positions) if isinstance(positions, int) else (torch.as_tensor(positions), len(positions))


def made(weights: Sequence[torch.Tensor], ids: torch.Tensor | None, length: int, recipe: str, dtype: str, keys: bool) -> list[torch.Tensor]:
    """What the scheme's kind has: vectors, a bias by distance, or cosines and sines of pairs."""
    found, positions = of_text(recipe), positions_of(ids, length)
    if found.kind == "rotated":
        table = tables.rotation(found, positions, DTYPES[dtype], weights)
        return [wave.clone() for wave in tables.waves(table.keys if keys else table, DTYPES[dtype])]
    if found.kind == "distance_bias":
        return [tables.distances(found, positions, weights)]
    return [tables.vectors(found, positions, DTYPES[dtype], weights)]


WORDS = "Tensor[] weights, Tensor? ids, SymInt length, str recipe"


@torch.library.custom_op("sextant::table", mutates_args=(), schema=f"({WORDS}, str dtype, bool keys) -> Tensor[]")
def table(weights: Any, ids: Any, length: Any, recipe: str, dtype: str, keys: bool) -> Any:
    return made([in_memory("PositionalLayer.weights", weight) for weight in weights], ids, length, recipe, dtype, keys)


@functools.lru_cache(256)
def wave_sizes(recipe: str, axes: int) -> tuple[list[int], int]:
    """The axes before the positions, and the pairs, of cosines."""
    found = of_text(recipe)
    positions = torch.zeros(1, axes, dtype=torch.int64) if axes else 1
    weights = [torch.from_numpy(found.initial_weights(positions)[name]) for name in found.weights]
    shape = tables.rotation(found, positions, torch.float32, weights).cos.shape
    return list(shape[:-2]), shape[-1]


@table.register_fake
def table_shapes(weights: Any, ids: Any, length: Any, recipe: str, dtype: str, keys: bool) -> Any:
    found = of_text(recipe)
    device = next((tensor.device for tensor in (*weights, ids) if tensor is not None), None)
    empty = functools.partial(torch.empty, device=device)
    if found.kind == "rotated":
        lead, pairs = sizes_outside(recipe, ids.shape[1] if ids is not None and ids.ndim == 2 else 0)
        return [empty(*lead, length, pairs, dtype=DTYPES[dtype]) for _ in range(2)]
    if found.kind == "distance_bias":
        return [empty(found.sizes["heads"], 2 * length - 1, dtype=torch.float32)]
    return [empty(length, found.sizes["width"], dtype=DTYPES[dtype])]


def sizes_outside(recipe: str, axes: int) -> tuple[list[int], int]:
    """wave_sizes(), which computes with numbers, while a graph is recorded."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    with unset_fake_temporarily():
        return wave_sizes(recipe, int(axes))


@torch.library.custom_op("sextant::table_backward", mutates_args=(), schema=f"(Tensor[] gradients, {WORDS}) -> Tensor[]")
def table_backward(gradients: Any, weights: Any, ids: Any, length: Any, recipe: str) -> Any:
    of_table = (torch.stack(list(gradients)) if len(gradients) == 2 else gradients[0]).double()
    return [each.clone() for each in of_text(recipe).gradients(positions_of(ids, length), weights, of_table)]


@table_backward.register_fake
def table_backward_shapes(gradients: Any, weights: Any, ids: Any, length: Any, recipe: str) -> Any:
    return [torch.empty_like(weight, memory_format=torch.contiguous_format) for weight in weights]


def each_call(call: Any, info: Any, axes: Any, arguments: Any) -> Any:
    """The results of an operator for each call of a batch."""

    def chosen(value: Any, axis: Any, i: int) -> Any:
        if isinstance(axis, (list, tuple)):
            return [chosen(*both, i) for both in zip(value, axis)]
        return value if axis is None else value.select(axis, i)

    results = [call(*(chosen(value, axis, i) for value, axis in zip(arguments, axes))) for i in range(info.batch_size)]
    stacked = [torch.stack(each) for each in zip(*results)]
    return stacked, [0] * len(stacked)


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    weights, ids, ctx.length, ctx.recipe, _, _ = inputs
    ctx.has_ids = ids is not None
    ctx.save_for_backward(*([ids] if ctx.has_ids else []), *weights)


def derive(ctx: Any, gradients: Any, call: Any = torch.ops.sextant.table_backward) -> Any:
    saved = ctx.saved_tensors
    ids, weights = (saved[0], saved[1:]) if ctx.has_ids else (None, saved)
    found = call(list(gradients), list(weights), ids, ctx.length, ctx.recipe) if weights else []
    return found, None, None, None, None, None


torch.library.register_autograd(table, derive, setup_context=keep)
torch.library.register_vmap(table, lambda info, axes, *arguments: each_call(torch.ops.sextant.table, info, axes, arguments))
torch.library.register_vmap(table_backward, lambda info, axes, *arguments: each_call(torch.ops.sextant.table_backward, info, axes, arguments))


@torch.library.custom_op("sextant::rotate", mutates_args=(), schema="(Tensor x, Tensor? ids, SymInt length, str recipe, bool keys, bool inverse) -> Tensor")
def rotate(x: Any, ids: Any, length: Any, recipe: str, keys: bool, inverse: bool) -> Any:
    made = tables.rotation(of_text(recipe), positions_of(ids, length), x.dtype)
    return Rotate.apply(x.detach(), made.keys if keys else made, inverse)


@rotate.register_fake
def rotate_shape(x: Any, *others: Any) -> Any:
    return torch.empty_like(x)


def keep_rotation(ctx: Any, inputs: Any, output: Any) -> None:
    _, ids, ctx.length, ctx.recipe, ctx.keys, ctx.inverse = inputs
    ctx.save_for_backward(*([] if ids is None else [ids]))


def derive_rotation(ctx: Any, gradient: Any) -> Any:
    ids = ctx.saved_tensors[0] if ctx.saved_tensors else None
    return torch.ops.sextant.rotate(gradient, ids, ctx.length, ctx.recipe, ctx.keys, not ctx.inverse), None, None, None, None, None


torch.library.register_autograd(rotate, derive_rotation, setup_context=keep_rotation)
torch.library.register_vmap(rotate, lambda info, axes, x, *others: rotate_batch(info, axes, x, *others))


def rotate_batch(info: Any, axes: Any, x: Any, *others: Any) -> Any:
    if axes[1] is not None:
        raise UnsupportedError("[PositionalLayer.positions] must be the same for all calls of a vmap")
    return torch.ops.sextant.rotate(x.movedim(axes[0], 0).flatten(0, 1), *others).unflatten(0, (info.batch_size, -1)), 0


class TransformedTable(torch.autograd.Function):
    """sextant::table for torch.func, which does not see derivatives of torch.library's operators."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ids: Any, length: int, recipe: str, dtype: str, keys: bool, *weights: Any) -> Any:
        return tuple(torch.ops.sextant.table(list(weights), ids, length, recipe, dtype, keys))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ids, length, recipe, dtype, keys, *weights = inputs
        keep(ctx, (weights, ids, length, recipe, dtype, keys), output)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, None, None, None, None, *derive(ctx, gradients, TransformedTable.gradients)[0]

    @staticmethod
    def gradients(gradients: Any, weights: Any, *others: Any) -> Any:
        return TransformedTableGradient.apply(len(gradients), *others, *gradients, *weights)


class TransformedTableGradient(torch.autograd.Function):
    """sextant::table_backward for torch.func: flat, as functions of torch take tensors."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tables: int, ids: Any, length: int, recipe: str, *tensors: Any) -> Any:
        gradients, weights = list(tensors[:tables]), list(tensors[tables:])
        return tuple(torch.ops.sextant.table_backward(gradients, weights, ids, length, recipe))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise UnsupportedError(f"[PositionalLayer] {FIRST_ONLY.removeprefix('[sextant.torch] ').replace('attention has', 'weights have')}")


class TransformedRotation(torch.autograd.Function):
    """sextant::rotate for torch.func."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return torch.ops.sextant.rotate(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        keep_rotation(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        ids = ctx.saved_tensors[0] if ctx.saved_tensors else None
        turned = TransformedRotation.apply(gradient, ids, ctx.length, ctx.recipe, ctx.keys, not ctx.inverse)
        return turned, None, None, None, None, None


def seen_table(recipe: str, positions: Any, dtype: torch.dtype, weights: Sequence[torch.Tensor] = (), keys: bool = False, like: Any = None) -> Any:
    """The results of sextant::table; without memory where `like` has none."""
    ids, length = given_positions(positions)
    name = str(dtype).removeprefix("torch.")
    if not torch.compiler.is_compiling() and is_transformed():
        return TransformedTable.apply(ids, length, recipe, name, keys, *weights)
    results = torch.ops.sextant.table(list(weights), ids, length, recipe, name, keys)
    return results if like is None or not like.is_meta else [each.to("meta") for each in results]


def seen_rotation(x: torch.Tensor, recipe: str, positions: Any, keys: bool) -> torch.Tensor:
    """The result of sextant::rotate."""
    arguments = (x, *given_positions(positions), recipe, keys, False)
    if not torch.compiler.is_compiling() and is_transformed():
        return TransformedRotation.apply(*arguments)
    return torch.ops.sextant.rotate(*arguments)
