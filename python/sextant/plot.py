"""Pictures: positions, attention, trainings. Every function returns a Picture, which a notebook shows and save() writes.

``sextant.plot.heatmap(sextant.sinusoidal(100, 512))`` draws an array; ``sextant.plot.distance(["rotary", "alibi"])`` makes the
tables itself, from names of schemes, or from names with parameters: ``{"rotary": {"base": 500000.0}}``. They are the pictures of
`sextant plot` and `sextant attend`, with the same words and defaults.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Sequence

from . import _core
from ._errors import ArgumentError, ArgumentTypeError
from ._pictures import labels_of, run_of, tables_of, what_of, words_of
from ._sources import flag_of

if TYPE_CHECKING:
    from ._core import Picture
    from ._extrapolate import ExtrapolationTable
    from ._models.model import Model
    from ._models.training import Training
    from ._types import Array, PositionNames

__all__ = [
    "attention",
    "distance",
    "extrapolation",
    "heatmap",
    "losses",
    "offset_matrix",
    "rows",
    "similarity",
    "sinusoids",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def sinusoids(
    what: Array | PositionNames = "sinusoidal",
    words: str | Sequence[str] | None = None,
    *,
    columns: Sequence[int] = (0, 1, 20, 21, 40, 41),
    length: int | None = None,
    width: int | None = None,
    first: int = 0,
    name: str | None = None,
    max_width: float | None = None,
) -> Picture:
    """Chosen columns of a table as curves over the positions, with words marked on them.

    Args:
        what: an array [length, width] of floats; or a scheme that adds a table to embeddings, by name
        words: a text or a list of words; word k is marked at position k
        columns: which, from 0
        length: positions, of a scheme by name; None: the words and 20 more, else 100
        width: columns, of a scheme by name; None: 100
        first: the position of row 0, -2^53 .. 2^53
        name: what the title calls an array
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Returns:
        A Picture, a panel per column.

    Raises:
        ValueError: a size out of its range, a column that is not there, more words than positions
        TypeError: an argument of another type
    """
    options = dict(words=words_of(words, "sinusoids"), columns=columns, length=length, width=width, first=first, name=name, max_width=max_width)
    return _core.plot_positions("sinusoids", what_of(what, "sinusoids"), options)


def rows(
    what: Array | PositionNames = "sinusoidal",
    *,
    rows: Sequence[int] = (0, 4, 10),
    length: int | None = None,
    width: int | None = None,
    first: int = 0,
    name: str | None = None,
    max_width: float | None = None,
) -> Picture:
    """The vectors of chosen positions, side by side.

    Args:
        what: an array [length, width] of floats; or a scheme that adds a table to embeddings, by name
        rows: which, counted from the first
        length, width: of a scheme by name; None: 100
        first: the position of row 0, -2^53 .. 2^53
        name: what the title calls an array
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Returns:
        A Picture, a panel per row.

    Raises:
        ValueError: a size out of its range, a row that is not there
        TypeError: an argument of another type
    """
    options = dict(rows=rows, length=length, width=width, first=first, name=name, max_width=max_width)
    return _core.plot_positions("rows", what_of(what, "rows"), options)


def heatmap(
    what: Any = "sinusoidal",
    *,
    length: int | None = None,
    width: int | None = None,
    head_dim: int | None = None,
    heads: int | None = None,
    first: int = 0,
    name: str | None = None,
    max_width: float | None = None,
) -> Picture:
    """A whole table as colours: rows of positions, rotations as cosines and sines, biases by distance or by query and key.

    Args:
        what: an array [rows, columns] of floats; a RotationTable, DistanceBias or ScoreTerm; or a scheme of any kind, by name
        length: positions, of a scheme by name; None: 100
        width: of added tables by name; None: 512
        head_dim: of rotations by name; None: 64
        heads: of biases by name; None: 8
        first: the position of row 0, -2^53 .. 2^53
        name: what the title calls it, where `what` is no name
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Returns:
        A Picture; of biases by query and key a map per head, up to 8.

    Raises:
        ValueError: a size out of its range; a scheme that has no table
        TypeError: an argument of another type
    """
    options = dict(length=length, width=width, head_dim=head_dim, heads=heads, first=first, name=name, max_width=max_width)
    return _core.plot_positions("heatmap", what_of(what, "heatmap"), options)


def similarity(
    what: Array | PositionNames = "sinusoidal",
    *,
    length: int | None = None,
    width: int | None = None,
    first: int = 0,
    name: str | None = None,
    max_width: float | None = None,
) -> Picture:
    """The cosine similarity of every position with every other.

    Args:
        what: an array [length, width] of floats, up to 4096 rows; or a scheme that adds a table to embeddings, by name
        length, width: of a scheme by name; None: 100 and 512
        first: the position of row 0, -2^53 .. 2^53
        name: what the title calls an array
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Raises:
        ValueError: a size out of its range, a row of zeros
        TypeError: an argument of another type
    """
    options = dict(length=length, width=width, first=first, name=name, max_width=max_width)
    return _core.plot_positions("similarity", what_of(what, "similarity"), options)


def distance(
    what: Array | PositionNames | Sequence[PositionNames] = "sinusoidal",
    *,
    length: int | None = None,
    width: int | None = None,
    head_dim: int | None = None,
    heads: int | None = None,
    head: int | None = None,
    all_heads: bool = False,
    measure: Literal["cosine", "dot"] = "cosine",
    first: int = 0,
    name: str | None = None,
    max_width: float | None = None,
) -> Picture:
    """Similarity or bias as a function of the distance of two positions. Of several schemes a panel per kind.

    Args:
        what: an array [length, width] of floats; a scheme by name; or a list of schemes
        length: positions, 2 .. 4096; None: 100
        width: of added tables; None: 512
        head_dim: of rotations; None: 64
        heads: of biases; None: 8
        head: which head of a bias; None: the one in the middle
        all_heads: a curve for each head
        measure: of rows: "cosine" or "dot"
        first: the position of row 0, -2^53 .. 2^53
        name: what the title calls an array
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Returns:
        A Picture. For query - key = 0 .. length - 1: of rows the mean similarity of all pairs; of rotations the score of q and k
        that are all ones, divided by their channels; of biases that of the last query.

    Raises:
        ValueError: a size out of its range; a scheme without positions, or one whose scores depend on q and k as well
        TypeError: an argument of another type
    """
    if head is not None and flag_of(all_heads, "distance.all_heads"):
        raise ArgumentError("[distance.head] must not be given with all_heads=True")
    options = dict(
        length=length, width=width, head_dim=head_dim, heads=heads, head=head, all_heads=all_heads, measure=measure, first=first,
        name=name, max_width=max_width, several=isinstance(what, (list, tuple)),
    )  # fmt: skip
    return _core.plot_positions("distance", what_of(what, "distance", several=True), options)


def offset_matrix(shift: int = 1, *, what: PositionNames = "sinusoidal", width: int | None = None, max_width: float | None = None) -> Picture:
    """The matrix M with PE(p + shift) = M PE(p) for every position p: a rotation of each pair of columns.

    Args:
        shift: by how many positions, -2^53 .. 2^53
        what: "sinusoidal", or {"sinusoidal": {"base": 100.0}}
        width: columns, up to 4096; None: 32
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Raises:
        ValueError: a size out of its range, another scheme
        TypeError: an argument of another type
    """
    return _core.plot_positions("offset_matrix", what_of(what, "offset_matrix"), dict(shift=shift, width=width, max_width=max_width))


def attention(
    weights: Any,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    *,
    head: int | None = None,
    layer: int | None = None,
    lines: bool = False,
    title: str | None = None,
    row_name: str | None = None,
    column_name: str | None = None,
    max_width: float | None = None,
) -> Picture:
    """Attention weights as maps, or as lines between words.

    Args:
        weights: an array [heads, queries, keys], [queries, keys] or a batch of one, such as attention_weights() gives, -inf where
            a pair is hidden; or what model.attention_maps() gives
        queries: the token of each row; None: numbers
        keys: the token of each column; None: the queries', where there are as many
        head: this one alone; None: all
        layer: of attention_maps(): which; None: the last
        lines: lines between the words, a colour per head, instead of maps
        title: above the picture; None: "Attention", with the layer where there is one
        row_name, column_name: what the tokens are; None: "Queries" and "Keys"
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Raises:
        ValueError: another shape, tokens that are not one per row and column, a head or layer that is not there
        TypeError: an argument of another type
    """
    array, rows, columns, heading = tables_of(weights, layer)
    if row_name is None:
        row_name = getattr(weights, "row_name", None)
    if column_name is None:
        column_name = getattr(weights, "column_name", None)
    rows, columns = labels_of(array, queries if queries is not None else rows, keys if keys is not None else columns)
    options = dict(
        head=head, heads=getattr(weights, "heads", None) or [], lines=lines, title=heading if title is None else title,
        row_name=row_name, column_name=column_name, max_width=max_width, has_heads=True,
    )  # fmt: skip
    return _core.plot_attention(array, rows, columns, options)


def losses(*runs: str | os.PathLike[str] | Training | Model, title: str | None = None, max_width: float | None = None) -> Picture:
    """Loss curves of one training, or of several side by side.

    Args:
        runs: folders of runs, which may still be in progress; or models that were trained here, or their `training`
        title: above the picture; None: the run's name, or how many there are
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Returns:
        A Picture: of one run its training and held-out loss, of several a chart of each with a line per run.

    Raises:
        ValueError: a folder that is no run's, or no run
        TypeError: an argument of another type
    """
    return _core.plot_losses([run_of(run, number) for number, run in enumerate(runs)], title, dict(max_width=max_width))


def extrapolation(table: ExtrapolationTable | str | os.PathLike[str], *, token: str = "token", max_width: float | None = None) -> Picture:
    """Perplexities by length, a line per scheme: what extrapolate() measured.

    Args:
        table: what extrapolate() returned, or the .json file of `sextant extrapolate`
        token: what one is called: "character"
        max_width: CSS pixels of the picture, 280 or more; 350 suits a phone

    Raises:
        ValueError: a file that is none of these
        TypeError: an argument of another type
    """
    options = dict(max_width=max_width)
    if isinstance(table, (str, os.PathLike)):
        from ._sources import contents_of, name_of

        where = name_of(table, "extrapolation.table")
        return _core.plot_extrapolation(contents_of(table, "extrapolation.table").decode("utf-8", "replace"), where, token, options)
    json = getattr(table, "json", None)
    if not isinstance(json, str):
        raise ArgumentTypeError(f"[extrapolation.table] must be the result of extrapolate(), or a path, got {type(table).__name__}")
    return _core.plot_extrapolation(json, "extrapolation.table", token, options)
