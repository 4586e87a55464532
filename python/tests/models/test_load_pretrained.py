"""Models of the Hugging Face hub: ids in, hidden states, logits and maps out. tests/hub says that the numbers are those of transformers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Callable

import numpy as np
import pytest

import sextant

GOLDEN = Path(__file__).resolve().parents[3] / "tests/hub/golden"


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "qwen2"])
def test_logits_and_hidden_states_are_those_of_transformers(name: str) -> None:
    model = sextant.load_pretrained(GOLDEN / name)
    expected = sextant.TensorFile(GOLDEN / name / "expected.safetensors")
    assert isinstance(model, sextant.LanguageModel)
    ids = expected["ids"]
    np.testing.assert_allclose(model.hidden_states(ids), expected["hidden"], atol=1e-4)
    np.testing.assert_allclose(model.logits(ids), expected["logits"], atol=1e-4)
    np.testing.assert_array_equal(model.hidden_states(list(ids)), model.hidden_states(ids))


def test_a_bert_has_hidden_states_and_no_logits() -> None:
    model = sextant.load_pretrained(str(GOLDEN / "bert"))
    expected = sextant.TensorFile(GOLDEN / "bert" / "expected.safetensors")
    assert isinstance(model, sextant.MaskedModel) and model.config["logits"] is False
    np.testing.assert_allclose(model.hidden_states(expected["ids"]), expected["hidden"], atol=1e-5)
    with pytest.raises(ValueError, match="this one has hidden states alone"):
        model.logits(expected["ids"])


def test_maps_of_ids_have_the_ids_as_words() -> None:
    model = sextant.load_pretrained(GOLDEN / "gpt2")
    maps = model.attention_maps([5, 6, 7], layers=[1])
    assert maps.shape == (1, 4, 3, 3) and maps.queries == maps.keys == ["5", "6", "7"]
    np.testing.assert_allclose(maps.weights.sum(-1), 1, atol=1e-6)
    assert maps.picture(head=2).svg


def test_maps_of_ids_of_a_model_of_text_have_its_pieces() -> None:
    import tiny

    model = tiny.language_model()
    by_ids = model.attention_maps(model.tokenizer.encode("the cat"))
    by_text = model.attention_maps("the cat")
    assert by_ids.queries == by_text.queries
    np.testing.assert_array_equal(by_ids.weights, by_text.weights)
    assert model.hidden_states(model.tokenizer.encode("the cat")).shape == (2, 7, model.config["width"])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda m: m.generate("a"), "generate.model"),
        (lambda m: m.logit_lens("a"), "logit_lens.model"),
        (lambda m: m.evaluate(io.StringIO("a b")), "evaluate.model"),
        (lambda m: m.attention_maps("a"), "attention_maps.model"),
        (lambda m: m.tokenizer, "tokenizer.model"),
        (lambda m: m.save("nowhere"), "save.model"),
    ],
)
def test_what_needs_text_says_that_there_is_no_tokenizer(call: Callable[[sextant.LanguageModel], object], name: str) -> None:
    with pytest.raises(ValueError, match=rf"\[{name}] must have a tokenizer"):
        call(sextant.load_pretrained(GOLDEN / "gpt2"))


def test_hidden_tokens_of_a_bert_need_a_tokenizer() -> None:
    with pytest.raises(ValueError, match=r"\[fill.model] must have a tokenizer"):
        sextant.load_pretrained(GOLDEN / "bert").fill("a [MASK]")


@pytest.mark.parametrize("ids", [[48], [-1], [], [0.5], ["a"]])
def test_wrong_ids_are_refused_by_name(ids: list[object]) -> None:
    model = sextant.load_pretrained(GOLDEN / "llama")
    with pytest.raises((ValueError, TypeError), match=r"\[hidden_states.ids"):
        model.hidden_states(ids)


def test_folders_that_are_none_are_refused(tmp_path: Path) -> None:
    for folder, said in ((tmp_path, "must be a Hugging Face model's folder"), ("", "load_pretrained.folder")):
        with pytest.raises(ValueError, match=said):
            sextant.load_pretrained(folder)
    with pytest.raises(ValueError, match="load_pretrained"):
        sextant.load(GOLDEN / "gpt2")
