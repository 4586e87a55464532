"""The small models of the teaching documents: attention of a sentence step by step, whether order shows, recommendation, similarity,
word vectors, the laboratory, and the report.

They are `sextant attend`, `compare`, `recommend`, `similarity`, `vectors` and `report`, with the same words, defaults and numbers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Sequence

from . import _core
from ._errors import ArgumentTypeError
from ._lesson_results import (
    AttentionSteps,
    LabRun,
    LabVerdict,
    OrderVerdict,
    Page,
    Recommendation,
    SentenceAttention,
)
from ._pictures import strings_of, words_of
from ._sources import path_of, positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Array, PositionNames

WordVectors = _core.WordVectors
Split = Literal["words", "spaces"]

__all__ = [
    "AttentionSteps",
    "LabRun",
    "LabVerdict",
    "OrderVerdict",
    "Page",
    "Recommendation",
    "SentenceAttention",
    "WordVectors",
    "attend",
    "compare",
    "lab",
    "lab_compare",
    "recommend",
    "report",
    "similarity",
    "steps",
    "train_word_vectors",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def _attended(call: str, text: Any, second: Any, split: Split, lower_case: bool, scheme: Any, options: dict[str, Any], function: Any) -> Any:
    words = words_of(text, call, split, lower_case, "text")
    others = words_of(second, call, split, lower_case, "second")
    given = {name: value for name, value in options.items() if value is not None}
    return function(words or [], others or [], positions_of(scheme, f"{call}.scheme"), given)


def attend(
    text: str | Sequence[str],
    second: str | Sequence[str] | None = None,
    *,
    scheme: PositionNames = "sinusoidal",
    causal: bool = False,
    heads: int = 4,
    width: int = 64,
    seed: int = 7,
    window: tuple[int, int] | None = None,
    temperature: float = 1.0,
    softcap: float = 0.0,
    sinks: Sequence[float] | None = None,
    hidden: Sequence[tuple[int | None, int | None]] | None = None,
    first_position: int = 0,
    split: Split = "words",
    lower_case: bool = False,
) -> SentenceAttention:
    """Attention of a text with seeded random weights: softmax(q k^T / sqrt(head width)), in float64.

    A word's vector depends on the word and the seed alone, so only the positions tell two equal words apart.

    Args:
        text: the text whose words are the queries, or a list of words
        second: the text whose words are the keys; None: the first
        scheme: of positions: schemes by name, or a dict from names to parameters
        causal: no word attends to later ones
        heads: 1 or more
        width: of the model, a multiple of the heads
        seed: of the weights, 0 .. 2^32 - 1
        window: (left, right): how many words before and after its own a word sees, -1 for all
        temperature: divides the scores, above 0
        softcap: score -> softcap * tanh(score / softcap); 0: off
        sinks: a logit that takes part in the softmax, one for all heads or one per head
        hidden: pairs (query, key) that are hidden, counted from 0; None in a pair: all
        first_position: of the first word
        split: of a text: "words" (Unicode words and punctuation marks) or "spaces"
        lower_case: lower-case the text first

    Returns:
        SentenceAttention, which shows itself.

    Raises:
        ValueError: no word, or options that do not fit together
        TypeError: an argument of another type
    """
    options = dict(causal=causal, heads=heads, width=width, seed=seed, window=window, temperature=temperature, softcap=softcap,
                   sinks=sinks, hidden=hidden, first_position=first_position)  # fmt: skip
    return SentenceAttention(**_attended("attend", text, second, split, lower_case, scheme, options, _core.attend))


def steps(
    text: str | Sequence[str],
    second: str | Sequence[str] | None = None,
    *,
    scheme: PositionNames = "sinusoidal",
    causal: bool = False,
    heads: int = 4,
    width: int = 64,
    seed: int = 7,
    window: tuple[int, int] | None = None,
    temperature: float = 1.0,
    softcap: float = 0.0,
    sinks: Sequence[float] | None = None,
    hidden: Sequence[tuple[int | None, int | None]] | None = None,
    first_position: int = 0,
    split: Split = "words",
    lower_case: bool = False,
) -> AttentionSteps:
    """Attention step by step: every table between the words and the output of attend(), the same bits.

    Args:
        text, second, scheme, causal, heads, width, seed, window, temperature, softcap, sinks, hidden, first_position, split, lower_case: as
            for attend()

    Returns:
        AttentionSteps: steps(text)["scores"]; print() lists them.

    Raises:
        ValueError, TypeError: as attend()
    """
    options = dict(causal=causal, heads=heads, width=width, seed=seed, window=window, temperature=temperature, softcap=softcap,
                   sinks=sinks, hidden=hidden, first_position=first_position)  # fmt: skip
    return AttentionSteps(**_attended("steps", text, second, split, lower_case, scheme, options, _core.attention_steps))


def compare(
    first: str | Sequence[str],
    second: str | Sequence[str],
    *,
    scheme: PositionNames = "none",
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
        scheme, heads, width, seed, split, lower_case: as for attend()

    Returns:
        OrderVerdict, which shows itself; print() says it in a line.

    Raises:
        ValueError: no word, other words in the second sentence, or options that do not fit together
        TypeError: an argument of another type
    """
    words, others = words_of(first, "compare", split, lower_case, "first"), words_of(second, "compare", split, lower_case, "second")
    options = dict(heads=heads, width=width, seed=seed)
    found = _core.compare(words or [], others or [], positions_of(scheme, "compare.scheme"), options)
    return OrderVerdict(**{**found, "first": SentenceAttention(**found["first"]), "second": SentenceAttention(**found["second"])})


