"""Stick-breaking attention: weights without a softmax and without positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import _core
from ._attention import AttentionGradients
from ._hints import refuse
from ._types import SameArray

if TYPE_CHECKING:
    from ._types import Array, Causal, HeadLayout, Integers


def stick_breaking_attention(
    q: SameArray,
    k: Array,
    v: Array,
    *,
    current: bool = False,
    causal: Causal = True,
    out: Array | None = None,
    scale: float | None = None,
    mask: Array | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> SameArray:
    """Attention with shares of a stick as weights: A_ij = sigmoid(z_ij) times the product of 1 - sigmoid(z_il) over keys l after j.

    z_ij = scale <q_i, k_j>. The newest key takes its share of a stick of length 1, each older key its share of what is left; weights of a
    row sum to at most 1. What is left of each row is 1 minus the output of a channel of v that is 1 for all keys. Scores are
    float32, sums over keys float64; a key has weight 0 when later keys have taken all but e^-150 of the stick.

    Args:
        q: [batch, heads, q_len, head_dim] of float32, any strides; all arrays may lack the batch, or batch and heads
        k: [batch, kv_heads, k_len, head_dim] of the same dtype
        v: [batch, kv_heads, k_len, v_dim] of the same dtype
        current: whether a query attends to its own position
        causal: as in attention(), but not None or "none"
        out: where the result goes: [batch, heads, q_len, v_dim], any strides, not overlapping the rest
        mask: bool, as in attention(): a hidden key takes nothing
        scale, key_lengths, query_offsets, layout, threads: as in attention()

    Returns:
        out, or a new array [batch, heads, q_len, v_dim] of q's library.

    Raises:
        ValueError: shapes or values that do not fit; the message names the argument
        TypeError: an argument of another type or dtype

    Source:
        Tan et al. 2024, 2410.17980, section 2
    """
    if unknown:
        refuse("stick_breaking_attention", unknown)
    options = dict(
        causal=causal, scale=scale, mask=mask, key_lengths=key_lengths, query_offsets=query_offsets, layout=layout, threads=threads,
    )  # fmt: skip
    return _core.stick_breaking_attention(q, k, v, out, dict(current=current), options)  # type: ignore[no-any-return]


def stick_breaking_backward(
    dout: Array,
    q: SameArray,
    k: Array,
    v: Array,
    *,
    current: bool = False,
    causal: Causal = True,
    scale: float | None = None,
    mask: Array | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> AttentionGradients[SameArray]:
    """The gradients of stick_breaking_attention(q, k, v, **options) of q, k and v. The forward pass is computed once more.

    Args:
        dout: the loss's gradient of the output, [batch, heads, q_len, v_dim]
        q, k, v: as stick_breaking_attention() got them
        current, causal, scale, mask, key_lengths, query_offsets, layout, threads: the same

    Returns:
        AttentionGradients, with the shapes of the inputs.

    Raises:
        ValueError, TypeError: as stick_breaking_attention()
    """
    if unknown:
        refuse("stick_breaking_backward", unknown)
    options = dict(
        causal=causal, scale=scale, mask=mask, key_lengths=key_lengths, query_offsets=query_offsets, layout=layout, threads=threads,
    )  # fmt: skip
    return AttentionGradients(**_core.stick_breaking_backward(dout, q, k, v, dict(current=current), options))
