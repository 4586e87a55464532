"""Pictures: what is drawn, how a notebook shows it, what is saved, what is refused."""

import json
import math
import os
import pickle
import re
import subprocess
import sys
import types
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import sextant
from sextant import plot

TOKENS = ["the", "cat", "sat"]
RNG = np.random.default_rng(0)
WEIGHTS = RNG.dirichlet(np.ones(3), (2, 3))  # [heads, queries, keys]
PROGRAM = os.environ.get("SEXTANT_PROGRAM", "")

PICTURES = {
    "sinusoids": lambda: plot.sinusoids("sinusoidal", "I am a robot"),
    "rows": lambda: plot.rows(rows=[0, 1]),
    "heatmap": lambda: plot.heatmap(sextant.sinusoidal(20, 32)),
    "heatmap by name": lambda: plot.heatmap({"rotary": {"base": 100.0}}, length=16, head_dim=8),
    "rotation": lambda: plot.heatmap(sextant.rotary(16, 8)),
    "biases by distance": lambda: plot.heatmap(sextant.alibi(16, 4)),
    "slopes": lambda: plot.heatmap(sextant.DistanceBias(slopes=[0.5, 0.25]), length=8),
    "biases by query and key": lambda: plot.heatmap(sextant.fire(8, 2)),
    "similarity": lambda: plot.similarity(length=32, width=16),
    "distance": lambda: plot.distance(["rotary", "alibi", {"rotary": {"base": 100.0}}], length=32),
    "offset matrix": lambda: plot.offset_matrix(3, width=8),
    "attention": lambda: plot.attention(WEIGHTS, TOKENS),
    "attention lines": lambda: plot.attention(WEIGHTS, TOKENS, lines=True),
    "attend": lambda: sextant.lessons.attend("the cat sat", causal=True).picture(),
    "compare": lambda: sextant.lessons.compare("a b c", "b a c").picture(),
    "maps of a model": lambda: sextant.shipped().attention_maps("may 5 2020").cross.picture(),
}


def text_of(picture):
    """All words of a picture, as a reader sees them."""
    return " ".join(ElementTree.fromstring(picture.svg).itertext())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_one_svg_with_a_description(name):
    picture = PICTURES[name]()
    root = ElementTree.fromstring(picture.svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert float(root.get("width")) == pytest.approx(picture.width, abs=0.01)
    assert picture.description and picture.description in text_of(picture)
    assert picture._repr_svg_() == picture.svg
    assert picture.svg in picture._repr_html_()
    assert "http://" not in picture.svg.replace("http://www.w3.org/", "")
    assert repr(picture).startswith("Picture(")


@pytest.mark.skipif(not PROGRAM, reason="the command line is not built")
@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (lambda: plot.heatmap("sinusoidal"), "plot heatmap"),
        (lambda: plot.heatmap({"rotary": {"base": 500.0}}, length=16, head_dim=32), "plot heatmap --scheme rotary --base 500 --length 16 --head-dim 32"),
        (lambda: plot.heatmap("alibi", heads=4), "plot heatmap --scheme alibi --heads 4"),
        (lambda: plot.sinusoids(words="I am a robot", columns=[0, 5]), "plot sinusoids --columns 0,5 --text:I am a robot"),
        (lambda: plot.rows(rows=[3], first=7), "plot rows --rows 3 --first 7"),
        (lambda: plot.similarity(length=30), "plot similarity --length 30"),
        (lambda: plot.distance(measure="dot", width=64), "plot distance --measure dot --width 64"),
        (lambda: plot.distance("t5", all_heads=True, heads=2), "plot distance --scheme t5 --all-heads --heads 2"),
        (
            lambda: plot.distance(["rotary", {"rotary": {"base": 100.0}}, "alibi"], length=64),
            "plot distance --schemes rotary,rotary:base=100,alibi --length 64",
        ),
        (lambda: plot.offset_matrix(5, width=16), "plot offset-matrix --shift 5 --width 16"),
        (lambda: plot.heatmap("rotary", max_width=350), "plot heatmap --scheme rotary --max-width 350"),
        (lambda: plot.heatmap(max_width=350), "plot heatmap --max-width 350"),
        (lambda: plot.sinusoids(max_width=350), "plot sinusoids --max-width 350"),
        (lambda: plot.rows(max_width=350), "plot rows --max-width 350"),
        (lambda: plot.similarity(max_width=350), "plot similarity --max-width 350"),
        (lambda: plot.distance(max_width=350), "plot distance --max-width 350"),
        (lambda: plot.distance(["rotary", "alibi"], max_width=350), "plot distance --schemes rotary,alibi --max-width 350"),
        (lambda: plot.offset_matrix(max_width=350), "plot offset-matrix --max-width 350"),
        (lambda: sextant.lessons.attend("the cat sat", scheme="rotary", causal=True).picture(), "attend --scheme rotary --causal --text:the cat sat"),
        (lambda: sextant.lessons.attend("a b", "c d e", heads=2, seed=3).picture(lines=True), "attend --second:c d e --heads 2 --seed 3 --lines --text:a b"),
    ],
)  # fmt: skip
def test_pictures_are_those_of_the_command_line(tmp_path, drawn, words):
    arguments = []
    for part in re.split(r" (?=--)", words):
        name, colon, text = part.partition(":")
        if colon and name == "--text":
            arguments.append(text)
        elif colon and name == "--second":
            arguments += [name, text]
        else:
            arguments += part.split()
    subprocess.run([PROGRAM, *arguments, "-o", "x.svg"], cwd=tmp_path, check=True)
    assert drawn().svg == (tmp_path / "x.svg").read_text()[:-1]  # without the end of the last line


