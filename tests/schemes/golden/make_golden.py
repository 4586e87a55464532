#!/usr/bin/env python3
"""Writes the values that frameworks give for each scheme, as small files beside this script.

    python3 -m venv venv && venv/bin/pip install torch==2.13.0 transformers==5.23.0 x-transformers==2.31.10
    venv/bin/python tests/schemes/golden/make_golden.py

One file per scheme: a list of cases, each with its source, the scheme's parameters, what the table was asked for, the
values and the tolerance. golden_test.cc makes the same tables by the scheme's name.

Tolerances. Frameworks compute in float32, unit u = 2^-24, for positions up to p. A frequency of at most 1 passes through
a power, a quotient and at most two more operations of a scaling, so it is off by less than 4 u; times p it moves an
angle by 4 p u at most, and the product's own rounding by p u. Cosine, sine and the amplitude m add 2 u. So a value is
within m (5 p + 3) u of the true one. The `framework` precision repeats the roundings of product and cosine; what remains
is the power's, for which the same bound is taken. Values that frameworks make in float64 are within 3 u of the truth.
"""
import json
import math
import pathlib

import numpy as np
import torch
import transformers
import x_transformers.x_transformers as xt
from transformers import models as hf

HERE = pathlib.Path(__file__).parent
U = 2.0**-24
HF = f"transformers {transformers.__version__}"
X = "x-transformers 2.31.10"
POSITIONS = [0, 1, 2, 3, 7, 64, 1000, 2047]
cases = {}


def numbers(x):
    return [float(str(v)) for v in np.asarray(x, dtype=np.float32).ravel()]


def bound(positions, amplitude=1.0):
    return amplitude * (5 * max(abs(p) for p in np.ravel(positions)) + 3) * U


def add(scheme, source, values, tolerance, parameters=None, positions=POSITIONS, axes=1, weights=None, exact_only=False,
        **request):
    values = np.asarray(values)
    case = {"source": source, "parameters": {k: str(v) for k, v in (parameters or {}).items()}, "request": request,
            "positions": np.ravel(positions).tolist(), "axes": axes, "tolerance": tolerance,
            "shape": list(values.shape), "values": numbers(values)}
    if weights:
        case["weights"] = {name: {"shape": list(np.shape(w)), "values": numbers(w)} for name, w in weights.items()}
    if exact_only:  # the framework computes it in float64
        case["exact_only"] = True
    cases.setdefault(scheme, []).append(case)


def rotation(cos, sin, pairs):
    """[rows, pairs, 2] of tables that hold every cosine twice, one half after the other."""
    return np.stack([cos[..., :pairs].numpy(), sin[..., :pairs].numpy()], -1)


