"""Applying tables to arrays, and position ids of more than one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    from ._types import Array, HeadLayout, SameArray


def rotate(
    x: SameArray,
    table: _core.RotationTable,
    *,
    inverse: bool = False,
    out: Array | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
) -> SameArray:
    """Rotates pairs of channels of queries or keys: y1 = x1 cos - x2 sin, y2 = x1 sin + x2 cos.

    Args:
        x: [batch, heads, length, head_dim] of float32, bfloat16, float16 or float64, any strides; it may lack the batch, or
            batch and heads
        table: with a row for each position of x, of x's dtype, or of float32 for 16-bit x; keys take table.keys
        inverse: rotate back: the gradient of the forward rotation
        out: where the result goes, of x's shape and dtype; may be x itself
        layout: "bhld", or "blhd" for x [batch, length, heads, head_dim]
        threads: 0: as many as there are cores

    Returns:
        out, or a new array of x's library.

    Raises:
        ValueError, TypeError: naming the argument that does not fit

    Source:
        Su et al. 2021, 2104.09864
    """
    return _core.rotate(x, table, inverse, out, threads, layout)  # type: ignore[no-any-return]


def add_positions(x: SameArray, table: Array, *, out: Array | None = None) -> SameArray:
    """x + table: the vectors of an added scheme onto embeddings.

    Args:
        x: [..., length, width]
        table: [length, width] of x's dtype, as sextant.sinusoidal(length, width) gives
        out: where the sum goes, of x's shape and dtype; may be x itself

    Returns:
        out, or a new array of x's library; 16-bit sums are rounded once.

    Raises:
        ValueError, TypeError: naming the argument that does not fit
    """
    return _core.add_positions(x, table, out)  # type: ignore[no-any-return]
