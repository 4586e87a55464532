"""What the functions of sextant.lessons return."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NamedTuple

from . import _core
from ._sources import path_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._core import Picture


@dataclass(frozen=True)
class SentenceAttention:
    """Where each word of a sentence looks. A notebook shows its maps; numpy.asarray() of it is `weights`."""

    queries: list[str]  # the word of each row
    keys: list[str]  # the word of each column
    weights: NDArray[Any]  # [heads, queries, keys] of float64; each row sums to 1
    masked: NDArray[Any]  # the same, -inf where a pair is hidden
    output: NDArray[Any]  # [queries, width] of float64
    title: str

    def picture(self, *, head: int | None = None, lines: bool = False, max_width: float | None = None) -> Picture:
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
    distance: float  # the length of the difference of these outputs over the length of the longer one, 0 .. 2
    why: str  # in one clause, why they are the same, or what to do where last_differs; "" where nothing is known
    headline: str  # "same: order is invisible", "different: order shows" or "cannot tell: ..."
    verdict: str  # the headline, the positions, the largest difference, and why
    first: SentenceAttention
    second: SentenceAttention

    def __str__(self) -> str:
        return self.verdict

    def picture(self, *, head: int | None = None, lines: bool = False, max_width: float | None = None) -> Picture:
        """The maps of the first sentence above those of the second, under the verdict."""
        pictures = [each.picture(head=head, lines=lines, max_width=max_width) for each in (self.first, self.second)]
        return _core.stack_pictures(self.headline[0].upper() + self.headline[1:], pictures)

    def _repr_svg_(self) -> str:
        return self.picture()._repr_svg_()

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()


class AttentionSteps(Mapping[str, "NDArray[Any]"]):
    """All that attend() computes on the way, by the name of the step, in order: "embeddings", "positions", ..., "scores", "weights",
    "output". Tables of words are [words, width], of heads [heads, words, head width], of pairs [heads, queries, keys]."""

    def __init__(self, queries: list[str], keys: list[str], tables: dict[str, Any], meanings: dict[str, str]) -> None:
        self.query_words, self.key_words, self.meanings = queries, keys, meanings
        self._tables = tables

    def __getitem__(self, step: str) -> NDArray[Any]:
        return self._tables[step]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return "\n".join(f"{name} {list(table.shape)}: {self.meanings[name]}" for name, table in self._tables.items())


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


class Recommendation(NamedTuple):
    """What recommend() gives."""

    scores: NDArray[Any]
    """[users, items]: products of attributes / sqrt(attributes)."""
    weights: NDArray[Any]
    """[users, items]: softmax of each row."""


@dataclass(frozen=True)
class LabRun:
    """What the laboratory's model makes of a sentence."""

    tokens: list[str]
    scores: NDArray[Any]  # [length, length], scaled and masked
    weights: NDArray[Any]  # [length, length]
    values: NDArray[Any]  # [length, 3]
    output: NDArray[Any]  # [length, 3]


@dataclass(frozen=True)
class LabVerdict:
    """Whether the order of two sentences shows in the laboratory's model."""

    same: bool
    last_differs: bool
    largest_difference: float
    why: str
    headline: str
    verdict: str
    first: LabRun
    second: LabRun

    def __str__(self) -> str:
        return self.verdict
