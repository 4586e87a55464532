"""Self-Extend and ReRoPE: attention with grouped distances beyond a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import _core
from ._attention import AttentionGradients
from ._hints import refuse
from ._types import SameArray

if TYPE_CHECKING:
    from ._core import RotationTable
    from ._types import Array, Causal, HeadLayout, Integers, Numbers


def self_extend_attention(
    q: SameArray,
    k: Array,
    v: Array,
    *,
    rotation: RotationTable,
    window: int = 1024,
    group: int = 8,
    causal: Causal = True,
    out: Array | None = None,
    mask: Array | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    sinks: Numbers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> SameArray:
    """attention() with a rotation by exact distances below a window and by grouped ones from it on.

    The distance of the query at position i and the key at position j <= i is i - j below the window, else
    i // group - j // group + window - window // group. A model so reads texts that are longer than those of its training.
    With a group above all positions every far key is at distance `window`, which is ReRoPE.

    Args:
        q: [batch, heads, q_len, head_dim] of float32, any strides; all arrays may lack the batch, or batch and heads
        k: [batch, kv_heads, k_len, head_dim] of the same dtype
        v: [batch, kv_heads, k_len, v_dim] of the same dtype
        rotation: a RotationTable of float32 with a row for every position of queries and keys
        window: distances below it are exact, 1 .. 2^53
        group: positions of a group beyond, 1 .. 2^53; 1: plain rotary attention
        causal: as in attention(), but not None or "none"
        out: where the result goes: [batch, heads, q_len, v_dim], any strides, not overlapping the rest
        mask, scale, softcap, dropout, dropout_seed, key_lengths, query_offsets, sinks, layout, threads: as in attention()

    Returns:
        out, or a new array [batch, heads, q_len, v_dim] of q's library.

    Raises:
        ValueError: shapes or values that do not fit; the message names the argument
        TypeError: an argument of another type or dtype

    Source:
        Jin et al. 2024, 2401.01325, section 3; ReRoPE: Su 2023, kexue.fm/archives/9706
    """
    if unknown:
        refuse("self_extend_attention", unknown)
    options = dict(
        causal=causal, mask=mask, scale=scale, softcap=softcap, dropout=dropout, dropout_seed=dropout_seed,
        key_lengths=key_lengths, query_offsets=query_offsets, sinks=sinks, rotation=rotation, layout=layout, threads=threads,
    )  # fmt: skip
    return _core.self_extend_attention(q, k, v, out, dict(window=window, group=group), options)  # type: ignore[no-any-return]


def self_extend_backward(
    dout: Array,
    q: SameArray,
    k: Array,
    v: Array,
    *,
    rotation: RotationTable,
    window: int = 1024,
    group: int = 8,
    causal: Causal = True,
    mask: Array | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    sinks: Numbers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> AttentionGradients[SameArray]:
    """The gradients of self_extend_attention(q, k, v, **options) of q, k, v and sinks. The forward pass is computed once more.

    Args:
        dout: the loss's gradient of the output, [batch, heads, q_len, v_dim]
        q, k, v: as self_extend_attention() got them
        rotation, window, group, causal, mask, scale, softcap, dropout, dropout_seed, key_lengths, query_offsets, sinks, layout, threads: the
            same

    Returns:
        AttentionGradients, with the shapes of the inputs; dsinks where the call has sinks.

    Raises:
        ValueError, TypeError: as self_extend_attention()
    """
    if unknown:
        refuse("self_extend_backward", unknown)
    options = dict(
        causal=causal, mask=mask, scale=scale, softcap=softcap, dropout=dropout, dropout_seed=dropout_seed,
        key_lengths=key_lengths, query_offsets=query_offsets, sinks=sinks, rotation=rotation, layout=layout, threads=threads,
    )  # fmt: skip
    return AttentionGradients(**_core.self_extend_backward(dout, q, k, v, dict(window=window, group=group), options))
