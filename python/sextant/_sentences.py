"""Sentences and attention: where each word looks, whether the order of the words shows, and the report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Sequence

from . import _core
from ._errors import ArgumentTypeError
from ._pictures import strings_of, words_of
from ._sources import path_of, positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._core import Picture
    from ._types import PositionNames

Split = Literal["words", "spaces"]


@dataclass(frozen=True)
class SentenceAttention:
    """Where each word of a sentence looks. A notebook shows its maps; numpy.asarray() of it is `weights`."""

    queries: list[str]  # the word of each row
    keys: list[str]  # the word of each column
    weights: NDArray[Any]  # [heads, queries, keys] of float64; each row sums to 1
    masked: NDArray[Any]  # the same, -inf where a pair is hidden
    output: NDArray[Any]  # [queries, width] of float64
    title: str

    def picture(self, *, head: int | None = None, lines: bool = False, max_width: float = 950.0) -> Picture:
        """A map per head, or lines between the words; `head`: this one alone."""
        from . import plot

        array = self.weights if lines else self.masked
        return plot.attention(array, self.queries, self.keys, head=head, lines=lines, title=self.title, max_width=max_width)

    def _repr_svg_(self) -> str:
        return self.picture()._repr_svg_()

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        import numpy as np

        return np.array(self.weights, dtype) if copy else np.asarray(self.weights, dtype)

    def __repr__(self) -> str:
        return f"SentenceAttention({self.title!r}, weights {list(self.weights.shape)})"


@dataclass(frozen=True)
class OrderVerdict:
    """Whether the order of the words shows in what attention makes of the last one. A notebook shows both sentences' maps."""

    same: bool  # the outputs of the last words differ by no more than rounding
    last_differs: bool  # the last words themselves differ: nothing follows about the order
    largest_difference: float  # between the outputs of the last words
    why: str  # in one clause, why they are the same, or what to do where last_differs; "" where nothing is known
    headline: str  # "same: order is invisible", "different: order shows" or "cannot tell: ..."
    verdict: str  # the headline, the positions, the largest difference, and why
    first: SentenceAttention
    second: SentenceAttention

    def __str__(self) -> str:
        return self.verdict

    def picture(self, *, head: int | None = None, lines: bool = False, max_width: float = 950.0) -> Picture:
        """The maps of the first sentence above those of the second, under the verdict."""
        pictures = [each.picture(head=head, lines=lines, max_width=max_width) for each in (self.first, self.second)]
        return _core.stack_pictures(self.headline[0].upper() + self.headline[1:], pictures)

    def _repr_svg_(self) -> str:
        return self.picture()._repr_svg_()

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()


def attend(
    text: str | Sequence[str],
    second: str | Sequence[str] | None = None,
    *,
    positions: PositionNames = "sinusoidal",
    causal: bool = False,
    heads: int = 4,
    width: int = 64,
    seed: int = 7,
    split: Split = "words",
    lower_case: bool = False,
) -> SentenceAttention:
    """Attention of a text with seeded random weights: softmax(q k^T / sqrt(head width)), in float64.

    A word's vector depends on the word and the seed alone, so only the positions tell two equal words apart.

    Args:
        text: the text whose words are the queries, or a list of words
        second: the text whose words are the keys; None: the first
        positions: schemes by name, or a dict from names to parameters
        causal: no word attends to later ones
        heads: 1 or more
        width: of the model, a multiple of the heads
        seed: of the weights, 0 .. 2^32 - 1
        split: of a text: "words" (Unicode words and punctuation marks) or "spaces"
        lower_case: lower-case the text first

    Returns:
        SentenceAttention, which shows itself.

    Raises:
        ValueError: no word, or options that do not fit together
        TypeError: an argument of another type
    """
    words = words_of(text, "attend", split, lower_case, "text")
    others = words_of(second, "attend", split, lower_case, "second")
    options = dict(causal=causal, heads=heads, width=width, seed=seed)
    return SentenceAttention(**_core.attend(words or [], others or [], positions_of(positions, "attend.positions"), options))


def compare(
    first: str | Sequence[str],
    second: str | Sequence[str],
    *,
    positions: PositionNames = "none",
    heads: int = 4,
    width: int = 64,
    seed: int = 7,
    split: Split = "words",
    lower_case: bool = False,
) -> OrderVerdict:
    """Whether the order of the words matters: causal attention over two sentences, and the outputs of their last words.

    Without positions any order of the earlier words gives the same output. The output of a word depends on the word
    itself, so both sentences must end in the same word, such as a full stop; otherwise the verdict is "cannot tell".

    Args:
        first: a sentence, or a list of words
        second: the same words in another order
        positions, heads, width, seed, split, lower_case: as for attend()

    Returns:
        OrderVerdict, which shows itself; print() says it in a line.

    Raises:
        ValueError: no word, other words in the second sentence, or options that do not fit together
        TypeError: an argument of another type
    """
    words, others = words_of(first, "compare", split, lower_case, "first"), words_of(second, "compare", split, lower_case, "second")
    options = dict(heads=heads, width=width, seed=seed)
    found = _core.compare(words or [], others or [], positions_of(positions, "compare.positions"), options)
    return OrderVerdict(**{**found, "first": SentenceAttention(**found["first"]), "second": SentenceAttention(**found["second"])})


class Page:
    """One HTML page that needs no network. A notebook shows it in a frame."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, under a temporary name first; ValueError unless the path ends in .html."""
        _core.save_page(path_of(path, "save.path"), self.html)

    def _repr_html_(self) -> str:
        from html import escape

        return f'<iframe srcdoc="{escape(self.html)}" title="report" width="100%" height="600" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"Page({len(self.html)} characters)"


def report(text: str, *, words: tuple[str, str] | None = None) -> Page:
    """The report: one page about a text, from its words to attention and the exactness of the tables. It takes seconds.

    Args:
        text: of the first sentences up to 72 tokens are drawn
        words: two of its words to compare; they are swapped where both are in these sentences. None: the two longest

    Returns:
        A Page: save("report.html").

    Raises:
        ValueError: no word, words that are not in the text; or a build without ICU
        TypeError: an argument of another type
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"[report.text] must be a str, got {type(text).__name__}")
    return Page(_core.report(text, strings_of(words, "report.words") if words is not None else []))
