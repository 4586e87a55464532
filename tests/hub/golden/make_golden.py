#!/usr/bin/env python3
"""Writes tiny random models of each family as transformers saves them, and what it computes of them in float64.

    python3 -m venv venv && venv/bin/pip install torch==2.13.0 transformers==5.24.0 safetensors
    venv/bin/python tests/hub/golden/make_golden.py

A folder per model, of image models in ../golden_images; its expected.safetensors has `ids` [tokens], `hidden` [layers + 1, tokens, width] and, of models with a head,
`logits` [tokens, vocabulary], of causal ones `greedy` [64], the tokens that follow; of `bert` `typed_hidden` and `typed_logits` with the `types` of two texts. Of an encoder and a decoder `ids` are the source, `target` is
what the decoder reads, `encoder` and `decoder` are hidden states, and `greedy` what generate() writes without the end. Of an image model
`images` are [images, channels, height, width], `hidden` [layers + 1, images, tokens, width], `last` those after the final norm, `attention`
[layers, images, heads, tokens, tokens], `pooled` and `logits` [images, numbers]; `wide_` are those of images of another size.
Names after the script make or check these alone.
`--check` writes nothing and compares with what is there instead; without transformers it ends with 77.
"""
import argparse
import pathlib
import sys

# Before the libraries: `--help` needs none, and a word that is no option must write nothing.
arguments = argparse.ArgumentParser(description="Writes what transformers computes beside this script.")
arguments.add_argument("--check", action="store_true", help="compare with what is there instead")
arguments.add_argument("names", nargs="*", help="of the models; none: all")
GIVEN = arguments.parse_args()

try:
    import numpy as np
    import torch
    import transformers
    from safetensors.numpy import load_file, save_file
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent
TOKENS, GREEDY = 12, 64
NO_TOKENS = dict(bos_token_id=None, eos_token_id=None, pad_token_id=None)
LLAMA_LIKE = dict(vocab_size=48, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                  max_position_embeddings=128, **NO_TOKENS)
BERT_LIKE = dict(vocab_size=48, hidden_size=16, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4)
GPT_LIKE = dict(vocab_size=48, n_positions=128, n_embd=16, n_layer=2, n_head=4, n_inner=40, **NO_TOKENS)
FALCON_LIKE = dict(vocab_size=48, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=128, ffn_hidden_size=40, **NO_TOKENS)
NEOX_LIKE = dict(vocab_size=48, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40, max_position_embeddings=128, **NO_TOKENS)
OPT_LIKE = dict(vocab_size=48, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, ffn_dim=40, max_position_embeddings=128, word_embed_proj_dim=16,
                **NO_TOKENS)

BART_LIKE = dict(vocab_size=48, d_model=16, encoder_layers=2, decoder_layers=3, encoder_ffn_dim=24, decoder_ffn_dim=24, encoder_attention_heads=4,
                 decoder_attention_heads=4, max_position_embeddings=80, forced_eos_token_id=None)
T5_LIKE = dict(vocab_size=48, d_model=16, d_kv=3, d_ff=24, num_layers=2, num_decoder_layers=3, num_heads=4, relative_attention_num_buckets=8,
               relative_attention_max_distance=20, decoder_start_token_id=0)
VIT_LIKE = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24)

