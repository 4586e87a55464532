"""Saved models, and the one that ships."""

from __future__ import annotations

import copy
import io
import json
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

import sextant


@pytest.fixture(scope="module")
def model() -> sextant.LanguageModel:
    return tiny.language_model()


@pytest.fixture(scope="module")
def shipped() -> sextant.Translator:
    return sextant.shipped()


@pytest.mark.parametrize(("dtype", "bits"), [("bfloat16", 8), ("float16", 11)])
def test_matrices_of_16_bits_are_for_inference(model: sextant.LanguageModel, tmp_path: Path, dtype: Any, bits: int) -> None:
    model.save(tmp_path / "saved")
    narrow = sextant.load(tmp_path / "saved", dtype=dtype)
    ids = model.tokenizer.encode("the cat saw the")
    exact, rounded = np.asarray(model.logits(ids)), np.asarray(narrow.logits(ids))
    error = np.abs(exact - rounded).max()
    # Each of some tens of products per number has a weight that is off by 2^-bits of it at most.
    assert 0 < error <= 64 * 2.0**-bits * np.abs(exact).max()
    assert narrow.generate("the cat", max_tokens=5, temperature=0)
    assert np.array_equal(np.asarray(copy.deepcopy(narrow).logits(ids)), rounded)
    with pytest.raises(ValueError, match=f"must be float32 to train, save or change weights, got {dtype}"):
        narrow.save(tmp_path / "again")
    with pytest.raises(ValueError, match="must be float32 to train, save or change weights"):
        narrow.loss(ids, gradients=True)
    with pytest.raises(ValueError, match=r"\[load.dtype\] must be one of float32, bfloat16, float16, got 'int8'"):
        sextant.load(tmp_path / "saved", dtype="int8")


def test_the_shipped_translator_knows_dates(shipped: sextant.Translator) -> None:
    assert shipped.translate("the third of march nineteen ninety-nine") == "1999-03-03"
    assert shipped.translate(["1 April 2024", ""]) == ["2024-04-01", ""]
    score = shipped.evaluate(sextant.train.check_dates()[:100])
    assert score.exact_percent >= 95 and score.bleu.score > 0 and len(score.translations) == 100


def test_several_translations_come_with_their_scores(shipped: sextant.Translator) -> None:
    class Two:
        def __index__(self) -> int:
            return 2

    assert shipped.translate("1 April 2024", beams=3, n_best=Two()) == shipped.translate("1 April 2024", beams=3, n_best=2)  # type: ignore[arg-type]
    best, second = shipped.translate("1 April 2024", beams=3, n_best=2)
    assert best.probability == pytest.approx(np.exp(best.log_probability)) and best.probability > 0.99 > second.probability
    assert best.text == "2024-04-01" and best.finished and best.score >= second.score
    assert shipped.tokenizer.decode(best.tokens) == best.text


def test_maps_of_a_translator_have_the_words_of_both_sides(shipped: sextant.Translator) -> None:
    maps = shipped.attention_maps("may 5 2020")
    assert maps.cross.queries == [*"2020-05-05", "<eos>"] and maps.cross.keys == list("may 5 2020")
    assert maps.decoder.queries == ["<bos>", *"2020-05-05"] and maps.encoder.shape == (2, 4, 10, 10)
    np.testing.assert_allclose(maps.cross.weights.sum(-1), 1, atol=1e-5)
    assert shipped.attention_maps("may 5 2020", "2020-05-05").cross.queries == maps.cross.queries


def test_maps_are_layers_heads_rows_columns(model: sextant.LanguageModel) -> None:
    maps = model.attention_maps("the cat")
    assert maps.shape == (1, 2, 7, 7) and maps.queries == maps.keys == list("the cat")
    assert np.asarray(maps).shape == maps.shape
    np.testing.assert_allclose(maps.weights.sum(-1), 1, atol=1e-5)
    assert not np.triu(maps.weights[0, 0], 1).any()