def test_an_array_is_drawn_as_the_table_that_it_is(tmp_path):
    values = sextant.sinusoidal(20, 32, dtype="float64")
    same = plot.heatmap(values, name="sinusoidal positions")
    images = [re.findall(r"base64,([^\"]+)", picture.svg) for picture in (same, plot.heatmap("sinusoidal", length=20, width=32))]
    assert images[0] == images[1] and images[0]
    assert "Similarity" in plot.distance(values, name="my table").title and "my table" in plot.distance(values, name="my table").title


def test_tables_of_schemes_are_drawn_as_schemes_by_name():
    for table, name, sizes in (
        (sextant.rotary(16, 8, dtype="float64"), "rotary", {"head_dim": 8}),
        (sextant.alibi(16, 4), "alibi", {"heads": 4}),
        (sextant.fire(16, 2), "fire", {"heads": 2}),
    ):
        images = [re.findall(r"base64,([^\"]+)", picture.svg) for picture in (plot.heatmap(table), plot.heatmap(name, length=16, **sizes))]
        assert images[0] == images[1] and images[0], name


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_weights_of_any_float_and_batches_of_one(dtype):
    weights = WEIGHTS.astype(dtype)
    assert plot.attention(weights[None], TOKENS).svg == plot.attention(weights.astype(np.float64), TOKENS).svg


def test_hidden_pairs_are_grey_and_the_rest_is_the_same():
    masked = WEIGHTS.copy()
    masked[:, 0, 1:] = -np.inf
    assert "hidden" in text_of(plot.attention(masked, TOKENS))
    assert "hidden" not in text_of(plot.attention(WEIGHTS, TOKENS))
    seen = sextant.attention_weights(*[RNG.standard_normal((1, 2, 3, 4), dtype=np.float32)] * 2, causal="top_left", stage="biased")
    assert np.isneginf(seen).any()
    assert "hidden" in text_of(plot.attention(np.where(np.isneginf(seen), seen, 0.5), TOKENS))


