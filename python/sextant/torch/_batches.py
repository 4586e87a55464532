"""Rules for torch.func.vmap: a batch of calls of the operators is one call with more sequences, or a call for each."""

from __future__ import annotations

from typing import Any, Callable

import torch

from ._function import LEARNED
from ._operator import INDICES, OPTIONS, backward, forward


def fold(tensor: torch.Tensor, axis: int | None, size: int) -> torch.Tensor:
    """[batch, ...] of each call as [size * batch, ...]."""
    return (tensor.expand(size, *tensor.shape) if axis is None else tensor.movedim(axis, 0)).flatten(0, 1)


def fold_mask(mask: Any, axis: int | None, size: int, batch: int) -> Any:
    if mask is None or axis is None and (mask.ndim < 4 or mask.shape[0] == 1):
        return mask
    mask = mask.expand(size, *mask.shape) if axis is None else mask.movedim(axis, 0)
    mask = mask.reshape(size, *[1] * (5 - mask.ndim), *mask.shape[1:])
    return mask.expand(size, batch, *mask.shape[2:]).flatten(0, 1)


def folded(options: Any, mask_axis: int | None, size: int, batch: int) -> list[Any]:
    """Options that have a number or a row for each sequence, of all calls."""
    made = dict(zip(OPTIONS, options))
    made["mask"] = fold_mask(made["mask"], mask_axis, size, batch)
    for name in INDICES:
        given = made[name]
        each = "lengths" in name or "offsets" in name
        if given is not None and (each or given.ndim == 2 and given.shape[0] == batch):
            made[name] = given.repeat(size, *[1] * (given.ndim - 1))
    return list(made.values())


def one_by_one(call: Callable[..., Any], size: int, axes: Any, arguments: Any) -> list[torch.Tensor]:
    results = []
    for i in range(size):
        results.append(call(*(value if axis is None else value.select(axis, i) for axis, value in zip(axes, arguments))))
    return [torch.stack(each) for each in zip(*results)]


def has_dropout(options: Any) -> bool:
    """Whether what is computed depends on the index of a sequence among those of a call."""
    return dict(zip(OPTIONS, options))["dropout"] != 0


def axis_of(axis: Any) -> Any:
    return axis if isinstance(axis, int) else None  # lists of numbers have a list of them


def forward_of_a_batch(info: Any, axes: Any, *arguments: Any) -> Any:
    axes, size = [axis_of(axis) for axis in axes], info.batch_size
    if size == 0 or any(axis is not None for axis in axes[4:]) or has_dropout(arguments[3:]):
        made = one_by_one(torch.ops.sextant.attention, size, axes, arguments)
    else:
        query, key, value = (fold(tensor, axis, size) for tensor, axis in zip(arguments[:3], axes))
        options = folded(arguments[3:], axes[3], size, query.shape[0] // size)
        made = [out.unflatten(0, (size, -1)) for out in torch.ops.sextant.attention(query, key, value, *options)]
    return tuple(made), (0, 0)


def backward_of_a_batch(info: Any, axes: Any, *arguments: Any) -> Any:
    axes, size, wanted = [axis_of(axis) for axis in axes], info.batch_size, arguments[-1]
    if size == 0 or any(axis is not None for axis in axes[7:]) or any(wanted[3:]) or has_dropout(arguments[6:]):
        made = one_by_one(torch.ops.sextant.attention_backward, size, axes, arguments)
    else:
        tensors = [fold(tensor, axis, size) for tensor, axis in zip(arguments[:6], axes)]
        options = folded(arguments[6:-1], axes[6], size, tensors[0].shape[0] // size)
        made = [out.unflatten(0, (size, -1)) for out in torch.ops.sextant.attention_backward(*tensors, *options, wanted)]
    return made, [0] * len(made)


torch.library.register_vmap(forward, forward_of_a_batch)
torch.library.register_vmap(backward, backward_of_a_batch)
assert OPTIONS[: len(LEARNED)] == LEARNED