def test_maps_of_chosen_layers_are_those_of_all(shipped: sextant.Translator) -> None:
    model = tiny.language_model(layers=3)
    every, one = model.attention_maps("the cat"), model.attention_maps("the cat", layers=[1])
    assert one.layers == [1] and one.shape == (1, *every.shape[1:])
    np.testing.assert_array_equal(one.weights[0], every.weights[1])
    assert one.picture().svg == one.picture(layer=1).svg == every.picture(layer=1).svg
    with pytest.raises(ValueError, match="must be 1, got 0"):
        one.picture(layer=0)
    for first, of in zip(shipped.attention_maps("may 5", layers=[0])[:3], shipped.attention_maps("may 5")[:3], strict=True):
        np.testing.assert_array_equal(first.weights[0], of.weights[0])
    for wrong in ([], [3], [1, 0], [-1]):
        with pytest.raises(ValueError, match="attention_maps.layers"):
            model.attention_maps("the cat", layers=wrong)


def test_generation_is_a_function_of_the_seed(model: sextant.LanguageModel) -> None:
    first = model.generate("the ", max_tokens=40, seed=3)
    assert first == model.generate("the ", max_tokens=40, seed=3) != model.generate("the ", max_tokens=40, seed=4)
    assert model.generate("the ", max_tokens=5, temperature=0.0, seed=1) == model.generate("the ", max_tokens=5, temperature=0, seed=2)
    parts: list[str] = []
    assert model.generate("the ", max_tokens=40, seed=3, on_text=parts.append) == "".join(parts) == first
    assert model.generate("the ", max_tokens=40, seed=3, stop=first[10:12]) == first[: first.index(first[10:12])]


def test_a_table_of_positions_that_ends_is_said_and_slides() -> None:
    model = tiny.language_model(scheme="learned")
    length = model.config["length"]
    with pytest.warns(UserWarning, match=f"positions of the model .learned. end: {length} tokens .* slide=True continues"):
        text = model.generate("the ", max_tokens=10 * length, temperature=0)
    assert len(model.tokenizer.encode("the " + text)) <= length + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.tokenizer.encode(model.generate("the ", max_tokens=2 * length, temperature=0, slide=True))) > length
    with pytest.raises(ValueError, match=rf"generate.prompt\] must be at most {length} tokens"):
        model.generate("the " * length)


def test_several_texts_are_those_of_one_at_a_time(model: sextant.LanguageModel) -> None:
    prompts = ["the ", "a dog saw", "the cat"]
    seeds = [3, 4, 5]
    alone = [[model.generate(prompt, max_tokens=30, seed=seed) for seed in seeds] for prompt in prompts]
    assert len({text for texts in alone for text in texts}) == 9
    assert model.generate(prompts, max_tokens=30, seed=3, samples=3) == alone
    assert model.generate(tuple(prompts), max_tokens=30, seed=3, samples=3, batch_size=2, threads=1) == alone
    assert model.generate(prompts, max_tokens=30, seed=3) == [texts[0] for texts in alone]
    assert model.generate(prompts[1], max_tokens=30, seed=3, samples=3) == alone[1]
    assert model.generate(prompts[1:2], max_tokens=30, seed=3) == alone[1][:1]
    stop = alone[0][0][10:12]
    cut = [[text.split(stop)[0] for text in texts] for texts in alone]
    assert model.generate(prompts, max_tokens=30, seed=3, samples=3, stop=stop) == cut


def test_several_texts_that_cannot_be_made(model: sextant.LanguageModel) -> None:
    learned = tiny.language_model(scheme="learned")
    length = learned.config["length"]
    with pytest.warns(UserWarning, match=f"[1-4] of 4 texts end where the positions of the model .learned. end: {length} tokens"):
        texts = learned.generate(["the ", "a"], max_tokens=10 * length, samples=2)
    assert [len(samples) for samples in texts] == [2, 2]
    with pytest.raises(ValueError, match=rf"generate.prompt\[1\]\] must be at most {length} tokens"):
        learned.generate(["a", "the " * length])
    for prompts, options, error, said in [
        ([], {}, ValueError, "generate.prompt] must have at least one prompt, got none"),
        (["a", ""], {}, ValueError, "generate.prompt[1]] must have at least one token"),
        (["a", 7], {}, TypeError, "generate.prompt[1]] must be a str"),
        ({"a": 1}, {}, TypeError, "generate.prompt] must be a str or a list of str"),
        (["a"], {"on_text": print}, ValueError, "generate.on_text] must be None"),
        ("a", {"on_text": print, "samples": 2}, ValueError, "generate.on_text] must be None"),
        ("a", {"samples": 0}, ValueError, "generate.samples] must be 1 .. 2^20"),
        ("a", {"samples": 1.5}, TypeError, "generate.samples] must be a whole number"),
    ]:
        with pytest.raises(error, match=re.escape(said)):
            model.generate(prompts, **options)


