"""sextant.lessons: the models of the teaching documents, with every option of the explorer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import tiny

import sextant
from sextant import lessons

TEXT = "the black cat sat"
OPTIONS = dict(scheme="alibi", causal=True, window=(2, 0), temperature=2.0, softcap=3.0, sinks=[0.5], hidden=[(1, 0), (None, 2)])


def softmax(scores, sink):
    top = np.maximum(scores.max(-1, keepdims=True), sink)
    weights = np.exp(scores - top)
    return weights / (weights.sum(-1, keepdims=True) + np.exp(sink - top))


def test_the_steps_lead_from_words_to_the_output():
    steps = lessons.steps(TEXT, **OPTIONS)
    assert list(steps)[0] == "embeddings" and list(steps)[-1] == "output" and len(steps) == 22
    head_dim = steps["q"].shape[-1]
    np.testing.assert_allclose(steps["scores"], steps["rotated_q"] @ steps["rotated_k"].swapaxes(1, 2) / np.sqrt(head_dim) / 2.0, rtol=1e-12)
    seen = ~np.isneginf(steps["biased"])
    assert not seen[:, 1, 0].any() and not seen[:, :, 2].any() and not seen[:, 0, 1].any() and not seen[:, 3, 0].any() and seen[:, 3, 1].all()
    np.testing.assert_allclose(steps["weights"], softmax(steps["biased"], 0.5), rtol=1e-12)
    np.testing.assert_allclose(steps["mixed"], steps["weights"] @ steps["v"], rtol=1e-11)
    again = lessons.attend(TEXT, **OPTIONS)
    np.testing.assert_array_equal(again.weights, steps["weights"])
    np.testing.assert_array_equal(again.output, steps["output"])
    assert "scores [4, 4, 4]: " in repr(steps) and steps.query_words == TEXT.split() == steps.key_words
    assert set(steps.meanings) == set(steps)


def test_they_are_those_of_the_command_line(tmp_path):
    options = ["--scheme", "alibi", "--causal", "--window=2,0", "--temperature", "2", "--softcap", "3", "--sinks", "0.5", "--hide", "1:0,*:2"]
    for step in ("scores", "biased", "weights", "output"):
        path = tmp_path / f"{step}.npy"
        tiny.program("attend", TEXT, *options, "--step", step, "-o", str(path))
        np.testing.assert_array_equal(np.load(path).squeeze(), lessons.steps(TEXT, **OPTIONS)[step])


@pytest.mark.parametrize(("given", "words"), [
    (dict(window=(1,)), r"\[steps.window\] must be \(left, right\)"),
    (dict(window=3), r"\[steps.window\]"),
    (dict(temperature=0.0), "temperature"),
    (dict(hidden=[(1, 2, 3)]), r"\[steps.hidden\] must be pairs"),
    (dict(hidden=[(1, -2)]), r"\[steps.hidden\] must be 0"),
    (dict(hidden=3), r"\[steps.hidden\] must be"),
    (dict(sinks="a"), r"\[steps.sinks\]"),
    (dict(scheme="nothing"), "nothing"),
])  # fmt: skip
def test_options_that_do_not_fit_are_refused(given, words):
    with pytest.raises(sextant.Error, match=words):
        lessons.steps(TEXT, **given)


def test_recommendation_is_attention():
    users, items = np.array([[1.0, 0.0], [0.5, 2.0]]), np.array([[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    found = lessons.recommend(users, items)
    np.testing.assert_allclose(found.scores, users @ items.T / np.sqrt(2), rtol=1e-15)
    np.testing.assert_allclose(found.weights.sum(1), 1, rtol=1e-15)
    with pytest.raises(ValueError, match=r"\[recommend"):
        lessons.recommend(users, items[:, :1])


def test_similarity_is_the_cosine():
    rows = np.random.default_rng(0).standard_normal((4, 7))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(lessons.similarity(rows), unit @ unit.T, atol=1e-15)
    with pytest.raises(ValueError, match=r"\[similarity.rows\] must be \[rows, width\]"):
        lessons.similarity(rows[0])


def test_word_vectors_are_looked_up_added_and_kept(tmp_path):
    vectors = lessons.WordVectors(["king", "queen", "man", "woman"], np.array([[1, 1], [1, -1], [0.1, 1], [0.1, -1]]))
    assert vectors.nearest("king - man + woman", 1)[0][0] == "queen"
    np.testing.assert_array_equal(vectors["queen"], np.float32([1, -1]))
    assert "man" in vectors and "boy" not in vectors and len(vectors) == 4
    vectors.save(tmp_path / "words.vec")
    for again in (lessons.WordVectors.load(tmp_path / "words.vec"), pickle.loads(pickle.dumps(vectors))):
        assert again.words == vectors.words
        np.testing.assert_array_equal(again.vectors, vectors.vectors)
    with pytest.raises(ValueError, match="boy"):
        vectors["boy"]
    with pytest.raises(FileNotFoundError):
        lessons.WordVectors.load(tmp_path / "nothing.vec")


def test_the_laboratory_finds_that_order_is_invisible():
    first, second = "the zebra chased the lion .", "the lion chased the zebra ."
    verdict = lessons.lab_compare(first, second)
    assert verdict.same and str(verdict) == verdict.verdict and not lessons.lab_compare(first, second, scheme="sinusoidal").same
    run = lessons.lab(first)
    assert run.tokens == first.split() and run.output.shape == (6, 3)
    np.testing.assert_array_equal(run.weights, verdict.first.weights)
    with pytest.raises(ValueError, match="tiger"):
        lessons.lab("the tiger")