# name: (class, config, dtype of the file, largest file)
MODELS = {
    "gpt2": ("GPT2LMHeadModel", transformers.GPT2Config(
        vocab_size=48, n_positions=80, n_embd=16, n_layer=2, n_head=4, bos_token_id=None, eos_token_id=None), torch.float32, "1MB"),
    "llama": ("LlamaForCausalLM", transformers.LlamaConfig(
        **LLAMA_LIKE, head_dim=6, rms_norm_eps=1e-3, rope_parameters={
            "rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32}), torch.float32, "1MB"),
    "llama_bias": ("LlamaForCausalLM", transformers.LlamaConfig(
        **LLAMA_LIKE, attention_bias=True, mlp_bias=True, tie_word_embeddings=True), torch.float32, "1MB"),
    "mistral": ("MistralForCausalLM", transformers.MistralConfig(**LLAMA_LIKE, sliding_window=5), torch.bfloat16, "5KB"),
    "qwen2": ("Qwen2ForCausalLM", transformers.Qwen2Config(
        **LLAMA_LIKE, tie_word_embeddings=True, rope_parameters={
            "rope_type": "yarn", "rope_theta": 1000.0, "factor": 4.0, "original_max_position_embeddings": 32}), torch.float16, "1MB"),
    "bert": ("BertModel", transformers.BertConfig(**BERT_LIKE, max_position_embeddings=24), torch.float32, "1MB"),
    "bert_masked": ("BertForMaskedLM", transformers.BertConfig(**BERT_LIKE, max_position_embeddings=24), torch.float32, "1MB"),
    "bloom": ("BloomForCausalLM", transformers.BloomConfig(
        vocab_size=48, hidden_size=16, n_layer=2, n_head=4, **NO_TOKENS), torch.float32, "1MB"),
    "codegen": ("CodeGenForCausalLM", transformers.CodeGenConfig(**GPT_LIKE, n_ctx=128, rotary_dim=4), torch.float16, "1MB"),
    "cohere": ("CohereForCausalLM", transformers.CohereConfig(**LLAMA_LIKE, attention_bias=True), torch.float32, "1MB"),
    "cohere2": ("Cohere2ForCausalLM", transformers.Cohere2Config(
        **dict(LLAMA_LIKE, num_hidden_layers=3), head_dim=6, sliding_window=5, layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
        torch.float32, "1MB"),
    "deberta_v2": ("DebertaV2ForMaskedLM", transformers.DebertaV2Config(
        **BERT_LIKE, relative_attention=True, position_biased_input=False, pos_att_type="p2c|c2p", position_buckets=4, max_position_embeddings=10,
        norm_rel_ebd="layer_norm", share_att_key=True), torch.float32, "1MB"),
    "deberta_v2_maps": ("DebertaV2ForMaskedLM", transformers.DebertaV2Config(
        **BERT_LIKE, relative_attention=True, position_biased_input=False, pos_att_type=["c2p", "p2c"], max_relative_positions=5, max_position_embeddings=24,
        legacy=False), torch.float16, "1MB"),
    "distilbert": ("DistilBertForMaskedLM", transformers.DistilBertConfig(
        vocab_size=48, dim=16, n_layers=2, n_heads=4, hidden_dim=40, max_position_embeddings=24), torch.float32, "1MB"),
    "falcon": ("FalconForCausalLM", transformers.FalconConfig(**FALCON_LIKE), torch.float32, "1MB"),
    "falcon_alibi": ("FalconForCausalLM", transformers.FalconConfig(
        **FALCON_LIKE, alibi=True, multi_query=False, parallel_attn=False, bias=True), torch.float32, "1MB"),
    "falcon_heads": ("FalconForCausalLM", transformers.FalconConfig(
        **FALCON_LIKE, multi_query=False, parallel_attn=False, bias=True), torch.float32, "1MB"),
    "falcon_new": ("FalconForCausalLM", transformers.FalconConfig(
        **FALCON_LIKE, new_decoder_architecture=True, num_kv_heads=2), torch.float32, "1MB"),
    "gemma": ("GemmaForCausalLM", transformers.GemmaConfig(**LLAMA_LIKE, head_dim=8), torch.float32, "1MB"),
    "gemma2": ("Gemma2ForCausalLM", transformers.Gemma2Config(
        **LLAMA_LIKE, head_dim=8, sliding_window=5, query_pre_attn_scalar=6, attn_logit_softcapping=3.0, final_logit_softcapping=5.0), torch.float32, "1MB"),
    "gemma3": ("Gemma3ForCausalLM", transformers.Gemma3TextConfig(
        **dict(LLAMA_LIKE, num_hidden_layers=3), head_dim=8, sliding_window=5, query_pre_attn_scalar=8,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"], rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000.0}}), torch.float32, "1MB"),
    "glm": ("GlmForCausalLM", transformers.GlmConfig(**LLAMA_LIKE, head_dim=8), torch.float32, "1MB"),
    "glm4": ("Glm4ForCausalLM", transformers.Glm4Config(**LLAMA_LIKE, head_dim=8), torch.float32, "1MB"),
    "gpt_neox": ("GPTNeoXForCausalLM", transformers.GPTNeoXConfig(**NEOX_LIKE, rotary_pct=0.5), torch.float32, "1MB"),
    "gpt_neox_series": ("GPTNeoXForCausalLM", transformers.GPTNeoXConfig(
        **NEOX_LIKE, rotary_pct=1.0, use_parallel_residual=False, attention_bias=False, tie_word_embeddings=True), torch.float32, "1MB"),
    "gpt2_by_layer": ("GPT2LMHeadModel", transformers.GPT2Config(
        vocab_size=48, n_positions=80, n_embd=16, n_layer=2, n_head=4, scale_attn_by_inverse_layer_idx=True, scale_attn_weights=False, **NO_TOKENS),
        torch.float32, "1MB"),
    "gptj": ("GPTJForCausalLM", transformers.GPTJConfig(**GPT_LIKE, rotary_dim=2), torch.float32, "1MB"),
    "granite": ("GraniteForCausalLM", transformers.GraniteConfig(
        **LLAMA_LIKE, embedding_multiplier=3.0, attention_multiplier=0.3, residual_multiplier=0.25, logits_scaling=2.0), torch.float32, "1MB"),
    "llama_out_bias": ("LlamaForCausalLM", transformers.LlamaConfig(**LLAMA_LIKE, attention_bias=True), torch.bfloat16, "1MB"),
    "modernbert": ("ModernBertForMaskedLM", transformers.ModernBertConfig(
        **dict(BERT_LIKE, num_hidden_layers=3, intermediate_size=16), local_attention=6, pad_token_id=0, bos_token_id=0, eos_token_id=0, cls_token_id=0,
        sep_token_id=0, layer_types=["full_attention", "sliding_attention", "sliding_attention"]), torch.float32, "1MB"),
    "mpt": ("MptForCausalLM", transformers.MptConfig(
        vocab_size=48, d_model=16, n_layers=2, n_heads=4, max_seq_len=128), torch.float32, "1MB"),
    "olmo": ("OlmoForCausalLM", transformers.OlmoConfig(**LLAMA_LIKE), torch.float32, "1MB"),
    "olmo2": ("Olmo2ForCausalLM", transformers.Olmo2Config(**LLAMA_LIKE), torch.float32, "1MB"),
    "olmo3": ("Olmo3ForCausalLM", transformers.Olmo3Config(
        **dict(LLAMA_LIKE, num_hidden_layers=3), sliding_window=5, layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 1000.0}, "full_attention": {
            "rope_type": "yarn", "rope_theta": 1000.0, "factor": 8.0, "original_max_position_embeddings": 16}}), torch.float32, "1MB"),
    "opt": ("OPTForCausalLM", transformers.OPTConfig(**OPT_LIKE), torch.float32, "1MB"),
    "opt_post": ("OPTForCausalLM", transformers.OPTConfig(
        **OPT_LIKE, do_layer_norm_before=False, enable_bias=False, layer_norm_elementwise_affine=False), torch.float32, "1MB"),
    "phi": ("PhiForCausalLM", transformers.PhiConfig(**LLAMA_LIKE, qk_layernorm=True), torch.float32, "1MB"),
    "phi3": ("Phi3ForCausalLM", transformers.Phi3Config(**LLAMA_LIKE, sliding_window=7), torch.bfloat16, "1MB"),
    "qwen2_windows": ("Qwen2ForCausalLM", transformers.Qwen2Config(
        **LLAMA_LIKE, use_sliding_window=True, sliding_window=5, max_window_layers=1), torch.float32, "1MB"),
    "qwen3": ("Qwen3ForCausalLM", transformers.Qwen3Config(**LLAMA_LIKE, head_dim=8), torch.float32, "1MB"),
    "roberta": ("RobertaForMaskedLM", transformers.RobertaConfig(
        **dict(BERT_LIKE, pad_token_id=2), max_position_embeddings=24), torch.float32, "1MB"),
    "smollm3": ("SmolLM3ForCausalLM", transformers.SmolLM3Config(**LLAMA_LIKE, no_rope_layers=[0, 1]), torch.float32, "1MB"),
    "stablelm": ("StableLmForCausalLM", transformers.StableLmConfig(
        **LLAMA_LIKE, use_qkv_bias=True, partial_rotary_factor=0.5), torch.float32, "1MB"),
    "stablelm_parallel": ("StableLmForCausalLM", transformers.StableLmConfig(
        **LLAMA_LIKE, use_parallel_residual=True, partial_rotary_factor=0.5), torch.float16, "1MB"),
    "marian": ("MarianMTModel", transformers.MarianConfig(
        **BART_LIKE, scale_embedding=True, activation_function="swish", pad_token_id=47, decoder_start_token_id=47, eos_token_id=0), torch.float16, "1MB"),
    "bart": ("BartForConditionalGeneration", transformers.BartConfig(
        **dict(BART_LIKE, encoder_ffn_dim=16, decoder_ffn_dim=16)), torch.bfloat16, "1MB"),
    "mbart": ("MBartForConditionalGeneration", transformers.MBartConfig(
        **dict(BART_LIKE, encoder_ffn_dim=16, decoder_ffn_dim=16, decoder_layers=2), decoder_start_token_id=3, scale_embedding=True),
        torch.bfloat16, "1MB"),
    "pegasus": ("PegasusForConditionalGeneration", transformers.PegasusConfig(
        **dict(BART_LIKE, decoder_layers=2), scale_embedding=True, activation_function="relu"), torch.float16, "1MB"),
    "t5": ("T5ForConditionalGeneration", transformers.T5Config(**T5_LIKE), torch.bfloat16, "1MB"),
    "t5_gated": ("T5ForConditionalGeneration", transformers.T5Config(
        **T5_LIKE, feed_forward_proj="gated-gelu", tie_word_embeddings=False), torch.float16, "1MB"),
    "mt5": ("MT5ForConditionalGeneration", transformers.MT5Config(**T5_LIKE), torch.bfloat16, "1MB"),
    "vit": ("ViTModel", transformers.ViTConfig(
        **VIT_LIKE, image_size=12, patch_size=4, num_channels=3, pooler_output_size=10), torch.float32, "1MB"),
    "vit_bare": ("ViTModel", transformers.ViTConfig(
        **VIT_LIKE, image_size=[6, 12], patch_size=[2, 3], num_channels=5, hidden_act="gelu_new", qkv_bias=False), torch.float16, "1MB"),
    "vit_classes": ("ViTForImageClassification", transformers.ViTConfig(
        **VIT_LIKE, image_size=9, patch_size=3, num_channels=1, id2label={0: "cat", 1: "dog", 2: "zebra"}), torch.float32, "1MB"),
    "deit": ("DeiTForImageClassification", transformers.DeiTConfig(
        **VIT_LIKE, image_size=6, patch_size=2, num_channels=1, num_labels=3), torch.float32, "1MB"),
    "deit_teacher": ("DeiTForImageClassificationWithTeacher", transformers.DeiTConfig(
        **VIT_LIKE, image_size=15, patch_size=5, num_channels=3, num_labels=4), torch.bfloat16, "5KB"),
    "starcoder2": ("Starcoder2ForCausalLM", transformers.Starcoder2Config(**LLAMA_LIKE, sliding_window=6), torch.float32, "1MB"),
}
TRANSLATORS = ("marian", "bart", "mbart", "pegasus", "t5", "t5_gated", "mt5")
# The rows and columns of patches of the images of another size; none: transformers resizes positions of square images alone.
IMAGES = {"vit": (2, 5), "vit_bare": None, "vit_classes": (4, 4), "deit": (3, 2), "deit_teacher": (2, 4)}
# Their norms multiply by 1 + weight.
LESS_ONE = ("gemma", "gemma2", "gemma3")


def make(name: str) -> None:
    """With the first seed whose greedy tokens do not hang on a rounding."""
    for seed in range(100):
        write(name, seed)
        tensors, gap = expected(name)
        if gap > 1e-2:
            return save_file(tensors, folder_of(name) / "expected.safetensors")
    sys.exit(f"{name}: no seed will do")


def folder_of(name: str) -> pathlib.Path:
    return (HERE.parent / "golden_images" if name in IMAGES else HERE) / name


def arguments_of(name: str) -> "dict[str, bool]":
    return {"add_pooling_layer": False} if name == "vit_bare" else {}


def write(name: str, seed: int) -> None:
    kind, config, dtype, largest = MODELS[name]
    torch.manual_seed(seed)
    model = getattr(transformers, kind)(config, **arguments_of(name))
    if name == "bart":
        model.generation_config.forced_bos_token_id = 5
    if name == "t5_gated":  # as files of FLAN-T5 are
        model.lm_head.weight = torch.nn.Parameter(torch.empty(48, 16))
    with torch.no_grad():
        of_logits = [each for each in model.named_buffers() if each[0] == "final_logits_bias"]
        for parameter, values in [*model.named_parameters(), *of_logits]:
            if parameter.endswith("embed_positions.weight") and name in ("marian", "pegasus"):
                continue
            is_gain = values.dim() == 1 and parameter.endswith("weight")
            values.copy_((1 if is_gain and name not in LESS_ONE else 0) + torch.randn(values.shape) * (0.2 if values.dim() == 1 else 0.5))
    model.to(dtype).save_pretrained(folder_of(name), max_shard_size=largest)
    if name == "pegasus":  # sines in float16
        file = folder_of(name) / "model.safetensors"
        save_file({key: value for key, value in load_file(file).items() if "embed_positions" not in key}, file, {"format": "pt"})
    if name not in TRANSLATORS:
        (folder_of(name) / "generation_config.json").unlink(missing_ok=True)


def expected(name: str) -> "tuple[dict[str, np.ndarray], float]":
    """The arrays, and the smallest distance between the two most probable tokens."""
    gap = float("inf")
    if name in IMAGES:
        return expected_of_images(name), gap
    kind = MODELS[name][0]
    attention = "sdpa" if name == "falcon_alibi" else "eager"  # whose eager attention adds ALiBi twice
    model = getattr(transformers, kind).from_pretrained(folder_of(name), dtype=torch.float64, attn_implementation=attention).eval()
    ids = torch.randint(0, 48, (1, TOKENS), generator=torch.Generator().manual_seed(1))
    if name in TRANSLATORS:
        return expected_pair(model, ids)
    with torch.inference_mode():
        said = model(ids, output_hidden_states=True)
        result = {"ids": ids[0].numpy(), "hidden": torch.stack(said.hidden_states)[:, 0].numpy()}
        if hasattr(said, "logits"):
            result["logits"] = said.logits[0].numpy()
        if "CausalLM" in kind or "LMHead" in kind:
            for _ in range(GREEDY):  # without a cache, whose rotations some types make otherwise
                best = model(ids).logits[0, -1].topk(2)
                gap = min(gap, float(best.values[0] - best.values[1]))
                ids = torch.cat([ids, best.indices[:1][None]], 1)
            result["greedy"] = ids[0, TOKENS:].numpy()
        if name.startswith("bert"):  # the same tokens as two texts
            types = (torch.arange(TOKENS) > 6).long()
            said = model(ids, token_type_ids=types[None], output_hidden_states=True)
            result |= {"types": types.numpy(), "typed_hidden": torch.stack(said.hidden_states)[:, 0].numpy()}
            if hasattr(said, "logits"):
                result["typed_logits"] = said.logits[0].numpy()
    return {key: np.ascontiguousarray(value) for key, value in result.items()}, gap


def expected_pair(model, ids) -> "tuple[dict[str, np.ndarray], float]":
    forced = 0 if model.generation_config.forced_bos_token_id is None else 1
    with torch.inference_mode():
        made = model.generate(ids, min_new_tokens=GREEDY + forced, max_new_tokens=GREEDY + forced, num_beams=1, do_sample=False, use_cache=False)
        said = model(ids, decoder_input_ids=made[:, :-1])
        said.logits[..., model.generation_config.eos_token_id] = -torch.inf
        best = said.logits[0, forced:].topk(2, -1)
        assert best.indices[:, 0].tolist() == made[0, 1 + forced:].tolist()
        gap = float((best.values[:, 0] - best.values[:, 1]).min())
        target = torch.cat([made[:, :1 + forced], ids[:, :8].flip(1)], 1)
        said = model(ids, decoder_input_ids=target, output_hidden_states=True)
    result = {"ids": ids[0], "target": target[0], "encoder": torch.stack(said.encoder_hidden_states)[:, 0],
              "decoder": torch.stack(said.decoder_hidden_states)[:, 0], "logits": said.logits[0], "greedy": made[0, 1 + forced:]}
    return {key: np.ascontiguousarray(value.numpy()) for key, value in result.items()}, gap


def expected_of_images(name: str) -> "dict[str, np.ndarray]":
    """Hidden states and logits with the softmax in float64; the weights of eager attention come from one in float32."""
    def load(attention: str):
        kind = getattr(transformers, MODELS[name][0])
        return kind.from_pretrained(folder_of(name), dtype=torch.float64, attn_implementation=attention, **arguments_of(name)).eval()

    model, eager = load("sdpa"), load("eager")
    patch = model.config.patch_size
    patch = (patch, patch) if isinstance(patch, int) else patch
    size = model.config.image_size
    size = (size, size) if isinstance(size, int) else size
    random = torch.Generator().manual_seed(1)

    def images_of(height: int, width: int) -> torch.Tensor:
        return torch.randn((2, model.config.num_channels, height, width), generator=random)

    images = images_of(*size)
    with torch.inference_mode():
        said = model(images.double(), output_hidden_states=True)
        bare = getattr(model, model.base_model_prefix, model)
        result = {"images": images, "hidden": torch.stack(said.hidden_states), "last": bare(images.double()).last_hidden_state,
                  "attention": torch.stack(eager(images.double(), output_attentions=True).attentions)}
        if getattr(said, "pooler_output", None) is not None:
            result["pooled"] = said.pooler_output
        if hasattr(said, "logits"):
            result["logits"] = said.logits
        if IMAGES[name]:
            wide = images_of(*(count * side for count, side in zip(IMAGES[name], patch)))[:1]
            result |= {"wide_images": wide, "wide_last": bare(wide.double(), interpolate_pos_encoding=True).last_hidden_state}
    return {key: np.ascontiguousarray(value.numpy()) for key, value in result.items()}


def check(name: str) -> None:
    kept, now = load_file(folder_of(name) / "expected.safetensors"), expected(name)[0]
    assert kept.keys() == now.keys(), name
    for key, value in now.items():
        np.testing.assert_allclose(kept[key], value, rtol=0, atol=1e-9, err_msg=f"{name}: {key}")


if unknown := [each for each in GIVEN.names if each not in MODELS]:
    arguments.error(f"{unknown[0]} must be one of {', '.join(MODELS)}")
for each in GIVEN.names or MODELS:
    (check if GIVEN.check else make)(each)
