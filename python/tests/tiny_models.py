"""Small models of Hugging Face's families with random weights, from configs, without a network; and their attention from the
definition, in any dtype: "plain"."""

import torch
import transformers
from transformers.masking_utils import sdpa_mask


def plain(module, query, key, value, mask, scaling=None, softcap=None, s_aux=None, position_bias=None, **others):
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = query @ key.transpose(2, 3) * (query.shape[3] ** -0.5 if scaling is None else scaling)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if position_bias is not None:
        scores = scores + position_bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    if s_aux is not None:
        scores = torch.cat([scores, s_aux[None, :, None, None].expand(*scores.shape[:3], 1)], 3)
    top = scores.amax(3, keepdim=True).clamp(min=-1e300)  # a row that sees nothing
    weights = torch.exp(scores - top)
    weights = weights / weights.sum(3, keepdim=True).clamp(min=1e-300)
    return (weights[..., : key.shape[2]] @ value).transpose(1, 2), None


def plain_mask(*args, **options):
    return sdpa_mask(*args, **{**options, "allow_is_causal_skip": False})


transformers.AttentionInterface.register("plain", plain)
transformers.AttentionMaskInterface.register("plain", plain_mask)

COMMON = {
    "vocab_size": 97,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": None,
    "pad_token_id": 0,
    # Of about 1 / sqrt(width): with the usual 0.02 attention would be an average of nearly the same vectors.
    "initializer_range": 0.2,
}
GROUPED = {**COMMON, "num_key_value_heads": 2, "head_dim": 16}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
GPT2 = {"vocab_size": 97, "n_embd": 48, "n_layer": 3, "n_head": 4, "n_positions": 128, "bos_token_id": 1, "eos_token_id": None,
        "pad_token_id": 0, "initializer_range": 0.2, "attn_pdrop": 0.0, "resid_pdrop": 0.0, "embd_pdrop": 0.0}
T5 = {"vocab_size": 97, "d_model": 48, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0,
      "eos_token_id": None, "pad_token_id": 0, "decoder_start_token_id": 0, "initializer_factor": 2.0}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 32}
LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]

# Name: (class, config, options that the attention gets beside the usual ones).
FAMILIES = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", {**GROUPED, "rope_parameters": LLAMA3}, {"causal"}),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", GROUPED, {"causal"}),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**GROUPED, "sliding_window": 6}, set()),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**GROUPED, "sliding_window": 6, "query_pre_attn_scalar": 16,
               "attn_logit_softcapping": 2.0}, {"softcap", "causal"}),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {**GROUPED, "sliding_window": 6, "layer_types": LAYERS}, {"causal"}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", GPT2, {"causal"}),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", {**COMMON, "attention_dropout": 0.0, "hidden_dropout": 0.0}, {"causal"}),
    "gpt_oss": ("GptOssForCausalLM", "GptOssConfig", {**GROUPED, "sliding_window": 6, "num_local_experts": 4,
                "num_experts_per_tok": 2, "layer_types": LAYERS, "rope_parameters": YARN}, {"sinks", "causal"}),
    "t5": ("T5ForConditionalGeneration", "T5Config", T5, set()),
}


def tiny(family, implementation="eager", **changes):
    model, config, options, _ = FAMILIES[family]
    torch.manual_seed(0)
    made = getattr(transformers, model)(getattr(transformers, config)(**{**options, **changes}, attn_implementation=implementation))
    if family == "gpt_oss":
        made.set_experts_implementation("eager")  # the other ones have no float64
    return made.eval()


def exact(family, **changes):
    """The model in float64 with plain attention."""
    return tiny(family, "plain", **changes).double()
