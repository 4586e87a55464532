"""The numbers of a picture: as arrays with names, and drawn with matplotlib."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._core import Picture

LABELS = 40  # of an axis of matplotlib's; of more every n-th
MAPS = {"viridis": "viridis", "diverging": "RdBu_r", "sequential": "Blues"}  # the same colours
HIDDEN = "#c8c8c8"


def named_arrays(picture: Picture) -> list[tuple[str, dict[str, Any], Any]]:
    """The name, chart and numbers of each array; no name twice."""
    charts = picture._charts
    arrays: list[tuple[str, dict[str, Any], Any]] = []
    names: set[str] = set()
    for chart in charts:
        for panel in chart["panels"]:
            for own, array in zip(panel["names"], panel["arrays"]):
                name = ", ".join(filter(None, (panel["title"], own))) or chart["value_label"] or chart["y_label"] or "values"
                if len(charts) > 1 and chart["title"]:
                    name = f"{chart['title']}: {name}"
                unique, number = name, 2
                while unique in names:
                    unique, number = f"{name} ({number})", number + 1
                names.add(unique)
                arrays.append((unique, chart, array))
    return arrays


def values_of(picture: Picture) -> dict[str, NDArray[np.float64]] | None:
    return {name: array for name, _, array in named_arrays(picture)} or None


def labels_of(picture: Picture) -> dict[str, tuple[list[str], list[str]]] | None:
    return {name: (rows_of(chart, array), columns_of(chart, array)) for name, chart, array in named_arrays(picture)} or None


def counted(first: float, count: int) -> list[str]:
    return [str(int(first) + i) if first.is_integer() else str(first + i) for i in range(count)]


def rows_of(chart: dict[str, Any], array: Any) -> list[str]:
    labels: list[str] = chart["row_labels"][: len(array)]  # of lines those of the first points
    return labels + counted(chart["first_row"], len(array))[len(labels) :]


def columns_of(chart: dict[str, Any], array: Any) -> list[str]:
    if chart["kind"] == "matrices":
        return chart["column_labels"] or counted(chart["first_column"], array.shape[1])
    return [chart["x_label"] or "x", chart["y_label"] or "y", "low", "high"][: array.shape[1]]


def draw(picture: Picture, ax: Any) -> Any:
    """What Picture.to_matplotlib() does."""
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ImportError:
        raise ImportError("Picture.to_matplotlib() needs matplotlib (pip install matplotlib)") from None
    charts = picture._charts
    count = sum(len(chart["panels"]) for chart in charts)
    if count == 0:
        raise ArgumentError("[to_matplotlib.self] must be a picture that draws numbers, whose values are not None")
    axes = new_axes(count, picture.title) if ax is None else given_axes(ax, count)
    left = list(axes)
    for chart in charts:
        own = [left.pop(0) for _ in chart["panels"]]
        (draw_matrices if chart["kind"] == "matrices" else draw_lines)(chart, own, matplotlib)
        for place, panel in zip(own, chart["panels"]):
            title = panel["title"] or (chart["title"] if len(own) == 1 else "")
            place.set_title(plain(title))
            place.set_xlabel(plain(chart["x_label"]))
            if place is own[0]:
                place.set_ylabel(plain(chart["y_label"]))
    return axes[0] if count == 1 else axes


def new_axes(count: int, title: str) -> list[Any]:
    across = min(count, 4)
    down = -(-count // across)
    size = (6.4, 4.8) if count == 1 else (1 + 3.2 * across, 3.2 * down)
    figure, grid = importlib.import_module("matplotlib.pyplot").subplots(down, across, squeeze=False, layout="constrained", figsize=size)
    places = list(grid.ravel())
    for unused in places[count:]:
        unused.remove()
    if count > 1:
        figure.suptitle(plain(title))
    return places[:count]


def given_axes(ax: Any, count: int) -> list[Any]:
    axes = [ax] if hasattr(ax, "imshow") else list(getattr(ax, "flat", ax)) if hasattr(ax, "__iter__") else [ax]
    if not all(hasattr(one, "imshow") for one in axes):
        raise ArgumentTypeError(f"[to_matplotlib.ax] must be matplotlib's Axes or a list of them, got {type(ax).__name__}")
    if len(axes) != count:
        raise ArgumentError(f"[to_matplotlib.ax] must be {count} axes, one per panel, got {len(axes)}")
    return axes


def plain(text: str) -> str:
    """A text that matplotlib shows as it is: no formulas, no names that a legend leaves out."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def draw_matrices(chart: dict[str, Any], axes: list[Any], matplotlib: Any) -> None:
    colors = matplotlib.colormaps[MAPS[chart["map"]]].with_extremes(bad=HIDDEN)
    image = None
    for ax, panel in zip(axes, chart["panels"]):
        array = panel["arrays"][0]
        rows, columns = array.shape
        top, left = chart["first_row"] - 0.5, chart["first_column"] - 0.5
        image = ax.imshow(
            array, cmap=colors, vmin=chart["low"], vmax=chart["high"], interpolation="nearest",
            aspect="equal" if chart["row_labels"] else "auto", extent=(left, left + columns, top + rows, top),
        )  # fmt: skip
        name_ticks(ax.set_xticks, chart["column_labels"], chart["first_column"], rotation=90)
        name_ticks(ax.set_yticks, chart["row_labels"], chart["first_row"])
    axes[0].figure.colorbar(image, ax=axes, label=plain(chart["value_label"]))


def name_ticks(set_ticks: Any, labels: list[str], first: float, **style: Any) -> None:
    if labels:
        every = -(-len(labels) // LABELS)
        set_ticks([first + i for i in range(0, len(labels), every)], [plain(label) for label in labels[::every]], **style)


def draw_lines(chart: dict[str, Any], axes: list[Any], _: Any) -> None:
    for ax, panel in zip(axes, chart["panels"]):
        if chart["log_x"]:
            ax.set_xscale("log")
        if chart["log_y"]:
            ax.set_yscale("log")
        if panel["curve"] is not None:
            ax.plot(*panel["curve"].T, color="C0", alpha=0.5)
        for name, array in zip(panel["names"], panel["arrays"]):
            if chart["kind"] == "dots":
                ax.plot(array[:, 0], range(len(array)), "o")
                name_ticks(ax.set_yticks, chart["row_labels"], 0)
                continue
            x, y = array[:, 0], array[:, 1]
            marked = chart["kind"] == "points" or panel["curve"] is not None or len(x) == 1
            (line,) = ax.plot(x, y, "o" if marked else "-", label=plain(name))
            if array.shape[1] == 4:
                ax.fill_between(x, array[:, 2], array[:, 3], color=line.get_color(), alpha=0.2)
            for label, at in zip(chart["row_labels"], zip(x, y)):
                ax.annotate(plain(label), at, xytext=(3, 3), textcoords="offset points")
        if len(panel["arrays"]) > 1:
            ax.legend()
