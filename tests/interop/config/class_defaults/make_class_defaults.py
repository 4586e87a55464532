#!/usr/bin/env python3
"""Writes what the configuration classes of `transformers` take for keys that are absent, and for null, beside this script.

    python3 -m venv venv && venv/bin/pip install transformers==5.23.0
    venv/bin/python tests/interop/config/class_defaults/make_class_defaults.py

class_defaults.json has for each model type, of the keys that Sextant reads:
  config   what the class writes for a config made with no arguments
  given    configs made with some arguments, and what changes in `config`
  null     for each key what changes in `config` when it is null, or "refused"
config_defaults_test.cc reads them all.
"""
import json
import pathlib

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

HERE = pathlib.Path(__file__).parent
TYPES = """bart bert bloom camembert codegen cohere cohere2 deberta deberta-v2 deepseek_v2 deepseek_v3 distilbert falcon gemma gemma2
gemma3_text glm glm4 gpt2 gpt_neox gpt_oss gptj granite llama llama4_text marian mbart ministral3 mistral mixtral modernbert mpt mt5 olmo olmo2
olmo3 opt pegasus phi phi3 qwen2 qwen2_5_vl qwen2_5_vl_text qwen2_moe qwen2_vl qwen2_vl_text qwen3 qwen3_moe qwen3_vl
qwen3_vl_moe_text qwen3_vl_text roberta smollm3 stablelm starcoder2 t5 umt5 xlm-roberta""".split()
# Of every type, as far as its class has them.
KEYS = """hidden_size n_embd d_model dim num_hidden_layers n_layer n_layers num_layers num_decoder_layers num_attention_heads
n_head n_heads num_heads num_key_value_heads num_kv_heads head_dim d_kv max_position_embeddings n_positions n_ctx
max_seq_len original_max_position_embeddings sliding_window use_sliding_window max_window_layers layer_types
_sliding_window_pattern local_attention attention_chunk_size no_rope_layers no_rope_layer_interval rope_parameters
rope_interleave rotary_dim qk_nope_head_dim qk_rope_head_dim query_pre_attn_scalar attention_multiplier
attn_temperature_tuning attn_logit_softcapping floor_scale attn_scale alibi multi_query new_decoder_architecture attn_config learned_pos_emb
relative_attention_num_buckets relative_attention_max_distance relative_attention position_biased_input
max_relative_positions pos_att_type scale_attn_weights scale_attn_by_inverse_layer_idx
use_bidirectional_attention""".split()
INSIDE = {"attn_config": "alibi alibi_bias_max softmax_scale prefix_lm attn_uses_sequence_id".split()}
# Keys that other types have, too, without a meaning for positions.
OF_TYPES = {"encoder_layers": ("bart", "marian", "mbart", "pegasus"), "decoder_layers": ("bart", "marian", "mbart", "pegasus"),
            "encoder_attention_heads": ("bart", "marian", "mbart", "pegasus"), "decoder_attention_heads": ("bart", "marian", "mbart", "pegasus"),
            "is_decoder": ("bert", "camembert", "roberta", "xlm-roberta"),
            "pad_token_id": ("camembert", "roberta", "xlm-roberta")}
# Keys that no class writes, but that files have.
BESIDE = ["rope_theta", "rope_scaling", "partial_rotary_factor", "rotary_pct", "rotary_emb_base"]
SIZES = [("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"), ("hidden_size", "n_embd", "d_model", "dim")]


def written(model_type, given):
    """What the class writes for these arguments; of a model with images its text part."""
    kind = CONFIG_MAPPING[model_type]
    inside = "text_config" in json.loads(kind().to_json_string(use_diff=False))
    config = kind.from_dict({"text_config": given} if inside else dict(given))
    values = json.loads(config.to_json_string(use_diff=False))
    values = values["text_config"] if inside else values
    keys = KEYS + [key for key, types in OF_TYPES.items() if model_type in types]
    kept = {key: values[key] for key in keys if key in values}
    for key, names in INSIDE.items():
        if isinstance(kept.get(key), dict):
            kept[key] = {name: kept[key][name] for name in names if name in kept[key]}
    return kept


def changes(model_type, given, config):
    now = written(model_type, given)
    return {key: now[key] for key in now if key not in config or now[key] != config[key]}


def changes_of_null(model_type, key, config):
    try:
        return changes(model_type, {key: None}, config)
    except Exception:  # each class has its own
        return "refused"


def entry(model_type):
    config = written(model_type, {})
    layers, width = ([key for key in names if key in config][0] for names in SIZES)
    given = [{layers: 7}]
    if not model_type.startswith(("qwen2_vl", "qwen2_5_vl")):  # their sections need heads of 128 channels
        given.append({layers: 7, width: 2 * config[width]})
    if "use_sliding_window" in config:
        given.append({"use_sliding_window": True, "sliding_window": 16})
    if "max_window_layers" in config:
        given.append({"use_sliding_window": True, layers: config["max_window_layers"] + 3})
        given.append({"use_sliding_window": True, layers: 7, "max_window_layers": 3})
    beside = BESIDE if "rope_parameters" in config else []
    return {
        "config": config,
        "given": [{"given": each, "changes": changes(model_type, each, config)} for each in given],
        "null": {key: changes_of_null(model_type, key, config) for key in [*config, *beside]},
    }


def main():
    lines = [f'"transformers": "{transformers.__version__}"']
    lines += [f'"{each}": {json.dumps(entry(each))}' for each in TYPES]
    (HERE / "class_defaults.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
