"""Language models of transformers by attn_implementation="sextant", each family from its own config, made small; and by "flex_attention"."""

from functools import partial
from unittest import SkipTest, mock

import torch
import transformers
from test_torch_transformers import FAMILIES, PADDINGS, batch, exact, logits, near, tiny
from transformers.models.auto import modeling_auto

from sextant.torch import _transformers, flex_attention

SMALL = {
    **dict.fromkeys(("hidden_size", "intermediate_size", "embedding_size", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim"), 64),
    **dict.fromkeys(("num_attention_heads", "encoder_attention_heads", "num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("num_hidden_layers", "encoder_layers", "decoder_layers", "num_key_value_heads", "num_experts_per_tok", "eos_token_id"), 2),
    **{"vocab_size": 97, "max_position_embeddings": 128, "initializer_range": 0.2, "sliding_window": 5, "moe_intermediate_size": 32},
    **{"n_group": 1, "topk_group": 1, "q_lora_rank": 16, "kv_lora_rank": 16, "pad_token_id": 0, "bos_token_id": 1},
}  # fmt: skip
MOST = 5_000_000  # weights of a model that became small
TASKS = {
    "AutoModelForCausalLM": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "AutoModelForMaskedLM": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
}
INTERFACE = r"needs attention that goes through transformers' AttentionInterface|is an argument of \w+ that this attention does not know"


def made(task, family, attention):
    torch.manual_seed(0)
    kind = transformers.CONFIG_MAPPING[family]
    usual = kind()
    options = {name: value for name, value in SMALL.items() if getattr(usual, name, None) is not None}
    if kinds := getattr(usual, "layer_types", None):
        options["layer_types"] = [kinds[0], kinds[-1]]
    return getattr(transformers, task).from_config(kind(**options), attn_implementation=attention).eval()


def words(model):
    """Logits of the words of two texts, of which the first is padded on the left."""
    ids, seen = torch.randint(3, 97, (2, 12), generator=torch.Generator().manual_seed(1)), torch.ones(2, 12, dtype=torch.long)
    seen[0, :4] = 0
    with torch.no_grad():
        return model(input_ids=torch.where(seen > 0, ids, 0), attention_mask=seen).logits[seen > 0].double()


def compare_family(task, family):
    try:
        with torch.device("meta"):
            weights = sum(each.numel() for each in made(task, family, "eager").parameters())
        wanted = words(made(task, family, "eager")) if weights < MOST else None
    except Exception:
        raise SkipTest("the small config does not run with transformers' own attention") from None
    if wanted is None:
        raise SkipTest("the config does not become small by the usual names")
    ours = mock.Mock(wraps=_transformers.scaled_dot_product_attention)
    with mock.patch.object(_transformers, "scaled_dot_product_attention", ours):
        got = words(made(task, family, "sextant"))
    if not ours.called:
        raise SkipTest("no attention is computed")
    error = ((got - wanted).abs().max() / wanted.abs().max()).item()
    assert error < 1e-4, f"relative difference of logits {error:.2g}"


def families():
    return ((f"{task} of {family}", partial(compare_family, task, family)) for task, names in TASKS.items() for family in names)


def logits_by_flex(family, inputs, function):
    """Of a model whose attention is `function`, called as transformers calls flex_attention, and whose masks are made without a compiler."""
    create = torch.nn.attention.flex_attention.create_block_mask
    blocks = mock.Mock(side_effect=lambda *given, **options: create(*given, **{**options, "_compile": False}))
    called = mock.Mock(side_effect=lambda *tensors, training, **options: function(*tensors, **options))
    place = "transformers.integrations.flex_attention.compile_friendly_flex_attention"
    with mock.patch(place, called), mock.patch("transformers.masking_utils.create_block_mask", blocks):
        return logits(tiny(family, "flex_attention"), inputs)


def compare_by_flex(family, padding):
    """transformers' functions for masks, softcaps and position biases, given to Sextant's flex_attention."""
    inputs = batch(family, padding)
    try:
        got = logits_by_flex(family, inputs, flex_attention)
    except Exception:
        try:
            logits_by_flex(family, inputs, torch.nn.attention.flex_attention.flex_attention)
        except Exception:
            raise SkipTest("it fails with torch's own flex_attention") from None
        raise
    near(got, logits(tiny(family), inputs), logits(exact(family), inputs))


def by_flex():
    return ((f"{family}, padding {padding}", partial(compare_by_flex, family, padding)) for family in FAMILIES for padding in PADDINGS)


SUITES = {
    "transformers, families of language models": ("transformers", families, INTERFACE),
    "transformers, by flex_attention": ("transformers", by_flex),
}
