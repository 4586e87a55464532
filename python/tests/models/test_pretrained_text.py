"""Models of the hub with their tokenizer: load(), embed(), other positions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sextant

GOLDEN = Path(__file__).parents[3] / "tests" / "hub" / "golden"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny GPT-2 with a tokenizer of 48 words."""
    return with_words(tmp_path / "gpt2", "gpt2")


def with_words(to: Path, name: str, processor: Any = None) -> Path:
    shutil.copytree(GOLDEN / name, to)
    model = {"type": "WordLevel", "unk_token": "w0", "vocab": {f"w{i}": i for i in range(48)}}
    (to / "tokenizer.json").write_text(json.dumps({"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "post_processor": processor, "model": model}))
    return to


def test_load_opens_both_kinds(folder: Path, tmp_path: Path) -> None:
    model = sextant.load(folder)
    assert isinstance(model, sextant.LanguageModel)
    assert model.tokenizer.kind == "pretrained"
    text = model.generate("w1 w2 w3", max_tokens=5, temperature=0)
    assert len(text.split()) == 5
    model.save(tmp_path / "saved")
    assert sextant.load(tmp_path / "saved").generate("w1 w2 w3", max_tokens=5, temperature=0) == text
    maps = model.attention_maps("w1 w2 w3")
    assert maps.queries == ["w1", "w2", "w3"]
    with pytest.raises(ValueError, match="must have tokenizer.json"):
        sextant.load(GOLDEN / "gpt2")


def test_pairs_are_read_with_their_types(tmp_path: Path) -> None:
    bert = {"type": "BertProcessing", "cls": ["w1", 1], "sep": ["w2", 2]}
    model = sextant.load(with_words(tmp_path / "bert", "bert_masked", bert))
    ids, words, types = model.tokenizer.model_input("w3 w4", "w5")
    assert words == ["w1", "w3", "w4", "w2", "w5", "w2"] and ids.tolist() == [1, 3, 4, 2, 5, 2] and types.tolist() == [0, 0, 0, 0, 1, 1]
    maps = model.attention_maps("w3 w4", "w5", layers=[1], rows=[4])
    assert maps.keys == words and maps.queries == ["w5"]
    np.testing.assert_array_equal(maps.weights, model.attention_maps(ids, types=types, layers=[1], rows=[4]).weights)
    assert not np.array_equal(maps.weights, model.attention_maps(ids, layers=[1], rows=[4]).weights)
    np.testing.assert_array_equal(model.hidden_states(ids, types=list(types))[-1].shape, (6, 16))
    expected = sextant.TensorFile(GOLDEN / "bert_masked" / "expected.safetensors")
    ids, types = expected["ids"], expected["types"]
    np.testing.assert_allclose(model.hidden_states(ids, types=types), expected["typed_hidden"], atol=1e-5)
    np.testing.assert_allclose(model.logits(np.stack([ids, ids]), types=np.stack([0 * types, types]))[1], expected["typed_logits"], atol=1e-4)
    model.save(tmp_path / "saved")
    np.testing.assert_array_equal(sextant.load(tmp_path / "saved").hidden_states(ids, types=types), model.hidden_states(ids, types=types))
    untyped = sextant.load(with_words(tmp_path / "distilbert", "distilbert", bert))
    assert untyped.attention_maps("w3", "w4").keys == ["w1", "w3", "w2", "w4", "w2"]
    causal = sextant.load(with_words(tmp_path / "gpt2", "gpt2"))
    for call, what in (
        (lambda: model.hidden_states(ids, types=types[1:]), r"\[hidden_states.types\] must have the shape of the ids, \[12\], got \[11\]"),
        (lambda: model.logits(ids, types=2 * types), r"\[logits.types\] must be 0 .. 1, got 2"),
        (lambda: untyped.hidden_states(ids, types=types), r"\[hidden_states.types\] must be 0"),
        (lambda: model.attention_maps("w3", types=[0]), r"\[attention_maps.types\] must not be given with a text"),
        (lambda: model.attention_maps(ids, "w3"), r"\[attention_maps.second\] must be given only with a text and a masked model"),
        (lambda: causal.attention_maps("w3", "w4"), r"\[attention_maps.second\] must be given only"),
        (lambda: sextant.shipped().tokenizer.model_input("a", "b"), r"second\] must not be given: only tokenizers of published models"),
    ):
        with pytest.raises(ValueError, match=what):
            call()


def test_translators_read_and_write_text(tmp_path: Path) -> None:
    for name in ("t5", "bart"):
        model = sextant.load(with_words(tmp_path / name, name))
        assert isinstance(model, sextant.Translator)
        text = model.translate("w5 w6", beams=1, length_factor=0, extra_tokens=6)
        assert isinstance(text, str) and model.translate("") == ""
        start = model.config["target_start"]
        maps = model.attention_maps("w5 w6", "w7 w8")
        assert maps.decoder.queries == [f"w{i}" for i in start] + ["w7", "w8"]
        assert maps.cross.queries == [*maps.decoder.queries[1:], f"w{model.config.get('target_end', 2)}"]
        np.testing.assert_allclose(maps.cross.weights.sum(-1), 1, atol=1e-6)
        lens = model.logit_lens("w5 w6", target="w7 w8")
        assert lens.tokens == maps.decoder.queries
        score = model.evaluate([("w5 w6", "w7 w8")])
        assert np.isfinite(score.perplexity)
        model.save(tmp_path / "saved")
        assert sextant.load(tmp_path / "saved").translate("w5 w6", beams=1, length_factor=0, extra_tokens=6) == text
    with pytest.raises(ValueError, match="got an encoder and a decoder"):
        sextant.load_pretrained(GOLDEN / "t5")


def test_embed_pools_the_last_hidden_states(tmp_path: Path) -> None:
    model = sextant.load(with_words(tmp_path / "bert", "bert"))
    texts = ["w1 w2 w3", "w7"]
    vectors = model.embed(texts)
    for text, vector in zip(texts, vectors):
        mean = model.hidden_states(model.tokenizer.encode(text))[-1].astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), rtol=0, atol=1e-7)
    assert model.embed("w7").shape == (16,)
    np.testing.assert_array_equal(model.embed("w7"), vectors[1])
    np.testing.assert_array_equal(model.embed(texts, pooling="last", max_tokens=1), model.embed(["w1", "w7"], pooling="first"))
    for arguments, said in (
        ({"pooling": "some"}, r"\[embed.pooling\]"),
        ({"max_tokens": 0}, r"\[embed.max_tokens\]"),
        ({"normalize": 1}, r"\[embed.normalize\]"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            model.embed(texts, **arguments)
    with pytest.raises(ValueError, match=r"\[embed.texts\] must be one or more"):
        model.embed([])


def test_other_positions_are_those_of_a_model_made_with_them(folder: Path) -> None:
    own = sextant.load(folder).logits([1, 2, 3])
    none = sextant.load(folder, replace_scheme="none")
    assert none.config["schemes"][0]["scheme"] == "none"
    assert not np.array_equal(none.logits([1, 2, 3]), own)
    np.testing.assert_array_equal(none.logits([1, 2, 3]), sextant.load(folder, without_positions=True).logits([1, 2, 3]))
    rotary = sextant.load(folder, replace_scheme={"rotary": {"base": 500}})
    assert rotary.config["schemes"] == [{"scheme": "rotary", "parameters": {"base": "500"}}]
    for arguments, said in (
        ({"replace_scheme": "t5"}, r"\[load.replace_scheme\] must be schemes that learn nothing"),
        ({"replace_scheme": "rotry"}, "rotary"),
        ({"replace_scheme": "none", "without_positions": True}, "must not be given together"),
        ({"replace_scheme": 3}, r"\[load.replace_scheme\]"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            sextant.load(folder, **arguments)  # type: ignore[arg-type]


def test_exchange_positions_scores_them(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text(" ".join(f"w{i * i % 48}" for i in range(200)))
    table = sextant.exchange_positions(folder, text, ["none", {"rotary": {"base": 500}}], test_lengths=[8, 16], stride=4, scored=64)
    assert [row.label for row in table.rows] == ["learned, its own", "none", "rotary base=500"]
    assert table.steps == 0 and table.lengths == [8, 16]
    assert all(np.isfinite(row.segments).all() for row in table.rows)
    for arguments, said in (
        ((["t5"],), r"\[exchange_positions.schemes\] must be schemes that learn nothing"),
        (("none",), r"\[exchange_positions.schemes\] must be a list"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            sextant.exchange_positions(folder, text, *arguments, test_lengths=[8])
    with pytest.raises(ValueError, match=r"\[exchange_positions."):
        sextant.exchange_positions(folder, text, ["none"], test_lengths=[16, 8])


def test_exchange_positions_trains_the_model_further(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text(" ".join(f"w{i * i % 48}" for i in range(800)))

    def run(**more: Any) -> Any:
        lengths = {"test_lengths": [8, 16], "stride": 4, "scored": 32, "held_out": 0.25}
        return sextant.exchange_positions(folder, text, ["none"], steps=2, train_length=8, batch_size=2, **lengths, **more)

    table = run(folder=tmp_path / "runs")
    assert [(row.label, row.stage) for row in table.rows] == [
        ("learned, its own", "before"),
        ("learned, its own", "after"),
        ("none", "before"),
        ("none", "after"),
    ]
    assert table.steps == 2 and table.train_length == 8
    assert [mean.label for mean in table.means][2:] == ["none, before", "none, after"]
    assert not np.array_equal(table.rows[2].segments, table.rows[3].segments)
    seen: list[str] = []
    again = run(folder=tmp_path / "runs", on_step=lambda label, doing, length, metrics: seen.append(doing))
    assert seen == [] and again.json == table.json
    with pytest.raises(ValueError, match=r"\[exchange_positions.rate\]"):
        run(rate=-1)
    stopped = run(on_step=lambda *_: False)
    assert stopped.stopped