# Rotary and its scalings: the tables of the modules themselves.
def llama(head_dim, rope, max_positions=4096, positions=POSITIONS):
    config = transformers.LlamaConfig(hidden_size=head_dim * 2, num_attention_heads=2, head_dim=head_dim,
                                      max_position_embeddings=max_positions, rope_parameters=rope)
    module = hf.llama.modeling_llama.LlamaRotaryEmbedding(config)
    cos, sin = module(torch.zeros(1), torch.tensor([positions]))
    return rotation(cos[0], sin[0], head_dim // 2), float(module.attention_scaling)


def scaled(scheme, head_dim, rope, parameters, max_positions=4096, positions=POSITIONS):
    values, amplitude = llama(head_dim, rope, max_positions, positions)
    kind = rope["rope_type"]
    base = {"base": rope["rope_theta"]}
    add(scheme, f"{HF}, LlamaRotaryEmbedding with rope_type {kind}", values, bound(positions, amplitude),
        {**base, **parameters}, positions, head_dim=head_dim)


def rotary_family():
    scaled("rotary", 16, {"rope_type": "default", "rope_theta": 10000.0}, {})
    scaled("rotary", 64, {"rope_type": "default", "rope_theta": 500000.0}, {})
    scaled("rotary_linear", 16, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 8.0}, {"factor": 8})
    for length in (2048, 8192, 16384):
        positions = [0, 1, 5, 100, 2047, length - 1]
        scaled("rotary_dynamic_ntk", 16, {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0},
               {"factor": 2, "max_length": 2048}, 2048, positions)
    yarn = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 2048}
    scaled("rotary_yarn", 16, yarn, {"factor": 4, "original_length": 2048}, 8192)
    scaled("rotary_yarn", 64, {**yarn, "rope_theta": 150000.0, "factor": 32.0, "original_max_position_embeddings": 4096,
                               "truncate": False}, {"factor": 32, "original_length": 4096, "truncate": "no"}, 131072)
    scaled("rotary_yarn", 64, {**yarn, "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 0.707},
           {"factor": 40, "original_length": 2048, "mscale": 1, "mscale_all_dim": 0.707}, 81920)
    scaled("rotary_yarn", 64, {**yarn, "attention_factor": 1.0, "beta_fast": 16.0, "beta_slow": 2.0},
           {"factor": 4, "original_length": 2048, "attention_factor": 1, "beta_fast": 16, "beta_slow": 2}, 8192)
    short = [1.0, 1.05, 1.1, 1.2, 1.5, 2.0, 2.5, 3.0]
    long = [1.1, 1.3, 2.0, 4.0, 8.5, 16.0, 30.0, 62.5]
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": short, "long_factor": long,
            "original_max_position_embeddings": 4096, "factor": 32.0}
    lists = {"short_factor": ",".join(map(str, short)), "long_factor": ",".join(map(str, long)),
             "original_length": 4096, "factor": 32}
    scaled("rotary_longrope", 16, rope, lists, 131072, [0, 1, 9, 500, 4095])
    scaled("rotary_longrope", 16, rope, lists, 131072, [0, 1, 9, 500, 4096, 9000])
    scaled("rotary_llama3", 128, {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                                  "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
           {"factor": 8, "original_length": 8192}, 131072)
    scaled("rotary_llama3", 64, {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
                                 "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
           {"factor": 32, "original_length": 8192}, 131072)
    scaled("rotary_proportional", 16, {"rope_type": "proportional", "rope_theta": 10000.0,
                                       "partial_rotary_factor": 0.25}, {"proportion": 0.25})

    # NTK-aware: the base times factor^(d / (d - 2)).
    module = xt.RotaryEmbedding(16, base_rescale_factor=4.0)
    angles = module(torch.tensor(POSITIONS))[0][0, :, ::2]
    add("rotary_ntk", f"{X}, RotaryEmbedding(base_rescale_factor=4)",
        np.stack([angles.cos().numpy(), angles.sin().numpy()], -1), bound(POSITIONS), {"factor": 4}, head_dim=16)

    # xPos centres on half the length: here 0, by asking for one position at a time would not do; the scale of position p
    # over that of the centre c is zeta^((p - c) / 512).
    module = xt.RotaryEmbedding(8, use_xpos=True)
    positions = [0, 1, 2, 3, 64, 99]
    angles, scale = module(torch.tensor(positions))
    angles, scale = angles[0, :, ::2], scale[0, :, ::2]
    add("xpos", f"{X}, RotaryEmbedding(use_xpos=True), centred at 50",
        np.stack([(angles.cos() * scale).numpy(), (angles.sin() * scale).numpy()], -1), bound(positions, 2.0),
        {"center": 50}, positions, head_dim=8)


def sections():
    ids = np.array([[0, 0, 0], [1, 1, 1], [5, 7, 9], [5, 8, 4], [300, 12, 45]])
    position_ids = torch.tensor(ids.T)[:, None, :]
    for name, module, section in (
            ("sectioned", hf.qwen2_vl.modeling_qwen2_vl.Qwen2VLRotaryEmbedding, [2, 3, 3]),
            ("interleaved", hf.qwen3_vl.modeling_qwen3_vl.Qwen3VLTextRotaryEmbedding, [4, 2, 2])):
        config = transformers.LlamaConfig(hidden_size=32, num_attention_heads=2, head_dim=16)
        config.rope_parameters = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": section}
        cos, sin = module(config)(torch.zeros(1), position_ids)
        add("rotary_sections", f"{HF}, {module.__name__}", rotation(cos[0], sin[0], 8), bound(ids),
            {"sections": ",".join(map(str, section)), "order": name}, ids, 3, head_dim=16)


def axial():
    grid = np.array([[r, c] for r in range(2) for c in range(3)])
    config = transformers.PixtralVisionConfig(hidden_size=32, num_attention_heads=2, head_dim=16)
    config.rope_parameters = {"rope_type": "axial", "rope_theta": 10000.0}
    cos, sin = hf.pixtral.modeling_pixtral.PixtralVisionRotaryEmbedding(config)(torch.zeros(1), torch.tensor(grid.T)[None])
    add("rotary_axial", f"{HF}, PixtralVisionRotaryEmbedding", rotation(cos[0], sin[0], 8), bound(grid),
        {"frequencies": "shared", "order": "row_first"}, grid, 2, head_dim=16)

    config.embed_dim, config.num_attention_heads = 32, 2
    cos, sin = hf.qwen2_vl.modeling_qwen2_vl.Qwen2VLVisionRotaryEmbedding(config)(torch.zeros(1), torch.tensor(grid.T)[None])
    add("rotary_axial", f"{HF}, Qwen2VLVisionRotaryEmbedding", rotation(cos[0], sin[0], 8), bound(grid),
        {"order": "row_first"}, grid, 2, head_dim=16)

    config = transformers.Llama4VisionConfig(hidden_size=32, num_attention_heads=2, image_size=12, patch_size=4)
    config.rope_parameters = {"rope_type": "default", "rope_theta": 10000.0}
    table = hf.llama4.modeling_llama4.Llama4VisionRotaryEmbedding(config).freqs_ci[:-1].reshape(9, 8)
    square = np.array([[r, c] for r in range(3) for c in range(3)])
    add("rotary_axial", f"{HF}, Llama4VisionRotaryEmbedding, without the class token",
        np.stack([table.real.numpy(), table.imag.numpy()], -1), bound(square + 1),
        {"order": "column_first", "first": 1}, square, 2, head_dim=16)

    config = transformers.DINOv3ViTConfig(hidden_size=32, num_attention_heads=2, patch_size=4)
    module = hf.dinov3_vit.modeling_dinov3_vit.DINOv3ViTRopePositionEmbedding(config).eval()
    cos, sin = module(torch.zeros(1, 3, 8, 12))
    # Angles reach 2 pi times 1: 7 stands for the largest position.
    add("rotary_axial", f"{HF}, DINOv3ViTRopePositionEmbedding", rotation(cos, sin, 8), bound([7]),
        {"order": "row_first", "coordinates": "centered", "base": 100}, grid, 2, head_dim=16)


def temperature():
    positions = [0, 1, 8190, 8191, 16383, 131071]
    tau = 1 + 0.1 * np.log1p(np.floor((np.array(positions) + 1.0) / 8192))
    table = np.stack([np.repeat(tau[:, None], 4, 1), np.zeros((len(positions), 4))], -1)
    add("temperature", "Llama 4's rule, written out in float64", table, 3 * U, {}, positions, head_dim=8)
    positions = [0, 1, 2046, 2047, 2048, 4095, 32767]
    tau = [math.log(i, 2048) if i > 2048 else 1 for i in (p + 1 for p in positions)]
    table = np.stack([np.repeat(np.array(tau)[:, None], 4, 1), np.zeros((len(positions), 4))], -1)
    add("temperature", "the rule of Qwen 1's logn_list, written out in float64", table, 3 * U,
        {"growth": "log_n", "train_length": 2048}, positions, head_dim=8)


# Added tables.
def added():
    rows = list(range(40))
    module = hf.marian.modeling_marian.MarianSinusoidalPositionalEmbedding(40, 16)
    add("sinusoidal", f"{HF}, MarianSinusoidalPositionalEmbedding", module.create_weight().numpy(), 3 * U,
        {"layout": "half_split"}, rows, exact_only=True, width=16)
    weights = hf.musicgen.modeling_musicgen.MusicgenSinusoidalPositionalEmbedding.get_embedding(40, 16)
    add("sinusoidal", f"{HF}, MusicgenSinusoidalPositionalEmbedding", weights.numpy(), bound(rows),
        {"layout": "cos_first", "ladder": "d/2-1"}, rows, width=16)
    weights = hf.m2m_100.modeling_m2m_100.M2M100SinusoidalPositionalEmbedding.get_embedding(40, 17)
    add("sinusoidal", f"{HF}, M2M100SinusoidalPositionalEmbedding, odd width", weights.numpy(), bound(rows),
        {"layout": "half_split", "ladder": "d/2-1"}, rows, width=17)
    module = xt.ScaledSinusoidalEmbedding(16)
    add("sinusoidal", f"{X}, ScaledSinusoidalEmbedding", module(torch.zeros(1, 40, 16)).detach().numpy(), bound(rows),
        {"layout": "half_split", "scale": 0.25}, rows, width=16)

    grid = np.array([[r, c] for r in range(2) for c in range(3)])
    table = hf.vit_mae.modeling_vit_mae.build_2d_sinusoidal_position_embedding(2, 3, 16)
    add("sincos_2d", f"{HF}, ViTMAE build_2d_sinusoidal_position_embedding: rows before columns", table.numpy(), 3 * U,
        {"form": "mae", "axes": "row_first"}, grid, 2, width=16)
    sine = hf.detr.modeling_detr.DetrSinePositionEmbedding.build_sine_position_embedding
    for normalize, form in ((False, "detr"), (True, "detr_normalized")):
        table = sine(torch.Size([1, 1, 2, 3]), torch.device("cpu"), torch.float32, 8, normalize, 2 * np.pi)
        add("sincos_2d", f"{HF}, DetrSinePositionEmbedding(normalize={normalize})",
            table[0].permute(1, 2, 0).reshape(6, 16).numpy(), bound([7]), {"form": form}, grid, 2, width=16)


# Biases by distance.
def toeplitz(bias):
    """[heads, 2 n - 1], index key - query + n - 1, from [heads, n, n]."""
    bias = np.asarray(bias)
    n = bias.shape[-1]
    return np.concatenate([bias[:, ::-1, 0][:, :n], bias[:, 0, 1:]], 1)


def distance_biases():
    rows = list(range(24))
    for heads in (1, 2, 3, 6, 8, 12):
        bias = xt.AlibiPositionalBias(heads)(24, 24).reshape(heads, 24, 24)
        add("alibi", f"{X}, AlibiPositionalBias({heads})", toeplitz(bias), 24 * 4 * U, {}, rows, heads=heads)
    slopes = hf.mpt.modeling_mpt.build_mpt_alibi_tensor(12, 24, alibi_bias_max=4)[:, 0, :]
    # A row of the last query: keys 0 .. 23 at distances -23 .. 0.
    both = np.concatenate([slopes.numpy(), slopes.numpy()[:, -2::-1]], 1)
    add("alibi", f"{HF}, build_mpt_alibi_tensor(alibi_bias_max=4), mirrored", both, 24 * 4 * U, {"max_bias": 4}, rows, heads=12)

    rng = np.random.default_rng(5)
    rows = list(range(150))
    delta = np.arange(-149, 150)
    for bidirectional, buckets, most in ((True, 32, 128), (False, 32, 128), (True, 320, 800), (False, 8, 20)):
        table = rng.standard_normal((buckets, 2)).astype(np.float32)
        bucket = hf.t5.modeling_t5.T5Attention._relative_position_bucket(torch.tensor(delta), bidirectional, buckets, most)
        add("t5", f"{HF}, T5Attention._relative_position_bucket", table[bucket.numpy()].T, 0,
            {"bidirectional": "yes" if bidirectional else "no", "num_buckets": buckets, "max_distance": most}, rows,
            weights={"table": table}, heads=2)


def dynamic_position_bias():
    torch.manual_seed(15)
    rows, n = list(range(24)), 8
    for log, depth in ((False, 2), (True, 3)):
        module = xt.DynamicPositionBias(n, heads=3, depth=depth, log_distance=log)
        layers = [layer[0] if isinstance(layer, torch.nn.Sequential) else layer for layer in module.mlp]
        # Every sum of n + 1 products has n + 2 roundings of what it would be of absolute values, silu four more, and its
        # slope is below 1.1. The network of absolute values bounds what becomes of them.
        most = torch.full((1, 1), np.log(24.0) if log else 23.0)
        for layer in layers:
            most = 1.1 * (most @ layer.weight.abs().T + layer.bias.abs())
        with torch.no_grad():
            bias = module(24, 24)
        weights = {"w_in": layers[0].weight[:, 0], "b_in": layers[0].bias, "w_hidden": torch.stack([x.weight for x in layers[1:-1]]),
                   "b_hidden": torch.stack([x.bias for x in layers[1:-1]]), "w_out": layers[-1].weight, "b_out": layers[-1].bias}
        add("dynamic_position_bias", f"{X}, DynamicPositionBias(depth={depth}, log_distance={log})", toeplitz(bias),
            (depth + 1) * (n + 6) * U * most.max().item(), {"log_distance": "yes" if log else "no", "hidden": n, "depth": depth},
            rows, weights={name: w.detach().numpy() for name, w in weights.items()}, heads=3)


# Biases by place.
def swin():
    torch.manual_seed(3)
    module = hf.swin.modeling_swin.SwinRelativePositionBias(2, (2, 3))
    torch.nn.init.normal_(module.relative_position_bias_table)
    add("swin", f"{HF}, SwinRelativePositionBias", module()[0].detach().numpy(), 0, {"rows": 2, "columns": 3},
        list(range(6)), weights={"table": module.relative_position_bias_table.detach().numpy()}, heads=2)

    config = transformers.Swinv2Config(embed_dim=8, num_heads=[2], depths=[1], window_size=3)
    module = hf.swinv2.modeling_swinv2.Swinv2SelfAttention(config, 8, 2, (3, 3))
    mlp = module.continuous_position_bias_mlp
    table = mlp(module.relative_coords_table).view(-1, 2)
    bias = 16 * torch.sigmoid(table[module.relative_position_index.view(-1)].view(9, 9, 2).permute(2, 0, 1))
    # 512 hidden units added up in float32, each of a size below 1, and a sigmoid times 16.
    add("swin_v2", f"{HF}, Swinv2SelfAttention", bias.detach().numpy(), 16 * 512 * U,
        {"rows": 3, "columns": 3}, list(range(9)),
        weights={"w1": mlp[0].weight.detach().numpy(), "b1": mlp[0].bias.detach().numpy(),
                 "w2": mlp[2].weight.detach().numpy()}, heads=2)


# Content terms: attention over small arrays, by the frameworks' own modules. q, k, v and out are [1, heads, length, dim].
def attention_case(scheme, source, q, k, v, out, parameters, weights, causal, scale=None):
    arrays = {"q": q, "k": k, "v": v, "out": out}
    # Scores of size s are sums of head_dim products and their terms, off by less than 3 head_dim u s; so are the weights,
    # relative to their size, and outputs by as much of the largest value, and again as much for the sum.
    size = float(np.abs(k).max() * np.abs(q).max()) * q.shape[-1] ** 0.5 + 8
    tolerance = 6 * q.shape[-1] * U * size * float(np.abs(v).max())
    cases.setdefault(scheme, []).append({
        "source": source, "parameters": {k: str(v) for k, v in parameters.items()}, "causal": causal, "scale": scale,
        "tolerance": tolerance, "width": 8,
        "arrays": {name: {"shape": list(np.shape(a)), "values": numbers(a)} for name, a in arrays.items()},
        "weights": {name: {"shape": list(np.shape(w)), "values": numbers(w)} for name, w in weights.items()}})


def random_heads(rng, heads, length, dim):
    return tuple(rng.standard_normal((1, heads, length, dim)).astype(np.float32) for _ in range(3))


def deberta():
    torch.manual_seed(11)
    config = transformers.DebertaV2Config(hidden_size=8, num_attention_heads=2, relative_attention=True,
                                          pos_att_type=["c2p", "p2c"], position_buckets=4, max_relative_positions=10,
                                          share_att_key=False, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    module = hf.deberta_v2.modeling_deberta_v2.DisentangledSelfAttention(config).eval()
    x, table, length = torch.randn(1, 13, 8) * 2, torch.randn(8, 8) * 2, 13
    with torch.no_grad():
        out, _ = module(x, torch.ones(1, 1, length, length), rel_embeddings=table)
        heads = [module.transpose_for_scores(m(x), 2)[None].numpy()
                 for m in (module.query_proj, module.key_proj, module.value_proj)]
        asks = module.transpose_for_scores(module.pos_query_proj(table[None]), 2).numpy()
        answers = module.transpose_for_scores(module.pos_key_proj(table[None]), 2).numpy()
    attention_case("deberta", f"{HF}, DisentangledSelfAttention", *heads,
                   out.reshape(1, length, 2, 4).permute(0, 2, 1, 3).numpy(), {"position_buckets": 4, "max_position": 10},
                   {"query_table": asks, "key_table": answers}, False)


def transformer_xl():
    torch.manual_seed(12)
    config = transformers.XLNetConfig(d_model=8, n_head=2, d_head=4, n_layer=1, vocab_size=4, dropout=0.0)
    model = transformers.XLNetModel(config).eval()
    module = model.layer[0].rel_attn
    for parameter in (module.r_w_bias, module.r_r_bias, module.r):
        torch.nn.init.normal_(parameter)
    rng = np.random.default_rng(12)
    q, k, v = random_heads(rng, 2, 7, 4)
    lengths_first = [torch.tensor(x).permute(2, 0, 1, 3) for x in (q, k, v)]
    with torch.no_grad():
        places = model.relative_positional_encoding(7, 7, bsz=1)
        r = torch.einsum("ibh,hnd->ibnd", places, module.r)
        out = module.rel_attn_core(*lengths_first, r)
        attention_case("transformer_xl", f"{HF}, XLNetRelativeAttention.rel_attn_core", q, k, v,
                       out.permute(1, 2, 0, 3).numpy(), {"width": 8},
                       {"u": module.r_w_bias.numpy(), "v": module.r_r_bias.numpy(),
                        "w_r": module.r.permute(1, 2, 0).numpy()}, False)


def softmax(scores, causal=True):
    if causal:
        hidden = torch.ones(scores.shape[-2:]).triu(1).bool()
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores.softmax(-1)


def cope():
    rng = np.random.default_rng(13)
    q, k, v = random_heads(rng, 2, 9, 4)
    module = xt.CoPE(4, 2, 5)
    torch.nn.init.normal_(module.pos_emb)
    tq, tk, tv = map(torch.tensor, (q, k, v))
    with torch.no_grad():
        scores = tq @ tk.mT * 4**-0.5
        hidden = torch.ones(9, 9).triu(1).bool()
        term = module(tq, scores.masked_fill(hidden, -torch.finfo(torch.float32).max))
        out = softmax(scores + term) @ tv
    attention_case("cope", f"{X}, CoPE, added to scaled scores", q, k, v, out.numpy(), {"npos": 5, "scaled": "no"},
                   {"table": module.pos_emb.detach().numpy()}, True)


def forgetting():
    rng = np.random.default_rng(14)
    torch.manual_seed(14)
    q, k, v = random_heads(rng, 2, 9, 4)
    module = xt.DataDependentAlibi(8, 2, bias_init=0.5)
    x = torch.randn(1, 9, 8)
    tq, tk, tv = map(torch.tensor, (q, k, v))
    with torch.no_grad():
        out = softmax(tq @ tk.mT * 4**-0.5 + module(x)) @ tv
        gates = module.to_forget_gates(x)
    attention_case("forgetting", f"{X}, DataDependentAlibi", q, k, v, out.numpy(), {}, {"log_gates": gates.numpy()}, True)


def main():
    for make in (rotary_family, sections, axial, temperature, added, distance_biases, dynamic_position_bias, swin, deberta,
                 transformer_xl, cope, forgetting):
        make()
    for scheme, entries in sorted(cases.items()):
        text = json.dumps(entries).replace('{"source"', '\n{"source"') + "\n"
        (HERE / f"{scheme}.json").write_text(text)
        print(f"{scheme}: {len(entries)} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
