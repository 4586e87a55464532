"""Folders of Hugging Face in the page, one of each kind: its numbers beside the command line's."""
import json
import shutil

import pytest

from conftest import ROOT, same_picture, sextant
from test_models import drop, written

GOLDEN = ROOT / "tests" / "hub" / "golden"
WORDS = "the zebra chased lion because it was hungry and a cat sat on mat".split()


def hub_folder(path, name):
    """A stored folder of random weights, with a tokenizer.json of 48 words."""
    path.mkdir()
    for file in GOLDEN.joinpath(name).iterdir():
        if file.name != "expected.safetensors":
            shutil.copy(file, path)
    tokens = ["[PAD]", "</s>", "[UNK]", "[MASK]", *WORDS, *(f"w{i}" for i in range(44 - len(WORDS)))]
    special = [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for i, token in enumerate(tokens[:4])]
    (path / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": special, "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                                                                  "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {token: i for i, token in enumerate(tokens)}}}))
    (path / "tokenizer_config.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]", "eos_token": "</s>"}))
    return path


def opened(explorer, folder, fragment="view=model"):
    one = explorer()
    page = one.open(fragment)
    written(page)
    one.picture()
    drop(page, folder)
    page.wait_for_function("() => location.hash.includes('model=own')", timeout=60000)
    page.locator("pre", has_text=f"--model {folder.name} ").first.wait_for(timeout=60000)
    return one, page


def titles(cells):
    return [float(cell.get_attribute("title")) for cell in cells.all()]


def test_a_language_model_of_the_hub(explorer, tmp_path):
    folder = hub_folder(tmp_path / "tiny-llama", "llama")
    one, page = opened(explorer, folder, "view=model&max-tokens=6&temperature=0")
    prompt = "The zebra chased the lion because"
    made = json.loads(sextant("generate", "--max-tokens", "6", "--temperature", "0", "--json", "--alternatives", "8", "--prompt", prompt, "--model", str(folder)))
    page.wait_for_function("(text) => document.querySelector('.said b')?.textContent === text", arg=made["text"], timeout=60000)
    assert page.locator(".tokens button").count() == 6
    page.locator(".tokens button").nth(2).click()
    alternatives = made["steps"][2]["alternatives"]
    assert titles(page.locator(".bars tbody tr td:nth-of-type(1)")) == pytest.approx([each["probability"] for each in alternatives], rel=1e-6)
    lens = json.loads(sextant("logit-lens", "--json", "--top-k", "8", "--model", str(folder), "--", prompt + made["text"]))
    row = len(lens["tokens"]) - 6 - 1 + 2
    first = page.locator(".predictions tbody tr").first.locator("td")
    assert titles(first) == pytest.approx([layer["predictions"][row][0]["probability"] for layer in lens["layers"]], rel=1e-6)
    page.get_by_label("Head", exact=True).select_option("1")
    page.wait_for_function("() => location.hash.includes('head=1')")
    page.locator("pre", has_text="--head 1").first.wait_for()
    text = prompt + "".join(made["tokens"][:2])
    sextant("attend", "--model", str(folder), "--part", "self", "--layer", "1", "--head", "1", "-o", str(tmp_path / "map.svg"), "--", text)
    same_picture(one.picture(), (tmp_path / "map.svg").read_text())
    assert one.problems == []


def test_a_masked_model_of_the_hub_fills_masks_and_compares_texts(explorer, tmp_path):
    folder = hub_folder(tmp_path / "tiny-bert", "bert_masked")
    one, page = opened(explorer, folder)
    text = "The zebra chased the [MASK]."
    filled = json.loads(sextant("generate", "--top-k", "8", "--json", "--fill", text, "--model", str(folder)))
    page.wait_for_function("(text) => document.querySelector('.said .written')?.textContent === text", arg=filled["filled"], timeout=60000)
    assert titles(page.locator(".bars tbody tr td:nth-of-type(1)")) == pytest.approx(filled["masks"][0]["probabilities"], rel=1e-6)
    lens = json.loads(sextant("logit-lens", "--json", "--top-k", "8", "--model", str(folder), "--", text))
    row = lens["tokens"].index("[MASK]")
    first = page.locator(".predictions tbody tr").first.locator("td")
    assert titles(first) == pytest.approx([layer["predictions"][row][0]["probability"] for layer in lens["layers"]], rel=1e-6)
    page.get_by_label("Task", exact=True).select_option("compare")
    page.locator(".similar svg").wait_for(timeout=60000)
    assert one.problems == []


