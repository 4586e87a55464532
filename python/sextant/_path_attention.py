"""PaTH attention: positions are products of reflections that the tokens choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from . import _core
from ._attention import AttentionGradients
from ._hints import refuse
from ._types import SameArray

if TYPE_CHECKING:
    from ._types import Array, Causal, HeadLayout, Numbers


@dataclass
class PathGradients(AttentionGradients[SameArray]):
    """The gradients of path_attention(): those of w and beta too."""

    dw: SameArray | None = None
    dbeta: SameArray | None = None


def path_attention(
    q: SameArray,
    k: Array,
    v: Array,
    w: Array,
    beta: Array,
    *,
    causal: Causal = True,
    out: Array | None = None,
    scale: float | None = None,
    sinks: Numbers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> SameArray:
    """Causal attention() with the scores s_ij = scale q_i^T H_i H_{i-1} .. H_{j+1} k_j, where H_t = I - beta_t w_t w_t^T.

    The matrices of a key head act on all its query heads. Arrays are used as given: the paper divides w by its length and has
    beta = 2 sigmoid(.). Where w, beta or k of a token have infinities or NaN, rows of its key head are NaN from that token on.

    Args:
        q: [batch, heads, length, head_dim] of float32, any strides; all arrays may lack the batch, or batch and heads
        k: [batch, kv_heads, length, head_dim] of the same dtype
        v: [batch, kv_heads, length, v_dim] of the same dtype
        w: [batch, kv_heads, length, head_dim] of the same dtype
        beta: [batch, kv_heads, length] of the same dtype, in every layout
        causal: True, "top_left" or "bottom_right", which are the same here
        out: where the result goes: [batch, heads, length, v_dim], any strides, not overlapping the rest
        scale, sinks, layout, threads: as in attention()

    Returns:
        out, or a new array [batch, heads, length, v_dim] of q's library.

    Raises:
        ValueError: shapes or values that do not fit; the message names the argument
        TypeError: an argument of another type or dtype

    Source:
        Yang et al. 2025, 2505.16381, section 2
    """
    if unknown:
        refuse("path_attention", unknown)
    options = dict(causal=causal, scale=scale, sinks=sinks, layout=layout, threads=threads)
    return _core.path_attention(q, k, v, out, dict(w=w, beta=beta), options)  # type: ignore[no-any-return]


def path_attention_backward(
    dout: Array,
    q: SameArray,
    k: Array,
    v: Array,
    w: Array,
    beta: Array,
    *,
    causal: Causal = True,
    scale: float | None = None,
    sinks: Numbers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> PathGradients[SameArray]:
    """The gradients of path_attention(q, k, v, w, beta, **options) of these arrays and sinks. The forward pass is computed once more.

    Args:
        dout: the loss's gradient of the output, [batch, heads, length, v_dim]
        q, k, v, w, beta: as path_attention() got them
        causal, scale, sinks, layout, threads: the same

    Returns:
        PathGradients, with the shapes of the inputs; dsinks where the call has sinks.

    Raises:
        ValueError, TypeError: as path_attention()
    """
    if unknown:
        refuse("path_attention_backward", unknown)
    options = dict(causal=causal, scale=scale, sinks=sinks, layout=layout, threads=threads)
    return PathGradients(**_core.path_attention_backward(dout, q, k, v, dict(w=w, beta=beta), options))