def test_what_on_text_raises_comes_through(model: sextant.LanguageModel) -> None:
    def refuse(part: str) -> None:
        raise KeyError(part)

    with pytest.raises(KeyError):
        model.generate("the ", on_text=refuse)


def test_logits_are_those_of_generation(model: sextant.LanguageModel) -> None:
    ids = model.tokenizer.encode("the cat saw")
    logits = model.logits(ids)
    assert logits.shape == (len(ids), len(model.tokenizer)) and logits.dtype == np.float32
    (next_one,) = model.tokenizer.encode(model.generate("the cat saw", max_tokens=1, temperature=0.0))
    assert logits[-1].argmax() == next_one
    both = model.logits(np.stack([ids, ids[::-1]]))
    np.testing.assert_array_equal(both[0], logits)
    np.testing.assert_array_equal(both[1], model.logits(ids[::-1]))


def test_a_text_is_scored_as_its_logits_say(model: sextant.LanguageModel) -> None:
    text = "the dog saw the hut.\n"
    ids = model.tokenizer.encode(text)
    logits = model.logits(ids[:-1]).astype(np.float64)
    losses = np.log(np.exp(logits).sum(-1)) - logits[np.arange(len(ids) - 1), ids[1:]]
    score = model.evaluate(io.StringIO(text), length=64)
    assert score.tokens == len(text) and score.unknown_tokens == 0
    assert score.windows[0].perplexity == pytest.approx(np.exp(losses.mean()), rel=1e-5)


def test_weights_are_the_models_own(model: sextant.LanguageModel) -> None:
    weights = model.weights
    assert weights["embedding.weight"].shape == (len(model.tokenizer), 16)
    assert weights["embedding.weight"].flags.writeable
    assert sum(w.size for w in weights.values()) == model.training.parameters  # type: ignore[union-attr]
    kept = tiny.language_model(steps=1).weights["embedding.weight"]  # outlives its model
    assert np.isfinite(kept).all()


def test_a_saved_model_is_the_same(model: sextant.LanguageModel, tmp_path: Path) -> None:
    model.save(tmp_path / "saved")
    again = sextant.load(tmp_path / "saved")
    assert type(again) is sextant.LanguageModel and again.config == model.config
    for name, weight in model.weights.items():
        np.testing.assert_array_equal(again.weights[name], weight)
    said = tiny.program("generate", "--model", str(tmp_path / "saved"), "--prompt", "the ", "--seed", "3", "--max-tokens", "40", "--json")
    assert json.loads(said)["text"] == model.generate("the ", seed=3, max_tokens=40)


def test_each_layer_guesses_as_the_command_says(model: sextant.LanguageModel, tmp_path: Path) -> None:
    model.save(tmp_path / "saved")
    found = model.logit_lens("the cat", top_k=3)
    said = json.loads(tiny.program("logit-lens", "--model", str(tmp_path / "saved"), "the cat", "--top-k", "3", "--json"))
    assert found.tokens == said["tokens"] == list("the cat") and found.next == said["next"] == [*"he cat", None]
    assert [layer.name for layer in found.layers] == ["embedding", "layer 0"]
    for layer, wanted in zip(found.layers, said["layers"]):
        assert layer.name == wanted["name"] and layer.next_probability == wanted["next_probability"]
        assert [[{"token": t, "probability": p} for t, p in row] for row in layer.predictions] == wanted["predictions"]
    logits = model.logits(model.tokenizer.encode("the cat")).astype(np.float64)
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose([row[0][1] for row in found.layers[-1].predictions], probabilities.max(-1), rtol=1e-5)


def test_a_translator_guesses_its_own_words_or_those_given(shipped: sextant.Translator) -> None:
    own = shipped.logit_lens("may 5 2020", top_k=1)
    assert own.tokens == ["<bos>", *"2020-05-05"] and own.next == [*"2020-05-05", "<eos>"]
    assert [row[0][0] for row in own.layers[-1].predictions] == own.next
    assert shipped.logit_lens("may 5 2020", target="1999", top_k=1).next == [*"1999", "<eos>"]


