"""Selective attention: tokens hide earlier tokens from the tokens after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import _core
from ._attention import AttentionGradients
from ._hints import refuse
from ._types import SameArray

if TYPE_CHECKING:
    from ._core import RotationTable
    from ._types import Array, Causal, HeadLayout, Numbers


def selective_attention(
    q: SameArray,
    k: Array,
    v: Array,
    *,
    selection_head: int = 0,
    causal: Causal = True,
    out: Array | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> SameArray:
    """Causal attention() in which each token takes from the scores of earlier tokens, for all tokens after it and all heads.

    With z the scores of selection_head, token i takes S_ij = max(z_ij, 0) from token j for 0 < j < i, and all scores of row i lose
    F_ij, the sum of S_lj over l < i.

    Args:
        q: [batch, heads, length, head_dim] of float32, any strides; all arrays may lack the batch, or batch and heads
        k: [batch, kv_heads, length, head_dim] of the same dtype
        v: [batch, kv_heads, length, v_dim] of the same dtype
        selection_head: the query head whose scores select, 0 .. heads - 1
        causal: True, "top_left" or "bottom_right", which are the same here
        out: where the result goes: [batch, heads, length, v_dim], any strides, not overlapping the rest
        scale, softcap, sinks, rotation, layout, threads: as in attention(); z is before the softcap

    Returns:
        out, or a new array [batch, heads, length, v_dim] of q's library.

    Raises:
        ValueError: shapes or values that do not fit; the message names the argument
        TypeError: an argument of another type or dtype

    Source:
        Leviathan et al. 2024, 2410.02703
    """
    if unknown:
        refuse("selective_attention", unknown)
    options = dict(causal=causal, scale=scale, softcap=softcap, sinks=sinks, rotation=rotation, layout=layout, threads=threads)
    return _core.selective_attention(q, k, v, out, dict(selection_head=selection_head), options)  # type: ignore[no-any-return]


def selective_attention_backward(
    dout: Array,
    q: SameArray,
    k: Array,
    v: Array,
    *,
    selection_head: int = 0,
    causal: Causal = True,
    scale: float | None = None,
    softcap: float = 0.0,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> AttentionGradients[SameArray]:
    """The gradients of selective_attention(q, k, v, **options) of q, k, v and sinks. The forward pass is computed once more.

    Args:
        dout: the loss's gradient of the output, [batch, heads, length, v_dim]
        q, k, v: as selective_attention() got them
        selection_head, causal, scale, softcap, sinks, rotation, layout, threads: the same

    Returns:
        AttentionGradients, with the shapes of the inputs; dsinks where the call has sinks.

    Raises:
        ValueError, TypeError: as selective_attention()
    """
    if unknown:
        refuse("selective_attention_backward", unknown)
    options = dict(causal=causal, scale=scale, softcap=softcap, sinks=sinks, rotation=rotation, layout=layout, threads=threads)
    return AttentionGradients(**_core.selective_attention_backward(dout, q, k, v, dict(selection_head=selection_head), options))
