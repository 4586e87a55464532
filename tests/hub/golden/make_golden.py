#!/usr/bin/env python3
"""Writes tiny random models of each family as transformers saves them, and what it computes of them in float64.

    python3 -m venv venv && venv/bin/pip install torch==2.13.0 transformers==5.24.0 safetensors
    venv/bin/python tests/hub/golden/make_golden.py

A folder per model; its expected.safetensors has `ids` [tokens], `hidden` [layers + 1, tokens, width] and, of models with a head,
`logits` [tokens, vocabulary] and `greedy` [64], the tokens that follow. `--check` writes nothing and compares with what is there
instead; without transformers it ends with 77.
"""
import argparse
import pathlib
import sys

# Before the libraries: `--help` needs none, and a word that is no option must write nothing.
arguments = argparse.ArgumentParser(description="Writes what transformers computes beside this script.")
arguments.add_argument("--check", action="store_true", help="compare with what is there instead")
CHECK = arguments.parse_args().check

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
LLAMA_LIKE = dict(vocab_size=48, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                  max_position_embeddings=128, bos_token_id=None, eos_token_id=None, pad_token_id=None)

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
    "bert": ("BertModel", transformers.BertConfig(
        vocab_size=48, hidden_size=16, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=24),
        torch.float32, "1MB"),
}


def make(name: str) -> None:
    """With the first seed whose greedy tokens do not hang on a rounding."""
    for seed in range(100):
        write(name, seed)
        tensors, gap = expected(name)
        if gap > 1e-2:
            return save_file(tensors, HERE / name / "expected.safetensors")
    sys.exit(f"{name}: no seed will do")


def write(name: str, seed: int) -> None:
    kind, config, dtype, largest = MODELS[name]
    torch.manual_seed(seed)
    model = getattr(transformers, kind)(config)
    with torch.no_grad():
        for parameter, values in model.named_parameters():
            is_gain = values.dim() == 1 and parameter.endswith("weight")
            values.copy_((1 if is_gain else 0) + torch.randn(values.shape) * (0.2 if values.dim() == 1 else 0.5))
    model.to(dtype).save_pretrained(HERE / name, max_shard_size=largest)
    (HERE / name / "generation_config.json").unlink(missing_ok=True)


def expected(name: str) -> "tuple[dict[str, np.ndarray], float]":
    """The arrays, and the smallest distance between the two most probable tokens."""
    gap = float("inf")
    kind = MODELS[name][0]
    model = getattr(transformers, kind).from_pretrained(HERE / name, dtype=torch.float64, attn_implementation="eager").eval()
    ids = torch.randint(0, 48, (1, TOKENS), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        said = model(ids, output_hidden_states=True)
        result = {"ids": ids[0].numpy(), "hidden": torch.stack(said.hidden_states)[:, 0].numpy()}
        if kind != "BertModel":
            result["logits"] = said.logits[0].numpy()
            for _ in range(GREEDY):  # without a cache, whose rotations some types make otherwise
                best = model(ids).logits[0, -1].topk(2)
                gap = min(gap, float(best.values[0] - best.values[1]))
                ids = torch.cat([ids, best.indices[:1][None]], 1)
            result["greedy"] = ids[0, TOKENS:].numpy()
    return {key: np.ascontiguousarray(value) for key, value in result.items()}, gap


def check(name: str) -> None:
    kept, now = load_file(HERE / name / "expected.safetensors"), expected(name)[0]
    assert kept.keys() == now.keys(), name
    for key, value in now.items():
        np.testing.assert_allclose(kept[key], value, rtol=0, atol=1e-9, err_msg=f"{name}: {key}")


for each in MODELS:
    (check if CHECK else make)(each)
