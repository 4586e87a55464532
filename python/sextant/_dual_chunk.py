"""Dual chunk attention: distances that stay below a model's trained length."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import _core
from ._attention import AttentionGradients
from ._hints import refuse
from ._types import SameArray

if TYPE_CHECKING:
    from ._core import RotationTable
    from ._types import Array, Causal, HeadLayout, Integers, Numbers


def dual_chunk_attention(
    q: SameArray,
    k: Array,
    v: Array,
    *,
    rotation: RotationTable,
    chunk_size: int = 262144,
    local_size: int = 8192,
    causal: Causal = True,
    out: Array | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    sinks: Numbers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> SameArray:
    """attention() with a rotation by distances below chunk_size, for texts of any length, as Qwen2.5-1M has it.

    With s = chunk_size - local_size, the distance of the query at position i and the key at position j <= i is i - j in the same chunk of
    s positions, min(s + i % s, chunk_size - 1) - j % s in neighbouring chunks, and chunk_size - 1 - j % s in others.

    Args:
        q: [batch, heads, q_len, head_dim] of float32, any strides; all arrays may lack the batch, or batch and heads
        k: [batch, kv_heads, k_len, head_dim] of the same dtype
        v: [batch, kv_heads, k_len, v_dim] of the same dtype
        rotation: a RotationTable of float32 with rows 0 .. chunk_size - 1, fewer if the text is shorter
        chunk_size: the trained length, 2 .. 2^53
        local_size: positions of a chunk whose distances to the chunk before are exact, 1 .. chunk_size - 1
        causal: as in attention(), but not None or "none"
        out: where the result goes: [batch, heads, q_len, v_dim], any strides, not overlapping the rest
        scale, softcap, key_lengths, query_offsets, sinks, layout, threads: as in attention()

    Returns:
        out, or a new array [batch, heads, q_len, v_dim] of q's library.

    Raises:
        ValueError: shapes or values that do not fit; the message names the argument
        TypeError: an argument of another type or dtype

    Source:
        An et al. 2024, 2402.17463, section 3
    """
    if unknown:
        refuse("dual_chunk_attention", unknown)
    options = dict(
        causal=causal, scale=scale, softcap=softcap, key_lengths=key_lengths, query_offsets=query_offsets, sinks=sinks,
        rotation=rotation, layout=layout, threads=threads,
    )  # fmt: skip
    return _core.dual_chunk_attention(q, k, v, out, dict(chunk_size=chunk_size, local_size=local_size), options)  # type: ignore[no-any-return]


def dual_chunk_backward(
    dout: Array,
    q: SameArray,
    k: Array,
    v: Array,
    *,
    rotation: RotationTable,
    chunk_size: int = 262144,
    local_size: int = 8192,
    causal: Causal = True,
    scale: float | None = None,
    softcap: float = 0.0,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    sinks: Numbers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> AttentionGradients[SameArray]:
    """The gradients of dual_chunk_attention(q, k, v, **options) of q, k, v and sinks. The forward pass is computed once more.

    Args:
        dout: the loss's gradient of the output, [batch, heads, q_len, v_dim]
        q, k, v: as dual_chunk_attention() got them
        rotation, chunk_size, local_size, causal, scale, softcap, key_lengths, query_offsets, sinks, layout, threads: the same

    Returns:
        AttentionGradients, with the shapes of the inputs; dsinks where the call has sinks.

    Raises:
        ValueError, TypeError: as dual_chunk_attention()
    """
    if unknown:
        refuse("dual_chunk_backward", unknown)
    options = dict(
        causal=causal, scale=scale, softcap=softcap, key_lengths=key_lengths, query_offsets=query_offsets, sinks=sinks,
        rotation=rotation, layout=layout, threads=threads,
    )  # fmt: skip
    return AttentionGradients(**_core.dual_chunk_backward(dout, q, k, v, dict(chunk_size=chunk_size, local_size=local_size), options))
