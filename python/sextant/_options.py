"""The options of a call of the operator: one list for attention() and everything that takes the same."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Callable, TypedDict, TypeVar

if TYPE_CHECKING:
    from ._core import RotationTable
    from ._types import Array, Bias, Causal

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """What may be given by name; help(sextant.attention) explains each."""

    causal: Causal | None
    window: tuple[int, int] | None
    mask: Array | None
    bias: Bias | None
    slopes: Array | None
    scale: float | None
    softcap: float
    segments: Array | None
    key_segments: Array | None
    key_lengths: Array | None
    query_offsets: Array | None
    positions: Array | tuple[Array, Array] | None
    sinks: Array | None
    rotation: RotationTable | None
    threads: int


DEFAULTS: dict[str, Any] = {"softcap": 0.0, "threads": 0}

HELP = """
    Options, which may all be combined:
        causal: which keys a query sees: None or "none" (all), "top_left" (key j <= i), "bottom_right" (the last query sees
            every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths)
        window: (left, right): how many keys before and after the diagonal are visible, -1 for all
        mask: bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads, q_len, k_len], any strides
        bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or what a scheme made:
            DistanceBias, ScoreTerm, or a list of them, of which at most one is a bias by distance and at most one is added
            before the softcap; made for the heads of q and for all tokens
        slopes: [heads]: adds -slope * |distance|
        scale: of the scores, within +-1e38; None: 1 / sqrt(head_dim), or what the term says
        softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
        segments: packed sequences: where each begins, then the length (cu_seqlens); key_segments: the same for keys
        key_lengths: [batch]: keys from there on are padding
        query_offsets: [batch]: the key on the diagonal of each sequence's query 0
        positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
        sinks: [heads]: a logit per head that takes part in the softmax
        rotation: a RotationTable of float32 that rotates queries and keys inside the call
        threads: 0: as many as there are cores; results do not depend on it
"""


def help_without(names: tuple[str, ...]) -> str:
    entries = re.split(r"\n(?=        \w)", HELP)
    return "\n".join(entry for entry in entries if entry.split(":")[0].strip() not in names)


def as_text(annotation: Any) -> str:
    return getattr(annotation, "__forward_arg__", annotation)  # type: ignore[no-any-return]


def with_options(function: F, without: tuple[str, ...] = ()) -> F:
    """Shows the options, but for those that have another name here, in the signature and the help text of a function that takes
    them as **options."""
    signature = inspect.signature(function)
    named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    named += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=as_text(annotation))
        for name, annotation in Options.__annotations__.items()
        if name not in signature.parameters and name not in without
    ]
    # One that is a default of the function's own comes after the options: out=None.
    named.sort(key=lambda p: (p.kind, p.kind is p.KEYWORD_ONLY and p.name in ("out", "log_sum_exp")))
    function.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    function.__doc__ = (function.__doc__ or "").replace("\n    OPTIONS\n", help_without(without))
    return function