def report(text: str, *, words: tuple[str, str] | None = None, pictures: str | os.PathLike[str] | None = None) -> Page:
    """The report: one page about a text, from its words to attention and the exactness of the tables. It takes seconds.

    Args:
        text: of the first sentences up to 72 tokens are drawn
        words: two of its words to compare; they are swapped where both are in these sentences. None: the two longest
        pictures: a folder, made where it is not there: every picture of the page is saved in it too, as .svg and as .png of 1920
            pixels' width, for slides; None: nowhere

    Returns:
        A Page: save("report.html").

    Raises:
        ValueError: no word, words that are not in the text; a folder that cannot be made or written to; or a build without ICU, or
            for `pictures` without librsvg (sextant.can_save_png())
        TypeError: an argument of another type
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"[report.text] must be a str, got {type(text).__name__}")
    chosen = strings_of(words, "report.words") if words is not None else []
    return Page(_core.report(text, chosen, path_of(pictures, "report.pictures") if pictures is not None else ""))


def recommend(users: Array, items: Array) -> Recommendation:
    """Attention as recommendation: users are queries, items are keys.

    Args:
        users: [users, attributes]
        items: [items, attributes], the same attributes

    Returns:
        Recommendation(scores, weights).
    """
    return Recommendation(*_core.recommend(users, items))


def similarity(rows: Array, *, threads: int = 0) -> NDArray[Any]:
    """Cosine similarities of all pairs of rows.

    Args:
        rows: [rows, width], none of them zero; positions, word vectors, outputs
        threads: 0: all cores

    Returns:
        [rows, rows] of float64, within 0.51 units in the last place.
    """
    return _core.similarities(rows, threads)  # type: ignore[no-any-return]


def train_word_vectors(
    sentences: Sequence[Sequence[str]],
    *,
    width: int = 512,
    window: int = 5,
    minimum_count: int = 1,
    epochs: int = 5,
    negatives: int = 5,
    seed: int = 0,
) -> _core.WordVectors:
    """Vectors of words by skip-gram, in a build that has fastText.

    Args:
        sentences: lists of words, as they are
        width: 1 .. 65536
        window: words on each side, 1 .. 1000
        minimum_count: rarer words get no vector
        epochs: 1 .. 1000000
        negatives: negative samples per context word, 1 .. 1000
        seed: the same seed gives the same vectors

    Returns:
        WordVectors; WordVectors.load(path) reads .vec files in every build.
    """
    options = dict(width=width, window=window, minimum_count=minimum_count, epochs=epochs, negatives=negatives, seed=seed)
    return _core.WordVectors.trained(sentences, options)


def lab(sentence: str, *, scheme: PositionNames = "none") -> LabRun:
    """The laboratory's toy model: causal attention of width 3 over the words the, zebra, chased, lion and the full stop, seed 2311.

    Args:
        sentence: of these words, split at spaces
        scheme: of positions; "none" is the laboratory's own
    """
    return LabRun(**_core.lab(sentence, positions_of(scheme, "lab.scheme")))


def lab_compare(first: str, second: str, *, scheme: PositionNames = "none") -> LabVerdict:
    """Whether the order of the words shows in that model. Both sentences have the same words.

    Args:
        first: a sentence
        second: its words in another order
        scheme: of positions
    """
    found = _core.lab_compare(first, second, positions_of(scheme, "lab_compare.scheme"))
    return LabVerdict(**{**found, "first": LabRun(**found["first"]), "second": LabRun(**found["second"])})
