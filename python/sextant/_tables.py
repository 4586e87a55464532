"""Applying tables to arrays, and position ids of more than one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from . import _core

if TYPE_CHECKING:
    from ._types import Array, HeadLayout, Numbers, ResizeConvention, SameArray


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
        threads: number of threads; 0: all cores

    Returns:
        out, or a new array of x's library.

    Raises:
        ValueError, TypeError: naming the argument that does not fit

    Source:
        Su et al. 2021, 2104.09864
    """
    return _core.rotate(x, table, inverse, out, threads, layout)  # type: ignore[no-any-return]


def polar_rows(
    x: SameArray,
    offsets: Numbers | Array | None = None,
    *,
    out: Array | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
) -> SameArray:
    """Rows of queries or keys in polar coordinates, for PoPE: softplus(x) cos(offset), then softplus(x) sin(offset).

    attention() of such rows is PoPE, with rotation=rotary(length, 2 * head_dim) and scale=head_dim ** -0.5: the score is scale times
    the sum over channels c of softplus(q_c) softplus(k_c) cos((j - i) base ** (-c / head_dim) + offset_c).

    Args:
        x: [batch, heads, length, head_dim] of float32, any strides; it may lack the batch, or batch and heads
        offsets: phases in radians, [head_dim] or [heads, head_dim], for keys; None: 0, for queries
        out: where the result goes, [batch, heads, length, 2 * head_dim]
        layout: "bhld", or "blhd" for x [batch, length, heads, head_dim]
        threads: number of threads; 0: all cores

    Returns:
        out, or a new array of x's library.

    Raises:
        ValueError, TypeError: naming the argument that does not fit

    Source:
        Gopalakrishnan et al. 2025, 2509.10534, section 3
    """
    return _core.polar_rows(x, offsets, out, threads, layout)  # type: ignore[no-any-return]


def polar_rows_backward(
    dout: Array,
    x: SameArray,
    offsets: Numbers | Array | None = None,
    *,
    layout: HeadLayout = "bhld",
    threads: int = 0,
) -> tuple[SameArray, Array | None]:
    """The gradients of polar_rows(x, offsets) of x and of the offsets, summed over batch and length.

    Args:
        dout: the loss's gradient of the rows, [batch, heads, length, 2 * head_dim]
        x, offsets, layout, threads: as polar_rows() got them

    Returns:
        (dx, doffsets): of x's shape, and float64 of the offsets' shape; None without offsets.

    Raises:
        ValueError, TypeError: naming the argument that does not fit
    """
    return _core.polar_rows_backward(dout, x, offsets, threads, layout)


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


def resize_grid(
    table: SameArray,
    new_size: int | tuple[int, int],
    *,
    old_size: int | tuple[int, int] | None = None,
    prefix: int = 0,
    method: Literal["bilinear", "bicubic"] = "bicubic",
    convention: ResizeConvention = "torch",
) -> SameArray:
    """Learned positions of a grid of patches for a grid of another size, as vision models do for larger images.

    Args:
        table: [prefix + rows * columns, width], its patches row by row, of float32, bfloat16, float16 or float64
        new_size: rows and columns of the result, or the side of a square
        old_size: those of the table; None: a square
        prefix: rows in front of the grid that stay: of a class token, of registers
        method: "bilinear" or "bicubic"
        convention: whose weights: "torch" (F.interpolate(), as Hugging Face's ViT), "torch_antialias" (antialias=True, as timm),
            "torch_corners" (align_corners=True) or "jax" (jax.image.resize())

    Returns:
        [prefix + new rows * new columns, width] of the table's library and dtype, rounded once.

    Raises:
        ValueError, TypeError: naming the argument that does not fit

    Source:
        Dosovitskiy et al. 2020, 2010.11929, section 3.2
    """
    return _core.resize_grid(table, new_size, old_size, prefix, method, convention)  # type: ignore[no-any-return]
