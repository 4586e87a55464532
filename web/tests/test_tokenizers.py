"""Tokenizers of published models in the page: ids, offsets and decoded texts are those of the library `tokenizers`."""
import json

import pytest

from conftest import ROOT

STORED = ROOT / "tests" / "text" / "pretrained"
FAMILIES = ["bert", "bert_cased", "gpt2", "llama2", "llama3", "qwen2", "roberta", "steps", "t5", "xlmr"]
QUICK = 12  # texts of a family
ENCODE = """async ([tokenizer, texts]) => {
  const bytes = (text) => new TextEncoder().encode(text), answers = [];
  for (const [i, text] of texts.entries()) {
    const files = {'/text.txt': bytes(text), ...i === 0 ? {'/stored/tokenizer.json': bytes(tokenizer)} : {}};
    const answer = await explorer.engine.run(['tokenize', '--json', '--model', '/stored', '--file', '/text.txt'], {files});
    answers.push(answer.code === 0 ? JSON.parse(answer.out) : {problem: answer.err});
  }
  return answers;
}"""


def check(shared, family, most):
    page = shared.show("view=order")
    rows = [row for row in json.loads((STORED / f"{family}.expected.json").read_text()) if is_read_whole(row[0])][:most]
    answers = page.evaluate(ENCODE, [(STORED / f"{family}.json").read_text(), [row[0] for row in rows]])
    assert len(answers) == len(rows) > 10
    for (text, ids, offsets, _), answer in zip(rows, answers):
        assert answer.get("ids") == ids, (text, answer)
        assert [place for pair in answer["offsets"] for place in pair] == offsets, text
    assert shared.problems == []


def is_read_whole(text):
    """A file is a text without the line break at its end, and must not be empty."""
    return text.strip() != "" and not text.endswith(("\n", "\r"))


@pytest.mark.parametrize("family", FAMILIES)
def test_ids_and_offsets_are_those_of_tokenizers(shared, family):
    check(shared, family, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_ids_and_offsets_of_all_stored_texts(shared, family):
    check(shared, family, None)


def test_an_expression_that_the_browser_does_not_know_is_refused(shared):
    page = shared.show("view=order")
    file = json.loads((STORED / "llama3.json").read_text())
    file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = r"\p{NoSuchScript}+"
    answer, = page.evaluate(ENCODE, [json.dumps(file), ["a"]])
    assert "must have a regular expression that this browser knows as pre_tokenizer.pretokenizers[0].pattern.Regex" in answer["problem"]


@pytest.mark.parametrize("pattern, text, words", [
    (r"\p{Han}+|\p{^Han}+", "a漢字b", ["a", "漢字", "b"]),
    (r"(?>a|ab)c|.", "abcac", ["a", "b", "c", "ac"]),
    (r"[^\s\p{L}]?+\p{L}++|\s", "1ab c", ["1ab", " ", "c"]),
    (r"(?i)x+", "aXxb", ["a", "Xx", "b"]),
    (r"^a|b$|[\n]", "a\nab", ["a", "\n", "a", "b"]),
], ids=["scripts", "atomic", "possessive", "option", "lines"])
def test_expressions_split_as_in_oniguruma(shared, pattern, text, words):
    page = shared.show("view=order")
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    vocabulary = {word: i for i, word in enumerate(["[UNK]", *dict.fromkeys(words)])}
    file = {"version": "1.0", "pre_tokenizer": split, "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocabulary}}
    answer, = page.evaluate(ENCODE, [json.dumps(file), [text]])
    assert answer.get("tokens") == words, answer
