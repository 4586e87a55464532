"""Pictures drawn with matplotlib: the same numbers, names and scales. Skipped where it is not installed (`make test-libraries`)."""

import warnings

import numpy as np
import pytest

import sextant
from sextant import plot
from test_pictures import PICTURES, TOKENS, WEIGHTS, uneven

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def axes_of(drawn):
    return drawn if isinstance(drawn, list) else [drawn]


def drawn_numbers(ax):
    """What an Axes shows: of an image its array, of lines x and y."""
    if ax.images:
        return [np.ma.filled(image.get_array(), -np.inf) for image in ax.images]
    return [np.column_stack(line.get_data()) for line in ax.lines]


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_drawn_with_its_numbers(name):
    picture = PICTURES[name]()
    axes = axes_of(picture.to_matplotlib())
    shown = [numbers for ax in axes for numbers in drawn_numbers(ax)]
    for array in picture.values.values():
        wanted = array if axes[0].images else array[:, :2]
        assert any(numbers.shape == wanted.shape and np.array_equal(numbers, wanted) for numbers in shown), name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes[0].figure.canvas.draw()


def test_maps_have_tokens_scale_and_hidden_pairs():
    masked = np.where(np.tri(3, dtype=bool), WEIGHTS, -np.inf)
    left, right = plot.attention(masked, TOKENS).to_matplotlib()
    assert [text.get_text() for text in left.get_xticklabels()] == TOKENS == [text.get_text() for text in left.get_yticklabels()]
    assert (left.get_title(), right.get_title()) == ("Head 0", "Head 1")
    assert left.images[0].get_clim() == (0, 1) and left.images[0].get_cmap()(np.ma.masked)[:3] == pytest.approx((200 / 255,) * 3)
    assert np.ma.getmaskarray(left.images[0].get_array()).tolist() == (~np.tri(3, dtype=bool)).tolist()
    assert left.get_ylabel() == "Queries" and left.get_xlabel() == "Keys" == right.get_xlabel()


def test_in_axes_of_the_callers():
    figure, (left, right) = plt.subplots(1, 2)
    assert plot.heatmap("sinusoidal", length=8, width=6, first=10).to_matplotlib(left) is left
    assert left.images[0].get_extent() == [-0.5, 5.5, 17.5, 9.5]
    plot.attention(WEIGHTS, TOKENS, head=0).to_matplotlib(right)
    assert right.images
    with pytest.raises(ValueError, match=r"\[to_matplotlib.ax\] must be 2 axes, one per panel, got 1"):
        plot.attention(WEIGHTS, TOKENS).to_matplotlib(left)
    for given in (3, "ax", [left, 3], figure):
        with pytest.raises(TypeError, match=r"\[to_matplotlib.ax\] must be matplotlib's Axes"):
            plot.heatmap("rotary").to_matplotlib(given)
    grid = plt.subplots(2, 1)[1]
    assert plot.losses(uneven(), uneven()).to_matplotlib(grid) == list(grid)
    with pytest.raises(ValueError, match=r"\[to_matplotlib.self\] must be a picture that draws numbers"):
        sextant.Picture("<svg></svg>", 1, 1, "", "").to_matplotlib()


def test_lines_have_names_and_axes():
    ax = plot.distance(["rotary", {"rotary": {"base": 100.0}}], length=16).to_matplotlib()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(names) == 2 and names[1].endswith("base=100") and ax.get_xlabel() == "Distance in positions"
    words = plot.sinusoids("sinusoidal", "I am here", columns=[0]).to_matplotlib()
    assert [text.get_text() for text in words.texts] == ["I", "am", "here"]


def test_words_are_no_formulas_and_names_are_not_left_out():
    ax = plot.attention(WEIGHTS[0], ["$x$", "_a", "b$"]).to_matplotlib()
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.get_yticklabels()] == [r"\$x\$", " _a", r"b\$"]
    long = plot.attention(np.full((90, 90), 1 / 90), [f"w{i}" for i in range(90)]).to_matplotlib()
    assert [text.get_text() for text in long.get_xticklabels()] == [f"w{i}" for i in range(0, 90, 3)]


def test_bands_and_logarithmic_axes():
    chart = {
        "kind": "lines", "title": "t", "x_label": "x", "y_label": "y", "value_label": "", "row_labels": [], "column_labels": [], "first_row": 0.0,
        "first_column": 0.0, "map": "viridis", "low": 0.0, "high": 0.0, "log_x": True, "log_y": True,
        "panels": [{"title": "", "names": ["a"], "arrays": [np.array([[1.0, 2, 1, 3], [10, 4, 3, 5]])], "curve": None}],
    }  # fmt: skip
    picture = sextant.Picture("<svg></svg>", 1, 1, "t", "", [chart])
    assert picture.labels["a"] == (["0", "1"], ["x", "y", "low", "high"])
    ax = picture.to_matplotlib()
    assert ax.get_xscale() == ax.get_yscale() == "log" and len(ax.collections) == 1
    assert ax.collections[0].get_datalim(ax.transData).ymax == pytest.approx(5)
    dots = {**chart, "kind": "dots", "row_labels": ["r", "s"], "log_y": False, "panels": [{**chart["panels"][0], "arrays": [np.array([[1.0], [2]])]}]}
    assert [text.get_text() for text in sextant.Picture("<svg></svg>", 1, 1, "t", "", [dots]).to_matplotlib().get_yticklabels()] == ["r", "s"]
