"""Models of Hugging Face that are asked for attn_implementation="sextant" by name, as from_pretrained() and from_config() do: right, or
refused with words."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tiny_models import COMMON, GPT2, tiny  # noqa: E402
from transformers.masking_utils import causal_mask_function, sdpa_mask  # noqa: E402

import sextant.torch  # noqa: E402
from sextant.torch import _transformers  # noqa: E402
from sextant.torch._model_mask import ModelMask  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of transformers and torch, about themselves
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
SMALL = {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "pad_token_id": 0}
WIDE = {"d_model": 32, "pad_token_id": 0, "vocab_size": 97}
GPTS = {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 4}
BOTH = {**WIDE, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64}
# Name of class and config: options. Most have attention of their own in 5.23; later versions of transformers move some to the interface.
ASKED = {
    "Bloom": {"vocab_size": 97, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    "Falcon": {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
    "GPTJ": GPTS,
    "CodeGen": GPTS,
    "GPTNeo": {"vocab_size": 97, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]},
    "XGLM": {**WIDE, "num_layers": 2, "attention_heads": 4, "ffn_dim": 48},
    "Mpt": {"vocab_size": 97, "d_model": 32, "n_layers": 2, "n_heads": 4},
    "MPNet": SMALL,
    "RoFormer": SMALL,
    "Longformer": {**SMALL, "attention_window": [8, 8]},
    "Deberta": SMALL,
    "XLNet": {**WIDE, "n_layer": 2, "n_head": 4, "d_inner": 48},
    "BigBird": {**SMALL, "attention_type": "original_full"},
    "BigBirdPegasus": {**BOTH, "attention_type": "original_full"},  # passes transformers' own check of the interface
    "Git": {**SMALL, "vision_config": {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "image_size": 32}},  # a table of classes
    "Llama": {**SMALL, "num_key_value_heads": 2},
    "Mistral": {**SMALL, "num_key_value_heads": 2, "sliding_window": 6},
    "Gemma2": {**SMALL, "num_key_value_heads": 2, "head_dim": 8, "sliding_window": 6},
    "GPT2": GPT2,
    "Bert": SMALL,
    "Roberta": SMALL,
    "Bart": BOTH,
    "T5": {"vocab_size": 97, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "pad_token_id": 0},
    "ModernBert": {**SMALL, "local_attention": 8},
}
MUST_RUN = ("Llama", "Mistral", "Gemma2", "GPT2", "Bert", "Roberta", "Bart", "T5", "ModernBert")
NEED = r'\[attn_implementation\] needs attention that goes through transformers\' AttentionInterface, which .* does not: use "eager"'


def made(name, implementation):
    config = getattr(transformers, name + "Config")(**ASKED[name])
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(config, attn_implementation=implementation).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(parameter.numel()))
    return model


def hidden(name, implementation, padding):
    ids = torch.randint(2, 97, (2, 16), generator=torch.Generator().manual_seed(3))
    seen = torch.ones_like(ids)
    seen[0, padding] = 0
    model = made(name, implementation)
    more = {"decoder_input_ids": ids[:, :5]} if model.config.is_encoder_decoder else {}
    with torch.no_grad():
        out = model(ids, attention_mask=seen, **more).last_hidden_state
    return out if more else out[seen > 0]


@pytest.mark.parametrize("padding", [slice(0, 0), slice(0, 5), slice(11, 16)], ids=["none", "left", "right"])
@pytest.mark.parametrize("name", ASKED)
def test_a_model_asked_for_by_name_is_right_or_refused(name, padding):
    try:
        got = hidden(name, "sextant", padding)
    except ValueError as error:
        assert name not in MUST_RUN
        with pytest.raises(ValueError, match=NEED):
            raise error
        return
    wanted = hidden(name, "eager", padding)
    # Two layers of width 32: a few hundred roundings of the largest number.
    assert (got - wanted).abs().max() <= 300 * 2**-24 * wanted.abs().max()


def test_models_with_attention_of_their_own_are_refused_when_they_are_made(tmp_path):
    made("Bloom", "eager").save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=NEED.replace(".*", "BloomModel")):
        transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="sextant")
    model = transformers.AutoModel.from_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"\[patch.model\] needs attention that goes .*, which BloomModel does not"):
        sextant.torch.patch(model)
    derived = type("Derived", (transformers.BloomModel,), {"__module__": "notebook"})  # has no file to read
    with pytest.raises(ValueError, match=NEED.replace(".*", "Derived")):
        derived._from_config(model.config, attn_implementation="sextant")
    derived = type("Derived", (transformers.LlamaModel,), {"__module__": "notebook"})
    derived._from_config(transformers.LlamaConfig(**ASKED["Llama"]), attn_implementation="sextant")


def mask_of(**options):
    sizes = {"batch_size": 2, "q_length": 3, "kv_length": 3, "config": transformers.LlamaConfig(**COMMON)}
    return _transformers.model_mask(**{**sizes, **options})


PADDED = torch.tensor([[False, True, True], [True, True, True]])


@pytest.mark.parametrize("padding", [None, PADDED], ids=["causal", "padded"])
def test_a_mask_is_no_number(padding):
    mask = mask_of(attention_mask=padding)
    scores = torch.zeros(2, 1, 3, 3)
    wrong = [
        lambda: scores + mask, lambda: mask + scores, lambda: torch.add(scores, mask), lambda: scores.clone().add_(mask), lambda: 1 - mask.float(),
        lambda: mask * scores, lambda: mask.to(torch.float32), lambda: mask.long(), lambda: mask.sum(-1), lambda: torch.stack([scores, mask]),
        lambda: torch.nn.functional.scaled_dot_product_attention(scores, scores, scores, mask), lambda: torch.zeros_like(mask, dtype=torch.float32),
    ]
    for use in wrong:
        with pytest.raises(ValueError, match=NEED.replace(".*", "the model of this LlamaConfig")):
            use()


@pytest.mark.parametrize("padding", [None, PADDED], ids=["causal", "padded"])
def test_a_mask_can_be_cut_joined_and_used_as_a_condition(padding):
    mask = mask_of(attention_mask=padding)
    plain = sdpa_mask(2, 3, 3, mask_function=causal_mask_function, attention_mask=padding, allow_is_causal_skip=False)
    scores = torch.randn(2, 1, 3, 3)
    assert mask.is_causal == (padding is None)
    assert (mask.shape, mask.dtype, mask.ndim, mask.size(-1), mask.device) == (plain.shape, plain.dtype, 4, 3, plain.device)
    for use in (
        lambda m: m, lambda m: m[..., :2], lambda m: ~m, lambda m: m & plain, lambda m: plain | m, lambda m: torch.cat([m, plain]), lambda m: m.to("cpu"),
        lambda m: m.expand(2, 4, 3, 3), lambda m: m.all(), lambda m: m.clone(),
    ):
        got = use(mask)
        assert isinstance(got, ModelMask)
        assert torch.equal(got.plain(), use(plain))
    for use in (lambda m: torch.where(m, scores, -1.0), lambda m: scores.masked_fill(~m, -1.0), lambda m: scores[m]):
        assert torch.equal(use(mask), use(plain))
    assert not mask.all()


def test_a_causal_mask_has_no_memory():
    mask = mask_of(q_length=1 << 20, kv_length=1 << 20)
    assert (mask.shape, mask.is_causal) == ((2, 1, 1 << 20, 1 << 20), True)
    q = torch.randn(1, 2, 3, 8)
    with_mask, without = (_transformers.attention_forward(torch.nn.Identity(), q, q, q, given)[0] for given in (mask_of(), None))
    assert torch.equal(with_mask, without)
    assert mask_of(q_length=1) is None


def test_packed_texts_and_checkpoints_have_the_numbers_of_eager():
    ids = torch.randint(2, 97, (2, 20), generator=torch.Generator().manual_seed(3))
    positions = torch.cat([torch.arange(8), torch.arange(12)])[None].expand(2, 20)
    for family in ("llama", "mistral"):
        gradients, logits = [], []
        for implementation in ("sextant", "eager"):
            model = tiny(family, implementation).train()
            model.gradient_checkpointing_enable()
            made = model(ids, position_ids=positions, labels=ids, use_cache=False)
            made.loss.backward()
            logits.append(made.logits)
            gradients.append(model.model.embed_tokens.weight.grad)
        torch.testing.assert_close(*logits, rtol=0, atol=1e-4 * logits[1].abs().max().item())
        torch.testing.assert_close(*gradients, rtol=0, atol=1e-4 * gradients[1].abs().max().item())


def test_a_compiled_model_gives_the_same():
    ids = torch.randint(2, 97, (2, 20), generator=torch.Generator().manual_seed(3))
    seen = torch.ones_like(ids)
    seen[0, :7] = 0
    model = tiny("llama", "sextant", num_hidden_layers=1)
    compiled = torch.compile(model, backend="eager")
    for mask in (None, seen):
        with torch.no_grad():
            assert torch.equal(compiled(ids, attention_mask=mask).logits, model(ids, attention_mask=mask).logits)


IMPORTS = """
import sys, sextant.torch
assert "transformers" not in sys.modules, "imported"
{early}
import transformers
config = transformers.LlamaConfig(vocab_size=97, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48)
model = transformers.AutoModel.from_config(config, attn_implementation="sextant")
assert model.config._attn_implementation == "sextant"
"""


@pytest.mark.parametrize("early", ["", "import transformers.masking_utils", "from transformers import PreTrainedModel"])
def test_transformers_is_not_imported_until_something_else_does(early):
    ran = subprocess.run([sys.executable, "-c", IMPORTS.format(early=early)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
