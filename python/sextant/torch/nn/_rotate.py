"""Rotation of queries and keys, with gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.dlpack import to_dlpack

from ... import _core
from .._tensors import in_memory


class Rotate(torch.autograd.Function):
    """_core.rotate(): the gradient of a rotation is the rotation back."""

    @staticmethod
    def forward(ctx: Any, x: Any, table: _core.RotationTable, inverse: bool) -> Any:
        ctx.table, ctx.inverse = table, inverse
        x = in_memory("rotate.x", x).detach()  # the gradient of another rotation too
        out = torch.empty_like(x)
        _core.rotate(to_dlpack(x), table, inverse, to_dlpack(out), 0)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return Rotate.apply(gradient, ctx.table, not ctx.inverse), None, None


def rotated(x: torch.Tensor, table: Any, learned: tuple[torch.Tensor, torch.Tensor] | None = None) -> torch.Tensor:
    """x [batch, heads, length, head_dim] rotated by the table, or by learned cosines and sines of the table's form."""
    if learned is None:
        return Rotate.apply(x, table, False)
    cos, sin = learned
    first, count = table.first_channel, 2 * cos.shape[-1]
    before, part, after = x.split([first, count, x.shape[-1] - first - count], -1)
    pairs = part.unflatten(-1, (2, -1)) if table.layout == "half_split" else part.unflatten(-1, (-1, 2)).transpose(-1, -2)
    a, b = pairs.unbind(-2)
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], -2)
    part = turned.flatten(-2) if table.layout == "half_split" else turned.transpose(-1, -2).flatten(-2)
    return torch.cat([before, part, after], -1)
