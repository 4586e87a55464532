"""Models of this library as transformers opens them: the same tokens, and logits within what float32 rounds."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import numpy as np  # noqa: E402

import sextant  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.filterwarnings("ignore::FutureWarning")]

TEXT = "the cat sat on the mat.\nthe dog ran to the cat, and the rug was red.\n" * 20
LLAMA = {"activation": "swiglu", "norm": "rms", "bias": False, "kv_heads": 2}
MODELS = {
    "gpt_neox": {},
    "gpt_neox of a part": {"scheme": {"rotary": {"rotary_dim": 4, "base": 500}}},
    "gpt2": {"scheme": "learned"},
    "gpt2 of sines": {"scheme": "sinusoidal"},
    "gpt2 without positions": {"scheme": "none"},
    "bloom": {"scheme": "alibi", "embedding_norm": True, "activation": "gelu_tanh"},
    "llama": {**LLAMA, "scheme": {"rotary_llama3": {"factor": 4, "original_length": 16}}},
    "llama of yarn": {**LLAMA, "scheme": {"rotary_yarn": {"factor": 4, "original_length": 16}}},
    "qwen2": {**LLAMA, "qkv_bias": True},
    "qwen3": {**LLAMA, "qk_norm": "head"},
    "mistral": {**LLAMA, "scheme": {"rotary": {}, "window": {"left": 3}}},
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_what_it_was(name, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    model = sextant.train.lm(
        tmp_path / "text.txt", steps=8, width=24, heads=3 if "kv_heads" not in MODELS[name] else 4, layers=2, length=32,
        tokenizer="character", **MODELS[name],
    )  # fmt: skip
    assert model.save_pretrained(tmp_path / "hf") == name.split()[0]
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "hf", dtype=torch.float64).eval()
    text = "the red cat ran;\nto it"  # with a character that is unknown
    ids = [int(each) for each in model.tokenizer.encode(text)]
    if name == "qwen2":  # whose tokenizer transformers makes itself
        assert not (tmp_path / "hf/tokenizer.json").exists()
    else:
        tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == ids
        assert theirs.generation_config.eos_token_id in (2, [2])
    with torch.no_grad():
        wanted = theirs(torch.tensor([ids])).logits[0].numpy()
    got = model.logits(ids)
    assert np.abs(got - wanted).max() <= 600 * 2**-24 * np.abs(wanted).max()  # the roundings of the longest chain


def test_words_are_the_same_tokens(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    model = sextant.train.lm(tmp_path / "text.txt", steps=1, width=8, heads=1, layers=1, length=16, tokenizer="word", split_punctuation=False)
    model.save_pretrained(tmp_path / "hf", dtype="bfloat16")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    for text in ("the cat\n\nsat  on \tit", "", "mat.\n"):
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == list(model.tokenizer.encode(text))


def test_what_no_model_type_has_is_an_error(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    model = sextant.train.lm(tmp_path / "text.txt", steps=1, width=8, heads=1, layers=1, length=16, scheme="t5")
    with pytest.raises(ValueError, match=r"\[save_pretrained.model\] .* schemes must be .*t5"):
        model.save_pretrained(tmp_path / "hf")
    assert not (tmp_path / "hf").exists()
