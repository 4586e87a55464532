"""The attention operator: one function for every scheme, its gradients, its weights, its plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from ._options import Options, with_options

if TYPE_CHECKING:
    from typing import Sequence

    from typing_extensions import Unpack

    from ._types import Array, Stage


@with_options
def attention(
    q: Array, k: Array, v: Array, *, out: Array | None = None, log_sum_exp: Array | None = None, **options: Unpack[Options]
) -> Any:
    """softmax(scale q k^T + biases and masks) v, for every scheme, in memory that is linear in the length.

    Order: rotation, scale, content term, softcap, biases and masks, softmax. A row that sees no key is zeros; hidden keys and
    values are not read. The bits of a row do not depend on threads, batch, packing or chunks.

    Args:
        q: [batch, heads, q_len, head_dim] of float32, bfloat16, float16 or float64, any strides
        k: [batch, kv_heads, k_len, head_dim] of the same dtype; heads is a multiple of kv_heads
        v: [batch, kv_heads, k_len, v_dim] of the same dtype
        out: where the result goes: [batch, heads, q_len, v_dim], any strides, not overlapping the rest
        log_sum_exp: where log(sum(exp(scores))) of each row goes: [batch, heads, q_len] of float32

    OPTIONS

    Returns:
        out, or a new array [batch, heads, q_len, v_dim] of q's library and dtype.

    Raises:
        ValueError: shapes or values that do not fit; the message names the argument
        TypeError: an argument of another type or dtype

    Source:
        Vaswani et al. 2017, 1706.03762, equation 1; tiles with running maxima: Dao 2023, 2307.08691
    """
    return _core.attention(q, k, v, out, log_sum_exp, options)  # type: ignore[arg-type]


@dataclass
class AttentionGradients:
    """Gradients of a loss; None where the call had no such input. dbias, dmask, dslopes and dsinks are summed over the batch."""

    dq: Any
    dk: Any
    dv: Any
    dbias: Any = None
    dmask: Any = None
    dslopes: Any = None
    dsinks: Any = None
    dterms: list[Any] | None = None  # of the parameters of each ScoreTerm of the bias; None for one that has none


@with_options
def attention_backward(
    dout: Array,
    q: Array,
    k: Array,
    v: Array,
    *,
    output: Array | None = None,
    log_sum_exp: Array | None = None,
    **options: Unpack[Options],
) -> AttentionGradients:
    """The gradients of attention(q, k, v, **options). No array of q_len x k_len is made.

    Args:
        dout: the loss's gradient of the output, [batch, heads, q_len, v_dim]
        q, k, v: as attention() got them
        output, log_sum_exp: what attention() gave; without them the forward pass is computed once more

    OPTIONS

    Returns:
        AttentionGradients, with the shapes of the inputs.

    Raises:
        ValueError, TypeError: as attention()

    Source:
        Dao 2023, 2307.08691, section 3.1
    """
    return AttentionGradients(**_core.attention_backward(dout, q, k, v, output, log_sum_exp, options))  # type: ignore[arg-type]


@with_options
def attention_weights(
    q: Array,
    k: Array,
    *,
    stage: Stage = "probabilities",
    rows: Sequence[int] | Array | None = None,
    heads: Sequence[int] | Array | None = None,
    **options: Unpack[Options],
) -> Any:
    """The weights of attention, of chosen heads and rows, in memory that is the result's.

    Args:
        q: [batch, heads, q_len, head_dim]
        k: [batch, kv_heads, k_len, head_dim]
        stage: "scores" (scale q k^T), "capped" (after content term and softcap), "biased" (after biases and masks; hidden
            pairs are -inf) or "probabilities" (hidden pairs are 0). The first two show hidden pairs and padding too,
            without a content term; pairs of different segments are -inf
        rows: which queries; None: all
        heads: which query heads; None: all

    OPTIONS

    Returns:
        [batch, heads, rows, k_len] of q's library and dtype.

    Raises:
        ValueError, TypeError: as attention()
    """
    return _core.attention_weights(q, k, stage, rows, heads, options)  # type: ignore[arg-type]


@dataclass
class WeightStatistics:
    """What attention_statistics() gives."""

    entropy: Any  # [batch, heads, q_len], nats
    log_sum_exp: Any  # [batch, heads, q_len]
    top_keys: Any  # [batch, heads, q_len, top]: keys with the largest weights, -1 where there are fewer
    top_weights: Any  # [batch, heads, q_len, top]
    mass: Any  # [batch, heads, k_len]: the sum of a key's weights over all queries


@with_options
def attention_statistics(q: Array, k: Array, *, top: int = 5, **options: Unpack[Options]) -> WeightStatistics:
    """Statistics of attention weights of any length, without storing the weights.

    Args:
        q: [batch, heads, q_len, head_dim]
        k: [batch, kv_heads, k_len, head_dim]
        top: how many keys to list per row, 0 .. 1024

    OPTIONS

    Returns:
        WeightStatistics, arrays of float32 (top_keys: int64).

    Raises:
        ValueError, TypeError: as attention()
    """
    return WeightStatistics(**_core.attention_statistics(q, k, top, options))  # type: ignore[arg-type]


@with_options
def plan(q: Array, k: Array, v: Array, **options: Unpack[Options]) -> _core.AttentionPlan:
    """What attention(q, k, v, **options) will do: kernel, instruction set, tiles, threads, scratch memory.

    OPTIONS

    Returns:
        An AttentionPlan; explain() says it in a few lines, with what makes the call slower than it could be.

    Raises:
        ValueError, TypeError: as attention()
    """
    return _core.plan(q, k, v, options)  # type: ignore[arg-type]
