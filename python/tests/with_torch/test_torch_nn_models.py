"""sextant.torch.nn beside the modules of Hugging Face's models: numbers, names in the state_dict, and in their place."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tiny_models import GPT2, GROUPED, tiny  # noqa: E402
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding  # noqa: E402
from transformers.models.bloom.modeling_bloom import build_alibi_tensor  # noqa: E402
from transformers.models.cohere.modeling_cohere import CohereRotaryEmbedding  # noqa: E402
from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding  # noqa: E402
from transformers.models.gemma4.modeling_gemma4 import Gemma4TextRotaryEmbedding  # noqa: E402
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding  # noqa: E402
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding  # noqa: E402
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding  # noqa: E402
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding  # noqa: E402
from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding  # noqa: E402
from transformers.models.phi3.modeling_phi3 import Phi3RotaryEmbedding  # noqa: E402
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding  # noqa: E402
from transformers.models.t5.modeling_t5 import T5Attention  # noqa: E402
from transformers.models.whisper.modeling_whisper import sinusoids  # noqa: E402

import sextant.torch  # noqa: E402
from sextant.torch import nn  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of transformers and torch, about themselves
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
ORIGINAL = 64
SHORT, LONG = [1 + 0.1 * i for i in range(8)], [1 + 2.0 * i for i in range(8)]
ROPES = {
    "default": {"rope_theta": 5e5},
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 4.0},
    "yarn": {"factor": 4.0},
    "yarn with all options": {"factor": 8.0, "beta_fast": 16.0, "beta_slow": 2.0, "truncate": False, "mscale": 0.7, "mscale_all_dim": 1.1},
    "longrope": {"short_factor": SHORT, "long_factor": LONG, "factor": 4.0},
    "llama3": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
}


def config_of(config, rope_type, options):
    rope = {"rope_type": rope_type, "rope_theta": 1e4, **options}
    if rope_type in ("yarn", "longrope", "llama3"):
        rope["original_max_position_embeddings"] = ORIGINAL
    length = 4 * ORIGINAL if rope_type in ("yarn", "longrope", "llama3") else ORIGINAL
    return config(**{**GROUPED, "hidden_size": 64, "max_position_embeddings": length, "rope_parameters": rope})


def positions(last):
    """Two texts, of which one is padded on the left."""
    ids = torch.arange(last + 1)
    return torch.stack([ids, (ids - 5).clamp(min=0)])


def near_waves(ours, theirs, ids, inv_freq):
    """Frequencies of float32 are off by some roundings, 4 in powers and quotients, the angle by one more and the cosine by one."""
    angles = torch.cat([ids[..., None] * inv_freq.double()] * 2, -1)
    for got, wanted in zip(ours, theirs):
        assert got.shape == wanted.shape
        assert got.dtype == wanted.dtype
        amplitude = wanted.abs().max().double()
        assert ((got - wanted).double().abs() <= amplitude * 2**-24 * (5 * angles.abs() + 4)).all()


@pytest.mark.parametrize("last", [ORIGINAL - 1, 4 * ORIGINAL - 1])
@pytest.mark.parametrize("rope", ROPES)
def test_every_rope_type_is_llamas(rope, last):
    config = config_of(transformers.LlamaConfig, rope.split()[0], ROPES[rope])
    theirs, ours = LlamaRotaryEmbedding(config), nn.RotaryEmbedding.from_config(config)
    assert ours.state_dict() == theirs.state_dict() == {}
    torch.testing.assert_close(ours.inv_freq, theirs.inv_freq, rtol=1e-6, atol=0)
    assert ours.attention_scaling == pytest.approx(theirs.attention_scaling, rel=1e-12)
    x, ids = torch.zeros(2, last + 1, 16), positions(last)
    got, wanted = ours(x, ids), theirs(x, ids)  # theirs changes inv_freq to that of the length
    near_waves(got, wanted, ids, theirs.inv_freq)
    assert wanted[0].shape == (2, last + 1, 16)
    for a, b in zip(ours(x.bfloat16(), ids[:1]), theirs(x.bfloat16(), ids[:1])):
        assert a.dtype == b.dtype == torch.bfloat16
        torch.testing.assert_close(a, b, rtol=2**-7, atol=2**-16 * last)


def test_rope_types_of_other_families():
    ids, x = positions(99), torch.zeros(2, 100, 16)
    long = config_of(transformers.Phi3Config, "longrope", {"short_factor": SHORT, "long_factor": LONG})
    neox = transformers.GPTNeoXConfig(hidden_size=64, num_attention_heads=4, rotary_pct=0.25)
    cohere = transformers.CohereConfig(hidden_size=64, num_attention_heads=4)
    for module, config in ((Phi3RotaryEmbedding, long), (GPTNeoXRotaryEmbedding, neox), (CohereRotaryEmbedding, cohere)):
        theirs, ours = module(config), nn.RotaryEmbedding.from_config(config)
        wanted = theirs(x, ids)
        inv_freq = theirs.inv_freq.repeat_interleave(2)[: len(theirs.inv_freq)] if module is CohereRotaryEmbedding else theirs.inv_freq
        near_waves(ours(x, ids), wanted, ids, inv_freq)
    layers = ["sliding_attention", "full_attention"]
    ropes = {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
             "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}}
    gemma = transformers.Gemma3TextConfig(**{**GROUPED, "num_hidden_layers": 2, "layer_types": layers, "rope_parameters": ropes})
    theirs = Gemma3RotaryEmbedding(gemma)
    for layer, name in enumerate(layers):
        ours = nn.RotaryEmbedding.from_config(gemma, layer=layer)
        near_waves(ours(x, ids), theirs(x, ids, name), ids, getattr(theirs, f"{name}_inv_freq"))


def test_proportional_is_gemma4s():
    config = transformers.Gemma4TextConfig(num_hidden_layers=6, hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                                           global_head_dim=32)
    theirs, ids = Gemma4TextRotaryEmbedding(config), positions(99)
    rope = config.rope_parameters["full_attention"]
    ours = nn.RotaryEmbedding(32, "rotary_proportional", base=rope["rope_theta"], proportion=rope["partial_rotary_factor"])
    x = torch.zeros(2, 100, 32)
    near_waves(ours(x, ids), theirs(x, ids, "full_attention"), ids, theirs.full_attention_inv_freq)


def test_three_ids_per_token_are_qwen3_vls():
    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [4, 2, 2], "mrope_interleaved": True}
    config = transformers.Qwen3VLTextConfig(**{**GROUPED, "rope_parameters": rope})
    theirs = Qwen3VLTextRotaryEmbedding(config)
    ours = nn.RotaryEmbedding(16, "rotary_sections", base=1e4, sections=[4, 2, 2], order="interleaved")
    ids = torch.stack([positions(29), positions(29) // 3, positions(29) % 5])
    x = torch.zeros(2, 30, 16)
    near_waves(ours(x, ids), theirs(x, ids), ids.amax(0), theirs.inv_freq)


def test_dynamic_depends_on_this_call_alone():
    """Theirs keeps the base of the longest text until one is shorter than the original length."""
    ours = nn.RotaryEmbedding.from_config(config_of(transformers.LlamaConfig, "dynamic", ROPES["dynamic"]))
    x, ids = torch.zeros(1, 80, 16), torch.arange(80)[None]
    first = ours(x, ids)
    ours(x, torch.arange(200)[None])
    for a, b in zip(ours(x, ids), first):
        assert torch.equal(a, b)


def test_a_models_rotary_embedding_is_replaced():
    ids = torch.randint(2, 97, (2, 20), generator=torch.Generator().manual_seed(3))
    for family in ("llama", "qwen3", "mistral"):
        model = tiny(family)
        names = list(model.state_dict())
        with torch.no_grad():
            wanted = model(ids).logits
            model.model.rotary_emb = nn.RotaryEmbedding.from_config(model.config)
            got = sextant.torch.patch(model)(ids).logits
        assert list(model.state_dict()) == names
        torch.testing.assert_close(got, wanted, rtol=0, atol=2e-4 * wanted.abs().max().item())


def test_learned_tables_are_those_of_checkpoints():
    ids = torch.tensor([[0, 3, 9], [4, 4, 0]])
    gpt2 = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)).eval()
    wanted = gpt2(ids).logits
    weights = gpt2.state_dict()
    gpt2.transformer.wpe = nn.LearnedPositionalEmbedding(128, 48)
    assert not torch.equal(gpt2(ids).logits, wanted)
    gpt2.load_state_dict(weights)
    assert torch.equal(gpt2(ids).logits, wanted)
    bert = transformers.BertModel(transformers.BertConfig(vocab_size=97, hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
                                                          intermediate_size=64, max_position_embeddings=30)).eval()
    wanted = bert(ids).last_hidden_state
    weights = bert.state_dict()
    bert.embeddings.position_embeddings = nn.LearnedPositionalEmbedding(30, 48)
    bert.load_state_dict(weights)
    assert torch.equal(bert(ids).last_hidden_state, wanted)
    for module, past in ((BartLearnedPositionalEmbedding, 0), (OPTLearnedPositionalEmbedding, 0), (OPTLearnedPositionalEmbedding, 2)):
        theirs, ours = module(30, 8), nn.LearnedPositionalEmbedding(30, 8, offset=2)
        ours.load_state_dict(theirs.state_dict())
        if module is BartLearnedPositionalEmbedding:
            assert torch.equal(ours(3).expand(2, 3, 8), theirs(ids))
            continue
        mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 0]])
        assert torch.equal(ours(nn.positions_of_mask(mask, past)), theirs(mask, past))
    padded = nn.LearnedPositionalEmbedding(30, 8, offset=2, padding_idx=1)  # RoBERTa
    padded(nn.positions_of_mask(mask)).sum().backward()
    assert (padded.weight[1] == 0).all()
    assert padded.weight.grad[:, 0].tolist() == [0, 0, 2, 2, 2, 1] + 26 * [0]


def test_sinusoids_are_those_of_models():
    ids = torch.tensor([[0, 3, 9], [4, 4, 29]])
    marian = MarianSinusoidalPositionalEmbedding(30, 8)
    marian.weight = torch.nn.Parameter(marian.create_weight(), requires_grad=False)
    ours = nn.SinusoidalPositionalEmbedding(30, 8, layout="half_split")
    assert list(ours.state_dict()) == list(marian.state_dict()) == ["weight"]
    assert not ours.weight.requires_grad
    torch.testing.assert_close(ours.weight, marian.weight, rtol=0, atol=1e-7)  # theirs are rounded twice
    torch.testing.assert_close(ours(ids), marian(None, position_ids=ids), rtol=0, atol=1e-7)
    whisper = nn.SinusoidalPositionalEmbedding(30, 8, layout="half_split", ladder="d/2-1")
    torch.testing.assert_close(whisper.weight, sinusoids(30, 8), rtol=0, atol=4e-6)  # angles of float32 up to 30
    m2m = M2M100SinusoidalPositionalEmbedding(30, 8, padding_idx=1)
    ours = nn.SinusoidalPositionalEmbedding(30, 8, offset=2, padding_idx=1, persistent=False, layout="half_split", ladder="d/2-1")
    assert ours.state_dict() == m2m.state_dict() == {}
    tokens = torch.tensor([[1, 1, 5, 7, 9], [5, 6, 7, 8, 1]])  # 1 is padding
    torch.testing.assert_close(ours(nn.positions_of_mask(tokens != 1)), m2m(tokens), rtol=0, atol=1e-6)
    grown = ours(torch.arange(100))  # beyond the rows that are kept
    assert torch.equal(grown[:30], ours(30))
    m2m(torch.full((1, 100), 5))
    torch.testing.assert_close(grown, m2m.weights[2:102], rtol=0, atol=2e-5)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5s_bias_has_t5s_name_and_numbers(bidirectional):
    config = transformers.T5Config(num_heads=3, d_model=24, d_kv=8, is_decoder=not bidirectional)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = nn.T5RelativeBias(3, bidirectional=bidirectional)
    ours.load_state_dict({name: tensor for name, tensor in theirs.state_dict().items() if "relative" in name})
    assert list(ours.state_dict()) == ["relative_attention_bias.weight"]
    for q_len, k_len, past in ((7, 7, 0), (1, 300, 299), (300, 300, 0), (5, 3, 0)):
        assert torch.equal(ours.compute_bias(q_len, k_len, past), theirs.compute_bias(q_len, k_len, past_seen_tokens=past))
    dout = torch.randn(1, 3, 40, 40)
    gradients = [torch.autograd.grad(module.compute_bias(40, 40), module.relative_attention_bias.weight, dout)[0] for module in (ours, theirs)]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)
    # Through attention, from a bias by distance and from one of heads x q x k.
    q = torch.randn(2, 3, 40, 8)
    by_distance = sextant.torch.scaled_dot_product_attention(q, q, q, bias=ours(40), scale=1.0)
    whole = torch.nn.functional.scaled_dot_product_attention(q, q, q, theirs.compute_bias(40, 40), scale=1.0)
    gradients = [torch.autograd.grad(out.square().sum(), module.relative_attention_bias.weight)[0]
                 for out, module in ((by_distance, ours), (whole, theirs))]
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("heads", [1, 8, 12])
def test_alibis_slopes_are_blooms(heads):
    theirs = build_alibi_tensor(torch.ones(1, 6), heads, torch.float32)  # slope * position: the same for a softmax
    ours = nn.ALiBi(heads)
    assert ours.state_dict() == {}
    torch.testing.assert_close(ours.head_slopes, theirs[:, 0, 1], rtol=1e-6, atol=0)
    q = torch.randn(2, heads, 6, 8)
    out = [sextant.torch.scaled_dot_product_attention(q, q, q, is_causal=True, **given)
           for given in ({"bias": ours(6)}, {"slopes": ours.head_slopes})]
    mask = theirs.expand(heads, 6, 6).masked_fill(torch.ones(6, 6).triu(1) > 0, -torch.inf)
    for got in out:
        torch.testing.assert_close(got, torch.nn.functional.scaled_dot_product_attention(q, q, q, mask))
