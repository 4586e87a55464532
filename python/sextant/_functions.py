"""Biases and masks by a function of positions, which the operator calls tile by tile, and masks by lists of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from . import _core

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

    from ._types import Array

    BiasFunction = Callable[[NDArray[int64], NDArray[int64], NDArray[int64]], Any]
    MaskFunction = Callable[[NDArray[int64], NDArray[int64], NDArray[int64]], "NDArray[bool_] | bool"]
    GradientFunction = Callable[[NDArray[float64], NDArray[int64], NDArray[int64], NDArray[int64]], Any]


def bias(
    function: BiasFunction,
    length: int,
    *,
    heads: int = 1,
    gradient: GradientFunction | None = None,
    parameters: int = 0,
) -> _core.ScoreTerm:
    """A bias by a function of positions, for attention(bias=...): score_mod of flex_attention, where it adds.

    The function is called tile by tile while attention runs, from several threads, one at a time. There is never an array of all pairs,
    and the result is the same for any threads and tiles as long as a pair's number depends on its arguments alone.

    Args:
        function: function(head, query, key) with arrays of int64 [1, 1], [queries, 1] and [1, keys] gives numbers that broadcast to
            [queries, keys]: what is added to the scores; -inf hides. Positions are those of attention(positions=...), else indices; with a
            cache or an alignment the query's is that of its diagonal key
        length: positions are below it
        heads: 1: the function is the same for every head and gets head 0; else the heads of q
        gradient: gradient(dscores, head, query, key), with the loss's gradient of the scores of a tile [queries, keys] of float64, gives
            that of the function's parameters [parameters]; attention_backward() adds them up as `dterms`. None: the function learns nothing
        parameters: how many numbers gradient() gives

    Returns:
        A ScoreTerm, for attention(bias=...), alone or in a list; array() has all its numbers.

    Raises:
        ValueError, TypeError: naming the argument that does not fit
        what the function raises, when the call of attention() ends

    Source:
        Dong et al. 2024, 2412.05496
    """
    return _core.function_term(function, False, length, heads, gradient, parameters, (bias_of, (function, length, heads, gradient, parameters)))


def mask(function: MaskFunction, length: int, *, heads: int = 1) -> _core.ScoreTerm:
    """A mask by a function of positions, for attention(bias=...): mask_mod of flex_attention.

    It is called tile by tile, as that of bias(). Which blocks of 64 queries and 128 keys are hidden or seen as a whole is found at their
    first use and kept: hidden ones cost nothing from then on, and the function is called for the others alone.

    Args:
        function: function(head, query, key) with arrays of int64 [1, 1], [queries, 1] and [1, keys] gives bools that broadcast to [queries,
            keys]: True is seen
        length: positions are below it
        heads: 1: the function is the same for every head and gets head 0; else the heads of q

    Returns:
        A ScoreTerm, for attention(bias=...), alone or in a list; several masks hide what any of them hides.

    Raises:
        as bias()

    Source:
        Dong et al. 2024, 2412.05496
    """
    return _core.function_term(function, True, length, heads, None, 0, (mask_of, (function, length, heads)))


def block_mask(block_indices: Array, *, query_block: int = 64, key_block: int = 64, group: int = 1) -> _core.ScoreTerm:
    """A mask by lists of key blocks, for attention(bias=...): block-sparse attention.

    Query i sees key j if j // key_block is listed for its block, i // query_block. Queries count from the first of the call, keys from the
    first of the sequence; position ids have no effect. Memory is that of the lists. Blocks of 64 queries and 128 keys that are hidden as a
    whole are not computed, so multiples of these are fastest. causal= and other masks hide further pairs.

    Args:
        block_indices: [batch or 1, heads // group or 1, query_blocks, n] of whole numbers, in any order; -1 is no block. Batch, or batch and
            heads, may be left out
        query_block: queries of a block, 1 .. 2^20
        key_block: keys of a block, 1 .. 2^20
        group: adjacent heads of q that share a list, as with grouped heads; only with lists for several heads

    Returns:
        A ScoreTerm, for attention(bias=...), alone or in a list. Calls with segments, another batch, other heads, another number of query
        blocks, or fewer key blocks than the lists name are refused.

    Raises:
        ValueError, TypeError: naming the argument that does not fit

    Source:
        Child et al. 2019, 1904.10509; lists that depend on content: Yuan et al. 2025, 2502.11089
    """
    return _core.block_mask(block_indices, query_block, key_block, group, block_mask_of)


def block_mask_of(block_indices: NDArray[int64], query_block: int, key_block: int, group: int) -> _core.ScoreTerm:
    """What a pickle calls."""
    return block_mask(block_indices, query_block=query_block, key_block=key_block, group=group)


def bias_of(function: BiasFunction, length: int, heads: int, gradient: GradientFunction | None, parameters: int) -> _core.ScoreTerm:
    """What a pickle calls."""
    return bias(function, length, heads=heads, gradient=gradient, parameters=parameters)


def mask_of(function: MaskFunction, length: int, heads: int) -> _core.ScoreTerm:
    """What a pickle calls."""
    return mask(function, length, heads=heads)
