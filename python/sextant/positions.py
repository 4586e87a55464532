"""Position ids: the number of each token, patch or frame, for the first argument of every scheme and for attention(positions=...).

Padding, packing, caches, images and prompts with images are lists of ids, made here. All are arrays of int64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Sequence, Tuple, Union

from . import _core

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from ._types import Array, Integers

__all__ = ["MropeIds", "cached", "fairseq", "grid", "mrope", "packed", "padded", "patches", "random", "shifted", "video"]

Segment = Union[Tuple[str, int], Tuple[str, int, int], Tuple[str, int, int, int], Tuple[str, int, int, int, float]]


def __dir__() -> list[str]:
    return sorted(__all__)


def packed(segments: Integers) -> NDArray[int64]:
    """Of sequences packed into one row: ids restart at 0 where a sequence begins.

    Args:
        segments: where each begins, then the length (cu_seqlens): 0 first, never falling

    Returns:
        [length]
    """
    return _core.packed_positions(segments)  # type: ignore[no-any-return]


def padded(mask: Array, pad_id: int = 0) -> NDArray[int64]:
    """Of padded sequences: the number of tokens before each in its sequence. Right for padding on the left, on the right and between.

    While decoding, give the mask of the cache and the new tokens and keep the last columns: cutting the mask first restarts the count.

    Args:
        mask: [batch, length] or [length] of bool or integers: True or 1 for a token (attention_mask of transformers)
        pad_id: the id of padding, 0 .. 2^53, which the scheme must have

    Returns:
        of the mask's shape
    """
    return _core.padded_positions(mask, pad_id)  # type: ignore[no-any-return]


def fairseq(mask: Array, padding_idx: int = 1) -> NDArray[int64]:
    """fairseq's ids (RoBERTa, XLM-R, BART, M2M100): padding_idx + 1 for the first token, padding_idx for padding.

    Args:
        mask: as of padded()
        padding_idx: the row of padding in the table, 0 or more

    Returns:
        of the mask's shape
    """
    return _core.fairseq_positions(mask, padding_idx)  # type: ignore[no-any-return]


def cached(past: Integers, length: int) -> NDArray[int64]:
    """Of tokens behind caches: row b is past[b], past[b] + 1, ...

    Args:
        past: how many tokens each cache holds, [batch]
        length: of the new tokens

    Returns:
        [batch, length]
    """
    return _core.cached_positions(past, length)  # type: ignore[no-any-return]


def grid(rows: int, columns: int) -> NDArray[int64]:
    """Row and column of each patch of an image, row by row: [rows * columns, 2], as sincos_2d, rotary_axial and alibi_2d take."""
    return _core.grid_positions(rows, columns)  # type: ignore[no-any-return]


def patches(height: int, width: int, patch: int | tuple[int, int] = 16) -> NDArray[int64]:
    """grid() of an image of height x width pixels, cut into patches of that side (or height and width), which must divide it."""
    from ._errors import ArgumentError
    from ._sources import integer_of

    sides = patch if isinstance(patch, tuple) else (patch, patch)
    if len(sides) != 2:
        raise ArgumentError(f"[patches.patch] must be a side or (height, width), got {patch!r}")
    counts = []
    for name, pixels, side in (("height", height, sides[0]), ("width", width, sides[1])):
        pixels, side = integer_of(pixels, f"patches.{name}"), integer_of(side, "patches.patch")
        if side < 1:
            raise ArgumentError(f"[patches.patch] must be 1 or more, got {side}")
        if pixels < 1 or pixels % side != 0:
            raise ArgumentError(f"[patches.{name}] must be a multiple of the patch's {side}, got {pixels}")
        counts.append(pixels // side)
    return grid(*counts)


def video(frames: int, rows: int, columns: int) -> NDArray[int64]:
    """Frame, row and column of each patch of a video: [frames * rows * columns, 3]."""
    return _core.video_positions(frames, rows, columns)  # type: ignore[no-any-return]


class MropeIds(NamedTuple):
    """What mrope() gives."""

    ids: NDArray[int64]
    """Time, height and width of each token, [tokens, 3]."""
    next: int
    """The id of the next text token, on all axes."""
    delta: int
    """next less the number of tokens (rope_delta). While decoding, the token at index n has id n + delta."""


def mrope(segments: Sequence[Segment], pad_id: int = 1) -> MropeIds:
    """Of a prompt of text and images, for rotary_sections (M-RoPE of Qwen2-VL, 2409.12191). Vision begins at the next id s and has
    s + frame, s + row, s + column; the next id is 1 + the largest so far.

    Args:
        segments: ("text", length), ("image", rows, columns) and ("video", frames, rows, columns) in merged patches, ("padding", length);
            a fifth number of a video is the step of ids from frame to frame (Qwen2.5-VL: seconds per frame x tokens per second)
        pad_id: of padding, which is not counted
    """
    return MropeIds(*_core.mrope_positions(segments, pad_id))


def random(length: int, max_length: int, seed: int = 0) -> NDArray[int64]:
    """`length` different ids of 0 .. max_length - 1 in ascending order, all choices equally likely (2305.16843)."""
    return _core.random_positions(length, max_length, seed)  # type: ignore[no-any-return]


def shifted(length: int, max_shift: int, seed: int = 0) -> NDArray[int64]:
    """o, o + 1, ... with one o of 0 .. max_shift for the whole sequence (SHAPE, 2109.05644); at test o is 0."""
    return _core.shifted_positions(length, max_shift, seed)  # type: ignore[no-any-return]