def test_an_encoder_of_the_hub_compares_texts(explorer, tmp_path):
    folder = hub_folder(tmp_path / "tiny-encoder", "bert")
    one, page = opened(explorer, folder)
    page.locator(".similar svg").wait_for(timeout=60000)
    lines = ["The cat sat on the mat", "A zebra chased the lion", "it was hungry"]
    page.get_by_label("Texts to compare").fill("\n".join(lines))
    page.wait_for_function("() => document.querySelectorAll('.tokens button').length === 3", timeout=60000)
    sextant("embed", "--model", str(folder), "-o", str(tmp_path / "similar.svg"), "--", *lines)
    same_picture(page.locator(".similar svg"), (tmp_path / "similar.svg").read_text())
    found = json.loads(sextant("embed", "--model", str(folder), "--json", "--", *lines))["similarities"]
    page.locator(".similar .picture").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    reading = page.locator(".similar .reading", has_text=f"'{lines[1]}' and '{lines[1]}'")
    reading.wait_for()
    assert float(reading.inner_text().rsplit(" ", 1)[1]) == pytest.approx(found[1][1], rel=1e-6)
    page.locator(".tokens button").nth(1).click()
    page.locator("pre", has_text=lines[1] + "'").first.wait_for()
    sextant("attend", "--model", str(folder), "--part", "self", "--layer", "1", "-o", str(tmp_path / "map.svg"), "--", lines[1])
    page.wait_for_function("() => document.querySelectorAll('.picture[aria-busy]').length === 0")
    same_picture(page.locator(".picture svg").last, (tmp_path / "map.svg").read_text())
    assert one.problems == []


def test_a_translator_of_the_hub(explorer, tmp_path):
    folder = hub_folder(tmp_path / "tiny-t5", "t5")
    one, page = opened(explorer, folder, "view=model&date=the zebra was hungry")
    text = "the zebra was hungry"
    assert written(page) == sextant("translate", "--model", str(folder), "--", text).strip()
    lens = json.loads(sextant("logit-lens", "--json", "--top-k", "8", "--model", str(folder), "--", text))
    first = page.locator(".predictions tbody tr").first.locator("td")
    assert titles(first) == pytest.approx([layer["predictions"][0][0]["probability"] for layer in lens["layers"]], rel=1e-6)
    sextant("attend", "--model", str(folder), "--part", "cross", "--layer", "2", "-o", str(tmp_path / "map.svg"), "--", text)
    same_picture(one.picture(), (tmp_path / "map.svg").read_text())
    assert one.problems == []


def test_a_folder_that_is_too_large_is_refused_before_it_is_read(explorer, tmp_path):
    folder = hub_folder(tmp_path / "large", "llama")
    with open(folder / "model-00002-of-00002.safetensors", "wb") as file:
        file.truncate(500_000_001)
    page = explorer().open("view=model")
    written(page)
    assert "of at most 500 MB" in page.locator(".drop").inner_text()
    drop(page, folder)
    page.locator(".drop .problem", has_text="The model must be at most 500 MB, got 501 MB.").wait_for()


def test_a_broken_tokenizer_is_refused_with_its_key(explorer, tmp_path):
    folder = hub_folder(tmp_path / "odd", "llama")
    file = json.loads((folder / "tokenizer.json").read_text())
    file["pre_tokenizer"] = {"type": "UnicodeScripts"}
    (folder / "tokenizer.json").write_text(json.dumps(file))
    page = explorer().open("view=model")
    written(page)
    drop(page, folder)
    page.locator(".drop .problem", has_text="odd/tokenizer.json] must have one of BertPreTokenizer").wait_for(timeout=60000)
