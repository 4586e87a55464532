"""Models of Hugging Face with attn_implementation="sextant" beside their own attention ("eager")."""

import re
import sys
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tiny_models import FAMILIES, exact, tiny  # noqa: E402

import sextant.torch  # noqa: E402
from sextant.torch import _transformers  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of transformers and torch, about themselves
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
torch.set_num_threads(1)  # of models this small; the operator has its own
PADDINGS = {"none": (0, 0), "left": (7, 0), "right": (0, 7)}
LENGTH = 20


def batch(family, padding="none"):
    """Two texts, of which the first is shorter by the padding."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(2, 97, (2, LENGTH), generator=generator)
    seen = torch.ones_like(ids)
    left, right = PADDINGS[padding]
    seen[0, :left] = 0
    seen[0, LENGTH - right :] = 0
    inputs = {"input_ids": torch.where(seen > 0, ids, 0), "attention_mask": seen}
    if family == "t5":
        inputs["decoder_input_ids"] = torch.randint(2, 97, (2, 9), generator=generator)
    return inputs


def logits(model, inputs):
    """[tokens, vocabulary] of the tokens that are no padding."""
    with torch.no_grad():
        made = model(**inputs).logits.double()
    return made[inputs["attention_mask"] > 0] if made.shape[1] == inputs["attention_mask"].shape[1] else made.flatten(0, 1)


def near(got, eager, wanted):
    """What float32 can give in this model is what eager attention misses of float64; another order of the same sums may miss as
    much in the other direction, and a largest value of thousands varies by a factor of two."""
    error = (eager - wanted).abs().max()
    assert error < 1e-4 * wanted.abs().max()
    assert (got - wanted).abs().max() <= 4 * error


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("family", FAMILIES)
def test_logits_are_those_of_eager(family, padding):
    inputs = batch(family, padding)
    eager = logits(tiny(family), inputs)
    model = sextant.torch.patch(tiny(family))
    near(logits(model, inputs), eager, logits(exact(family), inputs))
    model.set_attn_implementation("eager")
    assert torch.equal(logits(model, inputs), eager)
    assert torch.equal(logits(tiny(family, "sextant"), inputs), logits(sextant.torch.patch(model), inputs))


@pytest.mark.parametrize(("cache", "padding"), [("dynamic", "left"), ("static", "left"), ("static", "none")])
@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_generation_is_that_of_eager(family, cache, padding):
    inputs = batch(family, padding)
    inputs.pop("decoder_input_ids", None)
    # Random models like to say one word again and again: each word once.
    options = {"max_new_tokens": 12, "do_sample": False, "no_repeat_ngram_size": 1, "output_logits": True, "return_dict_in_generate": True}
    if cache == "static":
        options["cache_implementation"] = "static"
    models = tiny(family, "sextant"), tiny(family), exact(family)
    ours, eager, wanted = (model.generate(**inputs, **options) for model in models)
    assert torch.equal(ours.sequences, eager.sequences)
    near(*(torch.stack(made.logits).double() for made in (ours, eager, wanted)))


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "t5"])  # whose decoder takes one prompt
def test_a_prompt_in_pieces_is_the_prompt(family):
    """A second piece attends to the cache of the first: more keys than queries."""
    inputs = batch(family, "left")
    model = tiny(family, "sextant")
    with torch.no_grad():
        whole = model(**inputs).logits
        first = model(input_ids=inputs["input_ids"][:, :12], attention_mask=inputs["attention_mask"][:, :12], use_cache=True)
        second = model(input_ids=inputs["input_ids"][:, 12:], attention_mask=inputs["attention_mask"], past_key_values=first.past_key_values)
    torch.testing.assert_close(second.logits, whole[:, 12:], atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_training_step_has_the_gradients_of_eager(family):
    inputs = batch(family, "left")
    labels = inputs.get("decoder_input_ids", torch.where(inputs["attention_mask"] > 0, inputs["input_ids"], -100))
    gradients = []
    for model in (tiny(family, "sextant"), tiny(family), exact(family)):
        model.train()(**inputs, labels=labels).loss.backward()
        gradients.append({name: p.grad.double() for name, p in model.named_parameters() if p.grad is not None})
    ours, eager, wanted = gradients
    assert ours.keys() == eager.keys()
    for name in ours:
        error = (eager[name] - wanted[name]).abs().max()
        # One tensor's largest error may be small by chance: at least 16 roundings of its largest gradient are allowed.
        assert (ours[name] - wanted[name]).abs().max() <= 4 * error + 2**-20 * wanted[name].abs().max(), name


@pytest.mark.parametrize("family", FAMILIES)
def test_each_model_uses_what_it_is_here_for(family, monkeypatch):
    """The options that reach the operator, in a text without padding."""
    used = set()
    real = _transformers.scaled_dot_product_attention

    def watch(query, key, value, mask=None, **options):
        used.update(name for name, given in options.items() if given is not None)
        used.update({"mask"} if mask is not None else ())
        used.update({"float mask"} if mask is not None and mask.dtype != torch.bool else ())
        assert key.shape[1] <= 2 or "num_key_value_heads" not in FAMILIES[family][2]
        return real(query, key, value, mask, **options)

    monkeypatch.setattr(_transformers, "scaled_dot_product_attention", watch)
    with torch.no_grad():
        tiny(family, "sextant")(**batch(family))
    assert FAMILIES[family][3] <= used
    assert ("float mask" in used) == (family == "t5")
    assert ("mask" in used) == (family in ("mistral", "gemma2", "gemma3", "gpt_oss", "t5"))  # windows that hide keys, or a bias


def test_bfloat16():
    inputs = batch("llama", "left")
    eager, ours = (logits(tiny("llama", name).to(torch.bfloat16), inputs) for name in ("eager", "sextant"))
    wanted = logits(exact("llama"), inputs)
    assert (ours - wanted).abs().mean() <= 1.2 * (eager - wanted).abs().mean()


def test_windows_without_padding_need_no_mask_until_they_hide_keys():
    inputs = {name: tensor[:, :5] for name, tensor in batch("mistral").items()}
    near(*(logits(model, inputs) for model in (tiny("mistral", "sextant"), tiny("mistral"), exact("mistral"))))


def test_dropout_is_drawn_in_training_alone():
    model = tiny("gpt2", "sextant", attn_pdrop=0.2, resid_pdrop=0.0, embd_pdrop=0.0).train()
    inputs = batch("gpt2")
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outputs.append(model(**inputs).logits)
    assert torch.equal(outputs[0], outputs[1]) and not torch.equal(outputs[0], outputs[2])
    outputs[2].sum().backward()
    model.eval()
    assert torch.equal(model(**inputs).logits, model(**inputs).logits)


def test_what_cannot_be_patched_is_left_as_it_was():
    config = transformers.BloomConfig(vocab_size=97, hidden_size=32, n_layer=1, n_head=2)
    bloom = transformers.BloomForCausalLM(config)
    before = bloom.config._attn_implementation
    with pytest.raises(ValueError, match=r"\[patch.model\] needs attention .* AttentionInterface, which Bloom.* does not"):
        sextant.torch.patch(bloom)
    assert bloom.config._attn_implementation == before
    with pytest.raises(TypeError, match=r"\[patch.model\] must be a model of transformers, got Linear"):
        sextant.torch.patch(torch.nn.Linear(2, 2))


def test_unknown_arguments_are_refused_by_name():
    model, q = tiny("gpt2"), torch.zeros(1, 2, 3, 4)
    with pytest.raises(ValueError, match=r"\[sextant.block_indices\] is an argument of Identity"):
        _transformers.attention_forward(torch.nn.Identity(), q, q, q, None, block_indices=q)
    with pytest.raises(ImportError, match="needs transformers"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "transformers", None)
            sextant.torch.patch(model)


def test_the_page_runs(tmp_path):
    """Every block of docs/python-torch.md, one after the other."""
    tiny("llama").save_pretrained(tmp_path)
    q, kv = torch.randn(1, 4, 20, 16, requires_grad=True), torch.randn(1, 2, 20, 16)
    ids = torch.arange(20)
    names = {"path": tmp_path, "position_ids": ids[None], "words": torch.randn(1, 20, 64), "inputs": batch("llama"), "tokens": [str(i) for i in range(batch("llama")["input_ids"].shape[1])], "query": q, "key": kv, "value": kv, "slopes": torch.rand(4), "sinks": torch.rand(4)}
    page = Path(__file__).parents[3] / "docs" / "python-torch.md"
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(block, page.name, "exec"), names)
    assert q.grad is not None
    assert names["layer"].table.grad.abs().sum() > 0


def test_a_transformers_without_what_is_used_is_an_error_at_the_call():
    class Registry(dict):
        def register(self, name, function):
            self[name] = function

    registry = Registry()
    base = type("PreTrainedModel", (), {"get_correct_attn_implementation": None})
    kept = transformers.AttentionMaskInterface()[_transformers.NAME]
    try:
        _transformers.register(types.SimpleNamespace(AttentionInterface=registry, PreTrainedModel=base))
    finally:
        transformers.AttentionMaskInterface.register(_transformers.NAME, kept)
    words = f"transformers {re.escape(transformers.__version__)}: its PreTrainedModel has no _can_set_attn_implementation"
    with pytest.raises(ImportError, match=words):
        registry[_transformers.NAME](None)
