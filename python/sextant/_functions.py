"""Biases and masks by a function of positions, which the operator calls tile by tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from . import _core

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

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


def bias_of(function: BiasFunction, length: int, heads: int, gradient: GradientFunction | None, parameters: int) -> _core.ScoreTerm:
    """What a pickle calls."""
    return bias(function, length, heads=heads, gradient=gradient, parameters=parameters)


def mask_of(function: MaskFunction, length: int, heads: int) -> _core.ScoreTerm:
    """What a pickle calls."""
    return mask(function, length, heads=heads)
