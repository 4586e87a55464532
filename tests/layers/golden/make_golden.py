#!/usr/bin/env python3
"""Writes what PyTorch computes, forward and backward, as small .safetensors files beside this script.

    python3 -m venv venv && venv/bin/pip install torch==2.13.0 transformers==5.23.0 safetensors
    venv/bin/python tests/layers/golden/make_golden.py

One file per case, all numbers in float64: parameters, inputs and `dout` are small random numbers that float32 holds as
they are, so that a float32 layer starts from the same; outputs and gradients are those of float64. `--check` writes
nothing and compares with what is there instead; without PyTorch it ends with 77. The names:

    parameter.NAME, gradient.NAME    what learns, by PyTorch's name, and d sum(dout * output) / d of it
    input.NAME, gradient.input.NAME  what goes in
    output, dout                     what comes out, and the gradient that goes back in
    NAME_segments                    int64: the sequences of input NAME are [segments[s], segments[s + 1])

Sequences of different lengths are packed into one array [tokens, width]; each is run apart, so that no padding and no
padding mask is part of the truth. The file's metadata says where the numbers come from (`source`), what the case is
(`config`, JSON) and, for layers, how far PyTorch's own float32 is from that truth (`float32_error`: the largest
difference in any array over the array's largest number), which is what a float32 layer is measured by.
"""
import argparse
import copy
import json
import math
import pathlib
import sys

# Before the libraries: `--help` needs none, and a word that is no option must write nothing.
arguments = argparse.ArgumentParser(description="Writes what PyTorch computes beside this script.")
arguments.add_argument("--check", action="store_true", help="compare with what is there instead")
CHECK = arguments.parse_args().check

try:
    import torch
    import transformers
    from safetensors.torch import load_file
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent
TORCH = f"torch {torch.__version__.split('+')[0]}"
nn, functional = torch.nn, torch.nn.functional
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def draw(generator, *shape, size=1.0):
    """Normal numbers that float32 holds."""
    return (size * torch.randn(*shape, generator=generator)).float().double()


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def randomize(module, generator):
    """Every parameter is drawn, also those that training starts at 0 or 1."""
    with torch.no_grad():
        for name, p in module.named_parameters():
            if p.dim() > 1:
                p.copy_(draw(generator, *p.shape, size=p.shape[-1] ** -0.5))
            else:
                p.copy_(draw(generator, *p.shape, size=0.25) + (1.0 if "norm" in name and name.endswith("weight") else 0.0))
                p.copy_(p.float().double())
    return module


