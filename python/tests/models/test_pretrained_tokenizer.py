"""Tokenizers of published models: ids, offsets in characters, and what is refused."""

import json
import pathlib

import pytest

import sextant

STORED = pathlib.Path(__file__).resolve().parents[3] / "tests" / "text" / "pretrained"


def stored(name):
    return sextant.PretrainedTokenizer(STORED / f"{name}.json"), json.loads((STORED / f"{name}.expected.json").read_text())


@pytest.mark.parametrize("name", ["bert", "llama3", "t5"])
def test_texts_become_the_ids_of_tokenizers(name):
    tokenizer, rows = stored(name)
    for text, ids, offsets, decoded in rows:
        found = tokenizer.encode(text)
        assert found.ids.tolist() == ids
        assert len(found.tokens) == len(found.type_ids) == len(ids) and found.offsets.shape == (len(ids), 2)
        at = {byte: i for i, byte in enumerate(len(text[:i].encode()) for i in range(len(text) + 1))}
        assert found.offsets.ravel().tolist() == [at[byte] for byte in offsets]
        assert tokenizer.decode(found.ids) == decoded


def test_offsets_are_places_of_the_str():
    tokenizer, _ = stored("bert")
    text = "É 中."
    found = tokenizer.encode(text, add_special_tokens=False)
    assert [text[a:b] for a, b in found.offsets] == ["É", "中", "."]


def test_tokens_and_ids():
    tokenizer, _ = stored("bert")
    assert len(tokenizer) == 503 and tokenizer.max_length is None
    assert tokenizer.id_of("[CLS]") == 2 and tokenizer.piece(2) == "[CLS]" and tokenizer.is_special(2)
    assert tokenizer.id_of("no such token") is None
    assert tokenizer.decode([2, 4], skip_special_tokens=False) == "[CLS] [MASK]"
    assert repr(tokenizer).endswith("503 ids)")


def test_what_is_refused(tmp_path):
    tokenizer, _ = stored("bert")
    with pytest.raises(ValueError, match="must be the id of a token"):
        tokenizer.piece(503)
    with pytest.raises(ValueError, match=r"encode.text"):
        tokenizer.encode("\ud800")
    for call, place in ((lambda: tokenizer.encode(3), "encode.text"), (lambda: tokenizer.id_of(3), "id_of.token"),
                        (lambda: tokenizer.piece("a"), "piece.id"), (lambda: tokenizer.is_special(None), "is_special.id"),
                        (lambda: tokenizer.decode(None), "decode.ids"), (lambda: tokenizer.decode(["a"]), "decode.ids")):
        with pytest.raises((TypeError, ValueError), match=place):
            call()
    file = json.loads((STORED / "bert.json").read_text())
    file["normalizer"]["fast"] = True
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    with pytest.raises(ValueError, match="in normalizer, got 'fast' with true"):
        sextant.PretrainedTokenizer(tmp_path)