def test_a_model_without_positions_is_another_one(shipped: sextant.Translator, tmp_path: Path) -> None:
    date = "the third of march nineteen ninety-nine"
    said = tiny.program("translate", "--model", "shipped", "--without-positions", date)
    blind = sextant.shipped(without_positions=True)
    assert blind.translate(date) + "\n" == said != shipped.translate(date) + "\n"
    shipped.save(tmp_path / "dates")
    assert sextant.load(tmp_path / "dates", without_positions=True).translate(date) + "\n" == said
    for function, name in ((sextant.shipped, "shipped"), (lambda **o: sextant.load(tmp_path / "dates", **o), "load")):
        with pytest.raises(TypeError, match=rf"\[{name}[.]without_positions\] must be"):
            function(without_positions="yes")  # type: ignore[operator]


def test_several_translators_are_an_ensemble(shipped: sextant.Translator, tmp_path: Path) -> None:
    shipped.save(tmp_path / "a")
    both = sextant.load(tmp_path / "a", str(tmp_path / "a"))
    assert both.translate("may 5 2020") == "2020-05-05"


def test_threads_may_share_a_model(model: sextant.LanguageModel) -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(model.generate("the ", seed=3, max_tokens=40))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1 and len(made) == 4


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda m: m.generate(""), ValueError, "generate.prompt"),
        (lambda m: m.generate(7), TypeError, "generate.prompt] must be a str"),
        (lambda m: m.generate("a\udc80"), ValueError, "generate.prompt] must be text"),
        (lambda m: m.generate("a", top_p=0.0), ValueError, "generate.top_p] must be above 0"),
        (lambda m: m.generate("a", seed=1.5), TypeError, "generate.seed] must be a whole number"),
        (lambda m: m.generate("a", beams=2), TypeError, "beams"),
        (lambda m: m.logits([[]]), ValueError, "logits.ids"),
        (lambda m: m.logits([1.0]), ValueError, "logits.ids] must be whole numbers"),
        (lambda m: m.logits("a"), TypeError, "logits.ids"),
        (lambda m: m.logits(np.array([999])), ValueError, "999"),
        (lambda m: m.attention_maps(""), ValueError, "attention_maps.text"),
        (lambda m: m.attention_maps("a", layers=[1]), ValueError, r"attention_maps.layers] must be 0 .. 0 in ascending order, got 1"),
        (lambda m: m.attention_maps("a", layers=["a"]), TypeError, "attention_maps.layers] must be a whole number"),
        (lambda m: m.attention_maps("a", layers=[]), ValueError, "attention_maps.layers] must have at least one layer"),
        (lambda m: m.evaluate("nowhere.txt"), ValueError, "nowhere.txt"),
        (lambda m: m.evaluate("a\0b"), ValueError, "evaluate.text] must be a path"),
        (lambda m: m.evaluate(io.StringIO("a"), stride=-1), ValueError, "evaluate.stride"),
        (lambda m: m.logit_lens(""), ValueError, "logit_lens.text] must be 1 .. 512 tokens"),
        (lambda m: m.logit_lens(7), TypeError, "logit_lens.text] must be a str"),
        (lambda m: m.logit_lens("a", top_k=0), ValueError, "logit_lens.top_k] must be at least 1"),
        (lambda m: m.logit_lens("a", target="b"), TypeError, "target"),
        (lambda m: sextant.shipped().logit_lens("a", target="b" * 513), ValueError, "logit_lens.target] must be 0 .. 512 tokens"),
        (lambda m: m.save(""), ValueError, "save.folder"),
        (lambda m: sextant.load("nowhere"), ValueError, "nowhere"),
        (lambda m: sextant.load(7), TypeError, "load.path"),
        (lambda m: sextant.shipped().translate(["a", 7]), TypeError, "translate.text"),
        (lambda m: sextant.shipped().translate("a", beams=0), ValueError, "translate.beams"),
        (lambda m: sextant.shipped().translate("a", beams=2, n_best=3), ValueError, "n_best"),
        (lambda m: sextant.shipped().evaluate([("a",)]), TypeError, "evaluate.pairs"),
    ],
)
def test_errors_name_the_argument(model: sextant.LanguageModel, call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as error:
        call(model)
    assert words in str(error.value)