def safetensors(tensors, metadata):
    """A file's bytes, in one order: the library's own writer shuffles the metadata."""
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        values = tensor.numpy().tobytes()
        header[name] = {"dtype": "F64" if tensor.dtype == torch.float64 else "I64", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def write(name, source, config, tensors, segments=None, **metadata):
    tensors = {key: value.detach().to(torch.float64).contiguous().clone() for key, value in tensors.items()}
    for key, boundaries in (segments or {}).items():
        tensors[f"{key}_segments"] = torch.tensor(boundaries, dtype=torch.int64)
    path = HERE / f"{name}.safetensors"
    if CHECK:
        stored = load_file(path)
        assert stored.keys() == tensors.keys(), f"{name}: other arrays"
        for key, value in tensors.items():
            # Versions may add up in another order: thousands of roundings of 2^-53.
            assert difference(value, stored[key]) < 1e-11, f"{name}: {key} is not what {TORCH} computes"
        print(f"{name}: as {TORCH} computes it")
        return
    path.write_bytes(safetensors(tensors, {"source": source, "config": json.dumps(config), **metadata}))
    print(f"{name}: {len(tensors)} arrays, {path.stat().st_size} bytes")


def difference(x, truth):
    """The largest one, over the largest number of the truth."""
    return ((x.double() - truth.double()).abs().max() / truth.double().abs().max().clamp(min=1e-300)).item()


def pieces(x, segments):
    return [x[begin:end] for begin, end in zip(segments, segments[1:])]


def differentiated(module, inputs, dout, run):
    """run(module, **inputs), and the gradients of all that goes in."""
    for x in inputs.values():
        x.requires_grad_(True)
    output = run(module, **inputs)
    (output * dout).sum().backward()
    tensors = {"output": output, "dout": dout}
    for key, p in module.named_parameters():
        tensors[f"parameter.{key}"] = p
        tensors[f"gradient.{key}"] = p.grad
    for key, x in inputs.items():
        tensors[f"input.{key}"] = x
        tensors[f"gradient.input.{key}"] = x.grad
    return {key: value.detach() for key, value in tensors.items()}


def case(name, source, config, module, inputs, run, generator, segments, **more):
    with torch.no_grad():
        dout = draw(generator, *run(module, **inputs).shape)
    narrow = differentiated(copy.deepcopy(module).float(), {key: x.float() for key, x in inputs.items()}, dout.float(), run)
    truth = differentiated(module, inputs, dout, run)
    error = max(difference(narrow[key], truth[key]) for key in truth)
    write(name, source, config, {**truth, **more}, segments, float32_error=repr(error))


def future(length):
    """PyTorch's causal mask: true hides."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


QUERIES, KEYS = [0, 5, 6, 13], [0, 3, 11, 15]


def multi_head_attention():
    width, heads = 8, 2
    for name, causal, cross in (("mha_self", False, False), ("mha_causal", True, False), ("mha_cross", False, True)):
        g = seeded(101)
        module = randomize(nn.MultiheadAttention(width, heads, batch_first=True), g)
        inputs = {"x": draw(g, QUERIES[-1], width)}
        if cross:
            inputs["context"] = draw(g, KEYS[-1], width)

        def run(module, x, context=None):
            others = pieces(x, QUERIES) if context is None else pieces(context, KEYS)
            return torch.cat([module(q[None], k[None], k[None], attn_mask=future(len(q)) if causal else None)[0][0]
                              for q, k in zip(pieces(x, QUERIES), others)])

        case(name, f"{TORCH}, nn.MultiheadAttention", {"width": width, "heads": heads, "causal": causal, "cross": cross},
             module, inputs, run, g, {"x": QUERIES, **({"context": KEYS} if cross else {})})


def layers():
    width, heads, hidden = 8, 2, 12
    for first in (False, True):
        for activation in ("relu", "gelu"):
            config = {"width": width, "heads": heads, "hidden": hidden, "activation": activation,
                      "norm": "pre" if first else "post", "eps": 1e-5}
            options = dict(d_model=width, nhead=heads, dim_feedforward=hidden, dropout=0.0, activation=activation,
                           batch_first=True, norm_first=first)
            g = seeded(102)
            encoder = randomize(nn.TransformerEncoderLayer(**options), g)

            def encode(encoder, x):
                return torch.cat([encoder(q[None])[0] for q in pieces(x, QUERIES)])

            case(f"encoder_layer_{config['norm']}_{activation}", f"{TORCH}, nn.TransformerEncoderLayer", config,
                 encoder, {"x": draw(g, QUERIES[-1], width)}, encode, g, {"x": QUERIES})

            g = seeded(103)
            decoder = randomize(nn.TransformerDecoderLayer(**options), g)

            def decode(decoder, x, memory):
                return torch.cat([decoder(q[None], k[None], tgt_mask=future(len(q)))[0]
                                  for q, k in zip(pieces(x, QUERIES), pieces(memory, KEYS))])

            case(f"decoder_layer_{config['norm']}_{activation}", f"{TORCH}, nn.TransformerDecoderLayer", config,
                 decoder, {"x": draw(g, QUERIES[-1], width), "memory": draw(g, KEYS[-1], width)}, decode, g, {"x": QUERIES, "memory": KEYS})


def transformer():
    width, heads, hidden, depth = 8, 2, 12, 2
    for first in (False, True):
        g = seeded(104)
        module = randomize(nn.Transformer(width, heads, depth, depth, hidden, dropout=0.0, batch_first=True,
                                          norm_first=first), g)

        def run(module, source, target):
            return torch.cat([module(k[None], q[None], tgt_mask=future(len(q)))[0]
                              for q, k in zip(pieces(target, QUERIES), pieces(source, KEYS))])

        case(f"transformer_{'pre' if first else 'post'}", f"{TORCH}, nn.Transformer",
             {"width": width, "heads": heads, "hidden": hidden, "layers": depth, "activation": "relu",
              "norm": "pre" if first else "post", "eps": 1e-5},
             module, {"source": draw(g, KEYS[-1], width), "target": draw(g, QUERIES[-1], width)}, run, g,
             {"source": KEYS, "target": QUERIES})


class RMSNorm(nn.Module):
    """Zhang and Sennrich 2019, 1910.07467."""

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight


class LlamaAttention(nn.Module):
    """Causal, rotated in the half-split layout (Su et al. 2021, 2104.09864), fewer key heads than query heads."""

    def __init__(self, width, heads, key_heads, base):
        super().__init__()
        self.heads, self.key_heads, self.head_dim, self.base = heads, key_heads, width // heads, base
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, key_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(width, key_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def rotated(self, x):
        half = self.head_dim // 2
        angles = torch.arange(x.shape[1])[:, None] * self.base ** (-torch.arange(half) / half)
        cos, sin = (y.float().to(x.dtype) for y in (angles.cos(), angles.sin()))  # as libraries hold them
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    def forward(self, x):
        split = lambda y, heads: y.view(len(x), heads, self.head_dim).transpose(0, 1)
        q = self.rotated(split(self.q_proj(x), self.heads))
        k = self.rotated(split(self.k_proj(x), self.key_heads))
        v = split(self.v_proj(x), self.key_heads)
        k, v = (y.repeat_interleave(self.heads // self.key_heads, 0) for y in (k, v))
        scores = (q @ k.mT * self.head_dim**-0.5).masked_fill(future(len(x)), -math.inf)
        return self.o_proj((scores.softmax(-1) @ v).transpose(0, 1).reshape(len(x), -1))


class LlamaFeedForward(nn.Module):
    """SwiGLU (Shazeer 2020, 2002.05202)."""

    def __init__(self, width, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        gate = self.gate_proj(x)
        return self.down_proj(gate * gate.sigmoid() * self.up_proj(x))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, key_heads, hidden, base, eps):
        super().__init__()
        self.input_layernorm = RMSNorm(width, eps)
        self.self_attn = LlamaAttention(width, heads, key_heads, base)
        self.post_attention_layernorm = RMSNorm(width, eps)
        self.mlp = LlamaFeedForward(width, hidden)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, width, heads, key_heads, hidden, depth, base, eps):
        super().__init__()
        self.layers = nn.ModuleList(LlamaBlock(width, heads, key_heads, hidden, base, eps) for _ in range(depth))
        self.norm = RMSNorm(width, eps)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def llama():
    width, heads, key_heads, hidden, depth, base, eps = 16, 4, 2, 20, 2, 10000.0, 1e-5
    g = seeded(105)
    module = randomize(Llama(width, heads, key_heads, hidden, depth, base, eps), g)
    x = draw(g, QUERIES[-1], width)

    def run(module, x):
        return torch.cat([module(piece) for piece in pieces(x, QUERIES)])

    # Ours above is the model that the world knows by this name.
    config = transformers.LlamaConfig(
        vocab_size=4, hidden_size=width, intermediate_size=hidden, num_hidden_layers=depth, num_attention_heads=heads,
        num_key_value_heads=key_heads, rms_norm_eps=eps, rope_parameters={"rope_type": "default", "rope_theta": base},
        attn_implementation="eager")
    theirs = transformers.LlamaModel(config).double()
    theirs.load_state_dict(module.state_dict(), strict=False)
    with torch.no_grad():
        hidden_states = torch.cat([theirs(inputs_embeds=piece[None]).last_hidden_state[0] for piece in pieces(x, QUERIES)])
        assert (hidden_states - run(module, x)).abs().max() < 1e-5, "not Llama"  # its cosines are float32

    case("llama", f"{TORCH}, by hand, as LlamaModel of transformers {transformers.__version__}",
         {"width": width, "heads": heads, "key_heads": key_heads, "hidden": hidden, "layers": depth, "base": base,
          "eps": eps}, module, {"x": x}, run, g, {"x": QUERIES})


def sinusoidal(length, width):
    """Vaswani et al. 2017, section 3.5: sines in even columns, cosines in odd ones."""
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def embedding():
    tokens, width, padding = 7, 6, 2
    g = seeded(106)
    module = nn.Embedding(tokens, width, padding_idx=padding)
    with torch.no_grad():
        module.weight.copy_(draw(g, tokens, width))
        module.weight[padding] = 0
    indices = torch.tensor([0, 3, 2, 6, 6, 5, 1, 2, 2, 3, 0, 4, 6])
    segments = [0, 5, 6, 13]
    positions = torch.cat([sinusoidal(end - begin, width) for begin, end in zip(segments, segments[1:])])
    output = module(indices) * width**0.5 + positions
    dout = draw(g, *output.shape)
    (output * dout).sum().backward()
    assert not module.weight.grad[padding].any()
    write("embedding", f"{TORCH}, nn.Embedding, times sqrt(width), with the positions of Vaswani et al. 2017",
          {"tokens": tokens, "width": width, "padding": padding, "indices": indices.tolist()},
          {"parameter.weight": module.weight, "gradient.weight": module.weight.grad, "positions": positions,
           "output": output, "dout": dout}, {"x": segments})


def cross_entropy():
    rows, tokens, ignored = 9, 7, -100
    for smoothing in (0.0, 0.1):
        g = seeded(107)
        logits = draw(g, rows, tokens, size=3.0).requires_grad_(True)
        targets = torch.tensor([0, 6, ignored, 3, 3, 1, ignored, 5, 2])
        loss = functional.cross_entropy(logits, targets, ignore_index=ignored, label_smoothing=smoothing, reduction="sum")
        loss.backward()
        mean = functional.cross_entropy(logits, targets, ignore_index=ignored, label_smoothing=smoothing)
        plain = functional.cross_entropy(logits, targets, ignore_index=ignored, reduction="sum")
        write("cross_entropy" if smoothing == 0 else "cross_entropy_smoothed",
              f"{TORCH}, functional.cross_entropy(reduction='sum')",
              {"smoothing": smoothing, "ignored": ignored, "targets": targets.tolist()},
              {"input.logits": logits, "gradient.input.logits": logits.grad, "output": loss[None], "mean": mean[None],
               "negative_log_likelihood": plain[None]})


def adamw():
    g = seeded(108)
    settings = {"learning_rates": [0.01, 0.02, 0.015], "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9,
                "weight_decay": 0.1, "clip": 1.0}
    weight, bias = nn.Parameter(draw(g, 4, 3)), nn.Parameter(draw(g, 4))
    tensors = {"parameter.weight": weight.detach().clone(), "parameter.bias": bias.detach().clone()}
    optimizer = torch.optim.AdamW([{"params": [weight], "weight_decay": settings["weight_decay"]},
                                   {"params": [bias], "weight_decay": 0.0}],
                                  lr=1.0, betas=(settings["beta1"], settings["beta2"]), eps=settings["epsilon"])
    norms = []
    for step, rate in enumerate(settings["learning_rates"]):
        # The second one is shorter than the limit.
        weight.grad, bias.grad = (draw(g, *p.shape, size=0.1 if step == 1 else 1.0) for p in (weight, bias))
        tensors[f"step{step}.gradient.weight"] = weight.grad.clone()
        tensors[f"step{step}.gradient.bias"] = bias.grad.clone()
        norms.append(torch.nn.utils.clip_grad_norm_([weight, bias], settings["clip"]))
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        for name, p in (("weight", weight), ("bias", bias)):
            tensors[f"step{step}.parameter.{name}"] = p.detach().clone()
            tensors[f"step{step}.first_moment.{name}"] = optimizer.state[p]["exp_avg"].clone()
            tensors[f"step{step}.second_moment.{name}"] = optimizer.state[p]["exp_avg_sq"].clone()
    tensors["norms"] = torch.stack(norms)
    assert norms[0] > settings["clip"] > norms[1]
    write("adamw", f"{TORCH}, nn.utils.clip_grad_norm_ and optim.AdamW; weight decay for the matrix only", settings, tensors)


def schedules():
    """Learning rates of steps 1, 2, ...: PyTorch's LambdaLR, and the library's cosine with warm-up."""
    steps, warmup, width, peak = 60, 12, 64, 0.003

    def rates(make, base):
        parameter = nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([parameter], lr=base)
        schedule = make(optimizer)
        values = []
        for _ in range(steps + 1):
            values.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        return torch.tensor(values)

    # Vaswani et al. 2017, eq. 3, for step 1, 2, ...; LambdaLR counts from 0.
    noam = rates(lambda o: torch.optim.lr_scheduler.LambdaLR(
        o, lambda n: width**-0.5 * min((n + 1) ** -0.5, (n + 1) * warmup**-1.5)), 1.0)[:steps]
    # Values for n = 0 .. steps updates done: 0 at first, the peak after the warm-up, 0 at the end.
    cosine = rates(lambda o: transformers.get_cosine_schedule_with_warmup(o, warmup, steps), peak)
    write("schedules", f"{TORCH}, LambdaLR; transformers {transformers.__version__}, get_cosine_schedule_with_warmup",
          {"steps": steps, "warmup": warmup, "width": width, "peak": peak},
          {"inverse_square_root": noam, "cosine": cosine})


class Pointer(nn.Module):
    """See, Liu and Manning 2017, 1704.04368, eq. 9: g softmax(logits) + (1 - g) times the attention at the places of the
    source that hold the token; -log of that for the target. Label smoothing takes its part from the softmax alone."""

    def __init__(self, width, tokens):
        super().__init__()
        self.output = nn.Linear(width, tokens, bias=False)
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 1)

    def forward(self, h, context, source, targets, smoothing):
        """Of one sequence: the smoothed losses, and those of the mixture alone."""
        logs = self.output(h).log_softmax(-1)
        attention = (self.to_q(h) @ self.to_k(context).mT * h.shape[-1] ** -0.5).softmax(-1)
        gate = self.gate(h).sigmoid()
        copied = torch.zeros_like(logs).index_add(1, source, attention)
        mixture = gate * logs.exp() + (1 - gate) * copied
        counts = targets >= 0
        loss = -mixture[torch.arange(len(h)), targets.clamp(min=0)].log() * counts
        return (1 - smoothing) * loss - smoothing * logs.mean(-1) * counts, loss


def pointer():
    width, tokens = 6, 9
    source = torch.tensor([3, 1, 3, 8, 0, 5, 5, 5, 2, 7, 1])
    source_segments, target_segments = [0, 5, 9, 11], [0, 3, 4, 8]
    # 4 is in no source of theirs, 6 in none at all; -1 counts for nothing.
    targets = torch.tensor([3, 8, 1, 4, 7, 6, -1, 1])
    for smoothing in (0.0, 0.1):
        g = seeded(109)
        module = randomize(Pointer(width, tokens), g)

        def run(module, h, context, which=0):
            return torch.cat([module(*inputs, smoothing)[which] for inputs in
                              zip(pieces(h, target_segments), pieces(context, source_segments),
                                  pieces(source, source_segments), pieces(targets, target_segments))]).sum()[None]

        inputs = {"h": draw(g, len(targets), width, size=2.0), "context": draw(g, len(source), width, size=2.0)}
        likelihood = run(module, **inputs, which=1)
        case("pointer" if smoothing == 0 else "pointer_smoothed", f"{TORCH}, by hand",
             {"width": width, "tokens": tokens, "smoothing": smoothing, "source": source.tolist(),
              "targets": targets.tolist()},
             module, inputs, run, g, {"context": source_segments, "h": target_segments}, negative_log_likelihood=likelihood)


SOURCE, SOURCE_SEGMENTS = torch.tensor([3, 1, 3, 8, 0, 5, 5, 5, 2, 7, 1]), [0, 5, 9, 11]
TARGET, TARGET_SEGMENTS = torch.tensor([9, 3, 8, 9, 9, 7, 6, 5]), [0, 3, 4, 8]
NEXT = torch.tensor([3, 8, 10, 4, 7, 6, -1, 10])  # -1 counts for nothing


class TokenModel(nn.Module):
    """Embeddings times sqrt(width), and their table once more for the logits unless there is another."""

    def __init__(self, tokens, width, sines):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.sines = sines

    def embedded(self, tokens):
        x = self.embedding(tokens) * self.embedding.embedding_dim**0.5
        return x + sinusoidal(*x.shape).to(x.dtype) if self.sines else x

    def loss(self, h, targets, smoothing, weight):
        return functional.cross_entropy(h @ weight.T, targets, ignore_index=-1, label_smoothing=smoothing, reduction="sum")


class EncoderDecoder(TokenModel):
    def __init__(self, tokens, width, copies, **options):
        super().__init__(tokens, width, True)
        stacks = nn.Transformer(width, dropout=0.0, batch_first=True, **options)
        self.encoder, self.decoder = stacks.encoder, stacks.decoder
        self.pointer = Pointer(width, tokens) if copies else None
        if copies:
            self.pointer.output.weight = self.embedding.weight

    def forward(self, source, target, targets, smoothing):
        context = self.encoder(self.embedded(source)[None])
        h = self.decoder(self.embedded(target)[None], context, tgt_mask=future(len(target)))[0]
        if self.pointer is None:
            return self.loss(h, targets, smoothing, self.embedding.weight)
        return self.pointer(h, context[0], source, targets, smoothing)[0].sum()


class CausalModel(TokenModel):
    def __init__(self, tokens, width, **options):
        super().__init__(tokens, width, False)
        self.stack = Llama(width, **options)
        self.output = nn.Linear(width, tokens, bias=False)

    def forward(self, tokens, targets, smoothing):
        return self.loss(self.stack(self.embedded(tokens)), targets, smoothing, self.output.weight)


class MaskedModel(TokenModel):
    def __init__(self, tokens, width, heads, hidden, layers):
        super().__init__(tokens, width, True)
        layer = nn.TransformerEncoderLayer(width, heads, hidden, 0.0, "gelu", batch_first=True, norm_first=True)
        self.stack = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width))

    def forward(self, tokens, targets, smoothing):
        return self.loss(self.stack(self.embedded(tokens)[None])[0], targets, smoothing, self.embedding.weight)


def models():
    """From tokens to the summed loss; dout is what it is multiplied by."""
    tokens, width, heads, hidden, layers = 11, 8, 2, 12, 2
    config = {"tokens": tokens, "width": width, "heads": heads, "hidden": hidden, "layers": layers,
              "source": SOURCE.tolist(), "target": TARGET.tolist(), "next": NEXT.tolist()}
    segments = {"source": SOURCE_SEGMENTS, "target": TARGET_SEGMENTS}

    def finish(name, source, module, smoothing, pairs, more):
        def run(module):
            parts = zip(*(pieces(*part) for part in pairs))
            return torch.stack([module(*part, smoothing) for part in parts]).sum()[None]

        case(name, source, {**config, "smoothing": smoothing, **more}, module, {}, run, g, segments)

    targets = [(TARGET, TARGET_SEGMENTS), (NEXT, TARGET_SEGMENTS)]
    for name, first, activation, copies, smoothing in (("translator", False, "relu", False, 0.1),
                                                       ("translator_pointer", True, "gelu", True, 0.1)):
        g = seeded(110)
        module = randomize(EncoderDecoder(tokens, width, copies, nhead=heads, num_encoder_layers=layers,
                                          num_decoder_layers=layers, dim_feedforward=hidden, activation=activation,
                                          norm_first=first), g)
        finish(name, f"{TORCH}, nn.Transformer with embeddings and loss", module, smoothing,
               [(SOURCE, SOURCE_SEGMENTS), *targets],
               {"activation": activation, "norm": "pre" if first else "post", "pointer": copies})
    g = seeded(111)
    module = randomize(CausalModel(tokens, width, heads=heads, key_heads=1, hidden=hidden, depth=layers, base=10000.0,
                                   eps=1e-5), g)
    finish("language_model", f"{TORCH}, the Llama by hand with embeddings and loss", module, 0.0, targets,
           {"key_heads": 1})
    g = seeded(112)
    module = randomize(MaskedModel(tokens, width, heads, hidden, layers), g)
    finish("masked_model", f"{TORCH}, nn.TransformerEncoder with embeddings and loss", module, 0.1, targets, {})


def main():
    for make in (multi_head_attention, layers, transformer, llama, embedding, cross_entropy, adamw, schedules, pointer,
                 models):
        make()


if __name__ == "__main__":
    main()