def test_tokens_default_to_numbers_and_may_differ():
    assert all(f" {i} " in f" {text_of(plot.attention(WEIGHTS[0]))} " for i in range(3))
    picture = plot.attention(WEIGHTS, ["a", "b", "c"], ["left", "mid", "right"])
    assert "left" in text_of(picture)
    assert "a" in text_of(picture)


def test_a_head_and_a_layer_alone():
    maps = sextant.shipped().attention_maps("may 5 2020")
    assert maps.encoder.picture(layer=0, head=1).title.endswith("Head 1")
    assert maps.encoder.picture(layer=0).svg != maps.encoder.picture().svg
    assert maps.encoder._repr_html_() == maps.encoder.picture()._repr_html_()
    for changes in ({"layer": 99}, {"layer": -1}, {"head": 99}):
        with pytest.raises(ValueError, match=rf"attention.{next(iter(changes))}"):
            maps.encoder.picture(**changes)


def test_saved_by_the_ending(tmp_path):
    picture = plot.heatmap("alibi")
    picture.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == picture.svg
    picture.save(str(tmp_path / "x.html"))
    page = (tmp_path / "x.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "<svg " in page and "http" not in re.sub(r"http://www.w3.org/[^\"]*", "", page)
    if sextant.can_save_png():
        picture.save(tmp_path / "x.png", scale=1)
        assert (tmp_path / "x.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" == picture.png(scale=1)[:8]
    else:
        for save in (lambda: picture.save(tmp_path / "x.png"), picture.png):
            with pytest.raises(ValueError, match=r"\[picture.png\] needs librsvg"):
                save()
        assert not (tmp_path / "x.png").exists()
    assert not [name for name in os.listdir(tmp_path) if not name.startswith("x.")]  # nothing half-written


def uneven(**changes):
    """The numbers of a training, with lists of other lengths."""
    curves = dict(step=[1, 2], mean_loss=[2.0, 1.0], validation_step=[2], validation_loss=[1.5])
    return types.SimpleNamespace(folder=None, **{**curves, **changes})


@pytest.mark.parametrize("name", ["x.jpg", "x", "x.svgz", "", "x.svg/"])
def test_other_endings_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"\[picture.path\] must end in .svg, .png, .pdf or .html"):
        plot.heatmap("alibi").save(name)
    assert not os.listdir(tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        plot.heatmap("alibi").save(tmp_path / "nowhere" / "x.svg")


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: plot.heatmap("rotery"), ValueError, "rotery"),
        (lambda: plot.heatmap("shaw"), ValueError, "heatmap.scheme"),
        (lambda: plot.heatmap("sinusoidal", length=0), ValueError, r"\[heatmap.length\] must be 1"),
        (lambda: plot.heatmap(np.zeros((2, 2)), length=3), ValueError, r"\[heatmap.length\] must not be given with an array"),
        (lambda: plot.heatmap(np.zeros(3)), ValueError, r"\[heatmap.what\] must be"),
        (lambda: plot.heatmap(None), TypeError, r"\[heatmap.what\] must be"),
        (lambda: plot.heatmap({"rotary": {"bass": 1}}), ValueError, "rotary has"),
        (lambda: plot.similarity("alibi"), ValueError, r"\[similarity.scheme\] must be one that adds"),
        (lambda: plot.sinusoids(columns=[100]), ValueError, r"\[sinusoids.columns\] must be 0 .. 99"),
        (lambda: plot.sinusoids(words=["a"] * 5, length=4), ValueError, r"\[sinusoids.words\]"),
        (lambda: plot.sinusoids(words=[1]), TypeError, r"\[sinusoids.words\] must be a list of str"),
        (lambda: plot.rows(rows=[]), ValueError, r"\[rows.rows\] must name at least one"),
        (lambda: plot.distance([]), ValueError, r"\[distance.what\]"),
        (lambda: plot.distance("none"), ValueError, r"\[distance.scheme\]"),
        (lambda: plot.distance("alibi", head=9), ValueError, r"\[distance.head\]"),
        (lambda: plot.distance("alibi", head=1, all_heads=True), ValueError, r"\[distance.head\]"),
        (lambda: plot.distance("alibi", head=1, all_heads=np.ones(2)), TypeError, r"\[distance.all_heads\] must be True or False"),
        (lambda: plot.distance(measure="l2"), ValueError, r"\[distance.measure\] must be one of cosine, dot"),
        (lambda: plot.distance({"rotary": {}, "t5": {}}), ValueError, "single schemes"),
        (lambda: plot.offset_matrix(what="rotary"), ValueError, r"\[offset_matrix.scheme\] must be sinusoidal"),
        (lambda: plot.offset_matrix(what=np.ones((4, 8), np.float32)), TypeError, r"\[offset_matrix.what\] must be a scheme by name"),
        (lambda: plot.offset_matrix(what=["sinusoidal"]), TypeError, r"\[offset_matrix.what\] must be an array or a scheme by name, got list"),
        (lambda: plot.heatmap([[1.0, 2.0]]), TypeError, r"\[heatmap.what\] must be an array or a scheme by name, got list"),
        (lambda: plot.offset_matrix(what=3), TypeError, r"\[offset_matrix.what\] must be a scheme by name"),
        (lambda: plot.losses(uneven(mean_loss=[1.0])), ValueError, r"\[losses.runs\] must have a loss for each step"),
        (lambda: plot.losses(uneven(validation_loss=[1.0, 2.0])), ValueError, r"\[losses.runs\] must have a loss for each validation"),
        (lambda: plot.attention(np.broadcast_to(np.float32(0), (1, 1 << 40, 2))), ValueError, r"\[attention.weights\] must have up to 65536"),
        (lambda: plot.heatmap(max_width=100), ValueError, r"\[heatmap.max_width\] must be 280 or more, got 100"),
        (lambda: plot.attention(WEIGHTS, TOKENS, max_width=math.nan), ValueError, r"\[attention.max_width\] must be 280 or more"),
        (lambda: plot.offset_matrix(1.5), TypeError, r"\[offset_matrix.shift\] must be a whole number"),
        (lambda: plot.attention(WEIGHTS, ["a"]), ValueError, "queries"),
        (lambda: plot.attention(WEIGHTS, TOKENS, ["a"]), ValueError, "keys"),
        (lambda: plot.attention(WEIGHTS, TOKENS, head=2), ValueError, r"\[attention.head\] must be 0 .. 1"),
        (lambda: plot.attention(WEIGHTS, TOKENS, layer=0), ValueError, r"\[attention.layer\]"),
        (lambda: plot.attention(np.stack([WEIGHTS] * 2)), ValueError, r"\[attention.weights\] must be .*choose one: weights\[0\]"),
        (lambda: plot.attention("abc"), TypeError, r"\[attention.weights\]"),
        (lambda: plot.attention(np.zeros((2, 2), np.int64)), TypeError, r"\[attention.weights\]"),
        (lambda: plot.attention(np, keys=["a"]), TypeError, r"\[attention.weights\]"),  # whose shape is a function
        (lambda: plot.attention(WEIGHTS, [1, 2, 3]), TypeError, r"\[attention.queries\] must be a list of str"),
        (lambda: plot.attention(sextant.shipped().attention_maps("may 5 2020")), TypeError, "cross"),
        (lambda: plot.losses(), ValueError, r"\[losses.runs\] must be one or more"),
        (lambda: plot.losses("/nowhere"), ValueError, "/nowhere"),
        (lambda: plot.losses(3), TypeError, r"\[losses.runs\]"),
        (lambda: plot.losses(sextant.shipped()), ValueError, r"\[losses.runs\] must be trained in this process"),
        (lambda: plot.extrapolation(3), TypeError, r"\[extrapolation.table\]"),
        (lambda: plot.extrapolation("/nowhere"), ValueError, "/nowhere"),
        (lambda: sextant.lessons.attend(""), ValueError, r"\[attend.text\] must hold at least one word"),
        (lambda: sextant.lessons.attend(3), TypeError, r"\[attend.text\]"),
        (lambda: sextant.lessons.attend("a", heads=0), ValueError, r"\[attend.heads\]"),
        (lambda: sextant.lessons.attend("a", split="letters"), ValueError, r"\[attend.split\] must be one of words, spaces"),
        (lambda: sextant.lessons.compare("a", "b", seed=-1), ValueError, r"\[compare.seed\]"),
        (lambda: sextant.lessons.report(3), TypeError, r"\[report.text\]"),
    ],
)  # fmt: skip
def test_mistakes_name_the_argument(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_values_and_labels_are_what_is_drawn():
    masked = np.where(np.tri(3, dtype=bool), WEIGHTS, -np.inf)
    picture = plot.attention(masked, TOKENS)
    assert list(picture.values) == ["Head 0", "Head 1"]
    np.testing.assert_array_equal(picture.values["Head 1"], masked[1])
    assert picture.labels["Head 0"] == (TOKENS, TOKENS)
    lines = plot.attention(masked, TOKENS, ["a", "b", "c"], lines=True)
    np.testing.assert_array_equal(lines.values["Head 1"], np.where(np.isneginf(masked), 0, masked)[1])
    assert lines.labels["Head 1"] == (TOKENS, ["a", "b", "c"])
    assert list(plot.attention(WEIGHTS[0], TOKENS).values) == ["Weight"]
    table = sextant.sinusoidal(20, 8, dtype="float64")
    heatmap = plot.heatmap(table)
    np.testing.assert_array_equal(heatmap.values["Value"], table)
    rows, columns = plot.heatmap("sinusoidal", length=20, width=8, first=-3).labels["Value"]
    assert rows == [str(i) for i in range(-3, 17)] and columns == [str(i) for i in range(8)]
    np.testing.assert_array_equal(plot.heatmap(sextant.fire(8, 2)).values["Head 1"], sextant.fire(8, 2).array()[1])
    waves = plot.sinusoids("sinusoidal", "I am here", columns=[0, 5])
    np.testing.assert_array_equal(waves.values["Cosine 2"][:, 1], sextant.sinusoidal(len(waves.values["Cosine 2"]), 100, dtype="float64")[:, 5])
    assert waves.labels["Sine 0"][0][:4] == ["I", "am", "here", "3"] and waves.labels["Sine 0"][1] == ["Index (k)", "y"]
    distances = plot.distance(["rotary", "alibi"], length=16)
    assert all(array.shape == (16, 2) and array.dtype == np.float64 for array in distances.values.values())
    assert distances.values.keys() == distances.labels.keys() and len(distances.values) == 2


def test_values_of_every_picture_have_labels_and_survive_a_pickle():
    for name, drawn in PICTURES.items():
        picture = drawn()
        assert picture.values, name
        again = pickle.loads(pickle.dumps(picture))
        assert again.labels == picture.labels and again.title == picture.title
        for key, array in picture.values.items():
            assert array.ndim == 2 and array.dtype == np.float64 and not array.flags.writeable
            rows, columns = picture.labels[key]
            assert array.shape == (len(rows), len(columns)), (name, key)
            np.testing.assert_array_equal(again.values[key], array)
    array = plot.heatmap("alibi").values["Bias"]  # alone keeps the numbers alive
    assert array.sum() < 0


def test_charts_below_each_other_have_their_titles_in_the_names():
    runs = [uneven(), uneven(mean_loss=[3.0, 1.0])]
    picture = plot.losses(*runs)
    assert list(picture.values) == ["Held out: run 0", "Held out: run 1", "Training, moving average: run 0", "Training, moving average: run 1"]
    np.testing.assert_array_equal(picture.values["Training, moving average: run 1"], [[1, 3], [2, 1]])
    twice = plot.attention(np.stack([WEIGHTS[0]] * 2), TOKENS)
    assert len(sextant._core.stack_pictures("", [twice, twice]).values) == 4  # a name that is there gets a number


def test_matplotlib_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Picture.to_matplotlib\(\) needs matplotlib \(pip install matplotlib\)"):
        plot.heatmap("alibi").to_matplotlib()


def test_a_picture_without_numbers_has_none():
    empty = sextant.Picture("<svg></svg>", 1, 1, "", "")
    assert empty.values is None and empty.labels is None
    for charts, kind in ((3, TypeError), ([3], TypeError), ([{}], ValueError), ([{"kind": "maps"}], ValueError)):
        with pytest.raises(kind, match=r"\[picture.charts"):
            sextant.Picture("<svg></svg>", 1, 1, "", "", charts)


def test_schemes_of_other_programs_are_drawn_by_their_names_in_the_file(tmp_path):
    scores = [{"length": length, "perplexity": 5.0 + length} for length in (8, 16)]
    row = {"weights": 1, "seconds": 1.0, "validation_loss": 2.0, "segments": scores, "sliding": scores}
    rows = [{"label": "wobble factor=3", "schemes": [{"scheme": "wobble", "parameters": {"factor": "3"}}], **row},
            {"label": "alibi", "schemes": [{"scheme": "alibi", "parameters": {}}], **row}]  # fmt: skip
    results = {"format": 2, "train_length": 8, "steps": 3, "stride": 4, "scored": {"first": 16, "count": 16}, "lengths": [8, 16], "rows": rows}
    (tmp_path / "results.json").write_text(json.dumps(results))
    picture = plot.extrapolation(tmp_path / "results.json")
    assert "wobble factor=3" in text_of(picture) and "ALiBi" in text_of(picture)
    assert plot.extrapolation(tmp_path / "results.json", max_width=350).width <= 350
    (segments, *_) = picture.values.items()
    assert segments[0].endswith("scored: wobble factor=3")
    np.testing.assert_array_equal(segments[1], [[8, 13], [16, 21]])
    if PROGRAM:
        found = subprocess.run([PROGRAM, "plot", "extrapolation", "results.json", "--format", "svg"], cwd=tmp_path, check=True, capture_output=True, text=True)
        assert found.stdout == picture.svg + "\n"


def test_order_shows_with_positions_alone():
    first, second = "the zebra chased the lion .", "the lion chased the zebra ."
    same = sextant.lessons.compare(first, second)
    assert same.same and same.first.weights.shape == (4, 6, 6)
    assert str(same).startswith("same: order is invisible")
    different = sextant.lessons.compare(first, second, scheme="rotary")
    assert not different.same and different.largest_difference > 1e-3
    assert same.distance < 1e-14 < 1e-3 < different.distance < 2
    assert "Different: order shows" in different.picture().title
    np.testing.assert_allclose(np.asarray(different.first).sum(-1), 1, atol=1e-12)


def test_losses_of_folders_and_of_trainings(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be. " * 100)
    options = dict(steps=3, width=8, heads=1, layers=1, length=16, batch_size=4)
    model = sextant.train.lm(str(text), **options)
    sextant.train.lm(str(text), folder=tmp_path / "first", **options)
    for run in (model, model.training, tmp_path / "first"):
        picture = plot.losses(run)
        assert "training" in text_of(picture) and "held out" in text_of(picture)
    assert plot.losses(tmp_path / "first").title == "Loss of first"
    assert plot.losses(tmp_path / "first", max_width=350).width <= 350
    both = plot.losses(tmp_path / "first", model)
    assert both.title == "2 trainings" and "first" in text_of(both) and "run 1" in text_of(both)


def test_a_page_of_the_report(tmp_path):
    if not sextant._core.has_text_libraries():
        with pytest.raises(ValueError, match="needs ICU"):
            sextant.lessons.report("The black cat sat.")
        return
    page = sextant.lessons.report("The black cat sat on the couch.", words=("cat", "couch"))
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page.html
    assert page._repr_html_().startswith("<iframe srcdoc=")
    with pytest.raises(ValueError, match=r"\[page.path\] must end in .html"):
        page.save(Path("report.svg"))
    with pytest.raises(ValueError, match=r"report.words"):
        sextant.lessons.report("The black cat sat.", words=("dog", "cat"))
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"\[report.pictures\] .*file/slides cannot be made"):
        sextant.lessons.report("The black cat sat.", pictures=tmp_path / "file" / "slides")
    with pytest.raises(TypeError, match=r"\[report.pictures\] must be a path, got int"):
        sextant.lessons.report("The black cat sat.", pictures=3)


@pytest.mark.skipif(not sextant._core.has_text_libraries(), reason="this build has no ICU")
def test_the_report_saves_its_pictures_for_slides(tmp_path):
    if not sextant.can_save_png():
        with pytest.raises(ValueError, match=r"\[picture.png\] needs librsvg"):
            sextant.lessons.report("The cat sat.", pictures=tmp_path)
        return
    page = sextant.lessons.report("The cat sat.", pictures=tmp_path / "new" / "slides")
    names = sorted(path.stem for path in (tmp_path / "new" / "slides").glob("*.svg"))
    assert names and names == sorted(path.stem for path in (tmp_path / "new" / "slides").glob("*.png")) and all(re.match(r"\d+-[a-z]", name) for name in names)
    for path in (tmp_path / "new" / "slides").glob("*.png"):
        assert int.from_bytes(path.read_bytes()[16:20], "big") == 1920
    assert page.html == sextant.lessons.report("The cat sat.").html
    if PROGRAM:
        subprocess.run([PROGRAM, "report", "The cat sat.", "--pictures", "slides", "-o", "x.html"], cwd=tmp_path, check=True)
        for path in (tmp_path / "slides").iterdir():
            assert path.read_bytes() == (tmp_path / "new" / "slides" / path.name).read_bytes(), path.name


def test_tables_show_themselves() -> None:
    for table in (sextant.rotary(20, 64), sextant.alibi(20, heads=4), sextant.fire(20, heads=4)):
        assert table._repr_svg_() == sextant.plot.heatmap(table).svg
        assert table._repr_html_() == sextant.plot.heatmap(table)._repr_html_()


LACKING = """
import sys, warnings
import numpy as np
from sextant import plot
picture = plot.attention(np.eye(3), ["the", "\u65e5", "\u65e5\u672c"])
for save in (lambda: picture.save(sys.argv[1] + "/x.svg"), lambda: picture.save(sys.argv[1] + "/x.png"), picture.png):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        save()
    print(*[one.category.__name__ + " " + str(one.message) for one in said])
"""
DEJAVU = Path("/usr/share/fonts/truetype/dejavu")  # without Chinese


@pytest.mark.skipif(not (sextant.can_save_png() and DEJAVU.exists()), reason="needs librsvg, and Debian's fonts-dejavu-core")
def test_a_png_that_lacks_glyphs_is_one_warning(tmp_path: Path) -> None:
    fonts = tmp_path / "fonts.conf"
    fonts.write_text(f"<fontconfig><dir>{DEJAVU}</dir></fontconfig>")
    environment = os.environ | {"FONTCONFIG_FILE": str(fonts), "PYTHONIOENCODING": "utf-8"}
    said = subprocess.run([sys.executable, "-c", LACKING, str(tmp_path)], env=environment, capture_output=True, check=True).stdout.decode()
    of_svg, of_png, of_bytes = said.splitlines()
    assert of_svg == "" and of_png == of_bytes
    assert of_png.startswith("UserWarning no installed font has glyphs for \u65e5\u672c, ") and "fonts-noto-cjk" in of_png
