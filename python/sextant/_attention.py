"""The attention operator: one function for every scheme, its gradients, its weights, its plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

from . import _core
from ._hints import refuse
from ._types import SameArray

if TYPE_CHECKING:
    from typing import NoReturn

    from ._core import RotationTable
    from ._types import Array, Bias, Causal, HeadLayout, Integers, MatmulPrecision, Numbers, Stage


@overload
def attention(
    q: SameArray,
    k: Array,
    v: Array,
    *,
    out: Array | None = None,
    log_sum_exp: Array | None = None,
    return_log_sum_exp: Literal[False] = False,
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    mask: Array | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    matmul_precision: MatmulPrecision = "float32",
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> SameArray: ...
@overload
def attention(
    q: SameArray,
    k: Array,
    v: Array,
    *,
    out: Array | None = None,
    log_sum_exp: Array | None = None,
    return_log_sum_exp: Literal[True],
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    mask: Array | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    matmul_precision: MatmulPrecision = "float32",
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> tuple[SameArray, SameArray]: ...
def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    out: Array | None = None,
    log_sum_exp: Array | None = None,
    return_log_sum_exp: bool = False,
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    mask: Array | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    matmul_precision: MatmulPrecision = "float32",
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> Any:
    """softmax(scale q k^T + biases and masks) v, for every scheme, in memory that is linear in the length.

    Order: rotation, scale, content term, softcap, biases and masks, softmax. A row that sees no key is zeros; hidden keys and
    values are not read. The bits of a row do not depend on threads, batch, packing or chunks.

    Args:
        q: [batch, heads, q_len, head_dim] of float32, bfloat16, float16 or float64, any strides; all arrays may lack the
            batch, or batch and heads
        k: [batch, kv_heads, k_len, head_dim] of the same dtype; heads is a multiple of kv_heads
        v: [batch, kv_heads, k_len, v_dim] of the same dtype
        out: where the result goes: [batch, heads, q_len, v_dim], any strides, not overlapping the rest
        log_sum_exp: where log(sum(exp(scores))) of each row goes: [batch, heads, q_len] of float32
        return_log_sum_exp: give (out, log_sum_exp)

    Options, which may all be combined:
        causal: visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the last
            query sees every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if q_len equals
            k_len, where they agree
        window: (left, right): number of visible keys before and after the diagonal; -1: all
        mask: bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads,
            q_len, k_len], any strides
        bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by a
            scheme: DistanceBias, ScoreTerm, or a list of them, at most one by distance and one before the softcap; made
            for the heads of q and for all tokens
        slopes: [heads]: adds -slope * |distance|
        scale: factor of the scores, within +-1e38; None: 1 / sqrt(head_dim), or the factor of the term
        softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
        dropout: probability that a weight is dropped (training), 0 .. 1, less than 1; the others are divided by 1 -
            dropout; not in log_sum_exp
        dropout_seed: seed that selects the dropped weights: the same for backward, another one for the next step
        matmul_precision: to what the factors of the two products may be rounded: "bfloat16" where the processor
            multiplies those faster, for inference; the plan says whether it does
        segments: packed sequences: the start of each, then the length (cu_seqlens)
        key_segments: the same for keys
        key_lengths: [batch]: keys from this index on are padding
        query_offsets: [batch]: the key on the diagonal of each sequence's query 0
        positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
        sinks: [heads]: attention sinks, an additional logit per head in the softmax, without a value
        rotation: a RotationTable of float32 that rotates queries and keys inside the call
        layout: order of the axes of q, k, v, out and their gradients: "bhld" is [batch, heads, length, channels],
            "blhd" [batch, length, heads, channels]; masks, weights and log_sum_exp keep theirs
        threads: number of threads; 0: all cores; results do not depend on it

    Returns:
        out, or a new array [batch, heads, q_len, v_dim] of q's library and dtype; with return_log_sum_exp that and the
        log-sum-exp.

    Raises:
        ValueError: shapes or values that do not fit; the message names the argument
        TypeError: an argument of another type or dtype

    Source:
        Vaswani et al. 2017, 1706.03762, equation 1; tiles with running maxima: Dao 2023, 2307.08691
    """
    if unknown:
        refuse("attention", unknown)
    options = dict(  # by generate.py
        causal=causal, window=window, mask=mask, bias=bias, slopes=slopes, scale=scale, softcap=softcap,
        dropout=dropout, dropout_seed=dropout_seed, matmul_precision=matmul_precision, segments=segments,
        key_segments=key_segments, key_lengths=key_lengths, query_offsets=query_offsets, positions=positions,
        sinks=sinks, rotation=rotation, layout=layout, threads=threads,
    )
    return _core.attention(q, k, v, out, log_sum_exp, options, return_log_sum_exp)


@dataclass
class AttentionGradients(Generic[SameArray]):
    """Gradients of a loss; None where the call had no such input. dbias, dmask, dslopes and dsinks are summed over the batch."""

    dq: SameArray
    dk: SameArray
    dv: SameArray
    dbias: SameArray | None = None
    dmask: SameArray | None = None
    dslopes: SameArray | None = None
    dsinks: SameArray | None = None
    dterms: list[SameArray | None] | None = None  # of the parameters of each ScoreTerm of the bias; None for one that has none


def attention_backward(
    dout: Array,
    q: SameArray,
    k: Array,
    v: Array,
    *,
    out: Array | None = None,
    log_sum_exp: Array | None = None,
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    mask: Array | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    matmul_precision: MatmulPrecision = "float32",
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> AttentionGradients[SameArray]:
    """The gradients of attention(q, k, v, **options). No array of q_len x k_len is made.

    Args:
        dout: the loss's gradient of the output, [batch, heads, q_len, v_dim]
        q, k, v: as attention() got them
        out, log_sum_exp: what attention() gave; without them the forward pass is computed once more

    Options, which may all be combined:
        causal: visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the last
            query sees every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if q_len equals
            k_len, where they agree
        window: (left, right): number of visible keys before and after the diagonal; -1: all
        mask: bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads,
            q_len, k_len], any strides
        bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by a
            scheme: DistanceBias, ScoreTerm, or a list of them, at most one by distance and one before the softcap; made
            for the heads of q and for all tokens
        slopes: [heads]: adds -slope * |distance|
        scale: factor of the scores, within +-1e38; None: 1 / sqrt(head_dim), or the factor of the term
        softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
        dropout: probability that a weight is dropped (training), 0 .. 1, less than 1; the others are divided by 1 -
            dropout; not in log_sum_exp
        dropout_seed: seed that selects the dropped weights: the same for backward, another one for the next step
        matmul_precision: to what the factors of the two products may be rounded: "bfloat16" where the processor
            multiplies those faster, for inference; the plan says whether it does
        segments: packed sequences: the start of each, then the length (cu_seqlens)
        key_segments: the same for keys
        key_lengths: [batch]: keys from this index on are padding
        query_offsets: [batch]: the key on the diagonal of each sequence's query 0
        positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
        sinks: [heads]: attention sinks, an additional logit per head in the softmax, without a value
        rotation: a RotationTable of float32 that rotates queries and keys inside the call
        layout: order of the axes of q, k, v, out and their gradients: "bhld" is [batch, heads, length, channels],
            "blhd" [batch, length, heads, channels]; masks, weights and log_sum_exp keep theirs
        threads: number of threads; 0: all cores; results do not depend on it

    Returns:
        AttentionGradients, with the shapes of the inputs.

    Raises:
        ValueError, TypeError: as attention()

    Source:
        Dao 2023, 2307.08691, section 3.1
    """
    if unknown:
        refuse("attention_backward", unknown)
    options = dict(  # by generate.py
        causal=causal, window=window, mask=mask, bias=bias, slopes=slopes, scale=scale, softcap=softcap,
        dropout=dropout, dropout_seed=dropout_seed, matmul_precision=matmul_precision, segments=segments,
        key_segments=key_segments, key_lengths=key_lengths, query_offsets=query_offsets, positions=positions,
        sinks=sinks, rotation=rotation, layout=layout, threads=threads,
    )
    return AttentionGradients(**_core.attention_backward(dout, q, k, v, out, log_sum_exp, options))


def attention_weights(
    q: SameArray,
    k: Array,
    *,
    stage: Stage = "probabilities",
    rows: Integers | None = None,
    heads: Integers | None = None,
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    mask: Array | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    matmul_precision: MatmulPrecision = "float32",
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> SameArray:
    """The weights of attention, of chosen heads and rows, in memory that is the result's.

    Args:
        q: [batch, heads, q_len, head_dim]
        k: [batch, kv_heads, k_len, head_dim]
        stage: "scores" (scale q k^T), "capped" (after content term and softcap), "biased" (after biases and masks; hidden
            pairs are -inf) or "probabilities" (hidden pairs are 0). The first two show hidden pairs and padding too,
            without a content term; pairs of different segments are -inf
        rows: which queries; None: all
        heads: which query heads; None: all

    Options, which may all be combined:
        causal: visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the last
            query sees every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if q_len equals
            k_len, where they agree
        window: (left, right): number of visible keys before and after the diagonal; -1: all
        mask: bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads,
            q_len, k_len], any strides
        bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by a
            scheme: DistanceBias, ScoreTerm, or a list of them, at most one by distance and one before the softcap; made
            for the heads of q and for all tokens
        slopes: [heads]: adds -slope * |distance|
        scale: factor of the scores, within +-1e38; None: 1 / sqrt(head_dim), or the factor of the term
        softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
        dropout: probability that a weight is dropped (training), 0 .. 1, less than 1; the others are divided by 1 -
            dropout; not in log_sum_exp
        dropout_seed: seed that selects the dropped weights: the same for backward, another one for the next step
        matmul_precision: to what the factors of the two products may be rounded: "bfloat16" where the processor
            multiplies those faster, for inference; the plan says whether it does
        segments: packed sequences: the start of each, then the length (cu_seqlens)
        key_segments: the same for keys
        key_lengths: [batch]: keys from this index on are padding
        query_offsets: [batch]: the key on the diagonal of each sequence's query 0
        positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
        sinks: [heads]: attention sinks, an additional logit per head in the softmax, without a value
        rotation: a RotationTable of float32 that rotates queries and keys inside the call
        layout: order of the axes of q, k, v, out and their gradients: "bhld" is [batch, heads, length, channels],
            "blhd" [batch, length, heads, channels]; masks, weights and log_sum_exp keep theirs
        threads: number of threads; 0: all cores; results do not depend on it

    Returns:
        [batch, heads, rows, k_len] of q's library and dtype.

    Raises:
        ValueError, TypeError: as attention()
    """
    if unknown:
        refuse("attention_weights", unknown)
    options = dict(  # by generate.py
        causal=causal, window=window, mask=mask, bias=bias, slopes=slopes, scale=scale, softcap=softcap,
        dropout=dropout, dropout_seed=dropout_seed, matmul_precision=matmul_precision, segments=segments,
        key_segments=key_segments, key_lengths=key_lengths, query_offsets=query_offsets, positions=positions,
        sinks=sinks, rotation=rotation, layout=layout, threads=threads,
    )
    return _core.attention_weights(q, k, stage, rows, heads, options)  # type: ignore[no-any-return]


@dataclass
class WeightStatistics(Generic[SameArray]):
    """What attention_statistics() gives."""

    entropy: SameArray  # [batch, heads, q_len], nats
    log_sum_exp: SameArray  # [batch, heads, q_len]
    top_keys: SameArray  # [batch, heads, q_len, top]: keys with the largest weights, -1 where there are fewer
    top_weights: SameArray  # [batch, heads, q_len, top]
    mass: SameArray  # [batch, heads, k_len]: the sum of a key's weights over all queries


def attention_statistics(
    q: SameArray,
    k: Array,
    *,
    top: int = 5,
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    mask: Array | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    matmul_precision: MatmulPrecision = "float32",
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> WeightStatistics[SameArray]:
    """Statistics of attention weights of any length, without storing the weights.

    Args:
        q: [batch, heads, q_len, head_dim]
        k: [batch, kv_heads, k_len, head_dim]
        top: how many keys to list per row, 0 .. 1024

    Options, which may all be combined:
        causal: visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the last
            query sees every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if q_len equals
            k_len, where they agree
        window: (left, right): number of visible keys before and after the diagonal; -1: all
        mask: bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads,
            q_len, k_len], any strides
        bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by a
            scheme: DistanceBias, ScoreTerm, or a list of them, at most one by distance and one before the softcap; made
            for the heads of q and for all tokens
        slopes: [heads]: adds -slope * |distance|
        scale: factor of the scores, within +-1e38; None: 1 / sqrt(head_dim), or the factor of the term
        softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
        dropout: probability that a weight is dropped (training), 0 .. 1, less than 1; the others are divided by 1 -
            dropout; not in log_sum_exp
        dropout_seed: seed that selects the dropped weights: the same for backward, another one for the next step
        matmul_precision: to what the factors of the two products may be rounded: "bfloat16" where the processor
            multiplies those faster, for inference; the plan says whether it does
        segments: packed sequences: the start of each, then the length (cu_seqlens)
        key_segments: the same for keys
        key_lengths: [batch]: keys from this index on are padding
        query_offsets: [batch]: the key on the diagonal of each sequence's query 0
        positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
        sinks: [heads]: attention sinks, an additional logit per head in the softmax, without a value
        rotation: a RotationTable of float32 that rotates queries and keys inside the call
        layout: order of the axes of q, k, v, out and their gradients: "bhld" is [batch, heads, length, channels],
            "blhd" [batch, length, heads, channels]; masks, weights and log_sum_exp keep theirs
        threads: number of threads; 0: all cores; results do not depend on it

    Returns:
        WeightStatistics, arrays of float32 (top_keys: int64).

    Raises:
        ValueError, TypeError: as attention()
    """
    if unknown:
        refuse("attention_statistics", unknown)
    options = dict(  # by generate.py
        causal=causal, window=window, mask=mask, bias=bias, slopes=slopes, scale=scale, softcap=softcap,
        dropout=dropout, dropout_seed=dropout_seed, matmul_precision=matmul_precision, segments=segments,
        key_segments=key_segments, key_lengths=key_lengths, query_offsets=query_offsets, positions=positions,
        sinks=sinks, rotation=rotation, layout=layout, threads=threads,
    )
    return WeightStatistics(**_core.attention_statistics(q, k, top, options))


def plan(
    q: Array,
    k: Array,
    v: Array,
    *,
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    mask: Array | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    matmul_precision: MatmulPrecision = "float32",
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    layout: HeadLayout = "bhld",
    threads: int = 0,
    **unknown: NoReturn,
) -> _core.AttentionPlan:
    """What attention(q, k, v, **options) will do: kernel, instruction set, tiles, threads, scratch memory.

    Options, which may all be combined:
        causal: visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the last
            query sees every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if q_len equals
            k_len, where they agree
        window: (left, right): number of visible keys before and after the diagonal; -1: all
        mask: bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads,
            q_len, k_len], any strides
        bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by a
            scheme: DistanceBias, ScoreTerm, or a list of them, at most one by distance and one before the softcap; made
            for the heads of q and for all tokens
        slopes: [heads]: adds -slope * |distance|
        scale: factor of the scores, within +-1e38; None: 1 / sqrt(head_dim), or the factor of the term
        softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
        dropout: probability that a weight is dropped (training), 0 .. 1, less than 1; the others are divided by 1 -
            dropout; not in log_sum_exp
        dropout_seed: seed that selects the dropped weights: the same for backward, another one for the next step
        matmul_precision: to what the factors of the two products may be rounded: "bfloat16" where the processor
            multiplies those faster, for inference; the plan says whether it does
        segments: packed sequences: the start of each, then the length (cu_seqlens)
        key_segments: the same for keys
        key_lengths: [batch]: keys from this index on are padding
        query_offsets: [batch]: the key on the diagonal of each sequence's query 0
        positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
        sinks: [heads]: attention sinks, an additional logit per head in the softmax, without a value
        rotation: a RotationTable of float32 that rotates queries and keys inside the call
        layout: order of the axes of q, k, v, out and their gradients: "bhld" is [batch, heads, length, channels],
            "blhd" [batch, length, heads, channels]; masks, weights and log_sum_exp keep theirs
        threads: number of threads; 0: all cores; results do not depend on it

    Returns:
        An AttentionPlan; explain() says it in a few lines, with what makes the call slower than it could be.

    Raises:
        ValueError, TypeError: as attention()
    """
    if unknown:
        refuse("plan", unknown)
    options = dict(  # by generate.py
        causal=causal, window=window, mask=mask, bias=bias, slopes=slopes, scale=scale, softcap=softcap,
        dropout=dropout, dropout_seed=dropout_seed, matmul_precision=matmul_precision, segments=segments,
        key_segments=key_segments, key_lengths=key_lengths, query_offsets=query_offsets, positions=positions,
        sinks=sinks, rotation=rotation, layout=layout, threads=threads,
    )
    return _core.plan(q, k, v, options)
