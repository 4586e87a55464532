"""Trains in PyTorch what a run of `sextant train lm` trained, in as many steps, and prints both losses on the same text.

    sextant train lm --file plays.txt --minutes 20 -o plays
    sextant train lm --file plays.txt --minutes 20 --steps 1 -o first
    python torch_language_model.py plays first

Same text, tokens, weights to start from, batches, optimiser and schedule; what differs is who computes, and which
activations dropout drops. For models with the defaults: rotary positions, layer norm before each block, GELU, tied
embedding. Needs torch, numpy and, for sub-words, sentencepiece.
"""

import argparse
import json
import math
import pathlib
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

SPECIAL = 3  # <unk>, behind <pad>, <bos>, <eos>
LINE = 4  # sub-words: the end of a line


def load_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(np.frombuffer(data[begin + one["data_offsets"][0]:begin + one["data_offsets"][1]],
                                                 np.float32).reshape(one["shape"]).copy()) for name, one in header.items()}


def encoder(folder):
    about = json.loads((folder / "tokenizer.json").read_text())
    if about["kind"] == "character":
        ids = {token: i for i, token in enumerate(about["tokens"])}
        return lambda text: [ids.get(character, SPECIAL) for character in text]
    import sentencepiece
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))

    def encode(text):
        ids = []
        for number, line in enumerate(text.split("\n")):
            ids += [LINE] * (number > 0) + [i if i > LINE else SPECIAL for i in pieces.encode(line)]
        return ids
    return encode


def split(path, held_out):
    """What is learned and what is not: at the first line end behind the given part, in bytes."""
    text = pathlib.Path(path).read_bytes()
    at = text.find(b"\n", int(len(text) * (1 - held_out))) + 1
    return text[:at].decode(), text[at:].decode()


class Model(nn.Module):
    def __init__(self, config, weights, dropout):
        super().__init__()
        self.heads, self.layers, self.drop = config["heads"], config["layers"], dropout
        self.weights = nn.ParameterDict({name.replace(".", "/"): nn.Parameter(one) for name, one in weights.items()})
        head_dim = config["width"] // self.heads
        base = float(config["scheme_parameters"].get("base", 10000))
        angles = torch.arange(config["length"])[:, None] * base ** (-torch.arange(0, head_dim, 2) / head_dim)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def w(self, name):
        return self.weights[name.replace(".", "/")]

    def linear(self, x, name):
        return functional.linear(x, self.w(name + ".weight"), self.w(name + ".bias"))

    def norm(self, x, name):
        return functional.layer_norm(x, x.shape[-1:], self.w(name + ".gain"), self.w(name + ".bias"))

    def dropout(self, x):
        return functional.dropout(x, self.drop, self.training)

    def turn(self, x):
        cosines, sines = self.cosines[:x.shape[2]], self.sines[:x.shape[2]]
        first, second = x.chunk(2, -1)
        return torch.cat((first * cosines - second * sines, second * cosines + first * sines), -1)

    def attention(self, x, name):
        q, k, v = self.linear(x, name + ".in").unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)
        return self.linear(mixed.transpose(1, 2).flatten(2), name + ".out")

    def loss(self, tokens, targets):
        table = self.w("embedding.weight")
        x = self.dropout(functional.embedding(tokens, table) * math.sqrt(table.shape[1]))
        for i in range(self.layers):
            at = f"{self.prefix}.{i}."
            x = x + self.dropout(self.attention(self.norm(x, at + "self_norm"), at + "self"))
            hidden = self.linear(self.norm(x, at + "feed_forward_norm"), at + "feed_forward.in")
            x = x + self.dropout(self.linear(self.dropout(functional.gelu(hidden)), at + "feed_forward.out"))
        logits = functional.linear(self.norm(x, f"{self.prefix}.final_norm"), table)
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @property
    def prefix(self):
        return next(name for name in self.weights if name.endswith("final_norm/gain")).split("/")[0]


def rate(schedule, n):
    """Of step n, counted from 1."""
    warmup = schedule["warmup"]
    if n <= warmup:
        return schedule["peak"] * n / warmup
    if schedule["decay"] == "inverse_square_root":
        return schedule["peak"] * math.sqrt(warmup / n)
    if schedule["decay"] == "constant":
        return schedule["peak"]
    done = min(1.0, (n - warmup) / (schedule["steps"] - warmup))
    return schedule["floor"] + (schedule["peak"] - schedule["floor"]) * (1 + math.cos(math.pi * done)) / 2


def held_out_loss(model, tokens, length, count):
    model.eval()
    whole = (len(tokens) - 1) // length
    with torch.no_grad():
        total = 0.0
        for first in range(0, whole, count):
            rows = [tokens[i * length:(i + 1) * length + 1] for i in range(first, min(first + count, whole))]
            batch = torch.stack(rows)
            total += model.loss(batch[:, :-1], batch[:, 1:]).item() * len(rows)
    model.train()
    return total / whole


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("run", type=pathlib.Path, help="folder of the run")
    arguments.add_argument("first", type=pathlib.Path, help="folder of the same run of one step: the weights to start from")
    arguments.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments.add_argument("--every", type=int, default=500, help="steps between two lines")
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(0)

    about = json.loads((options.run / "run.json").read_text())
    settings, adamw = about["settings"], about["optimiser"]
    ours = [json.loads(line) for line in (options.run / "metrics.jsonl").read_text().splitlines()]
    checks = {one["step"]: one["validation_loss"] for one in ours if "validation_loss" in one}
    config = json.loads((options.run / "last" / "config.json").read_text())
    encode = encoder(options.run / "last")
    learned, held_out = (torch.tensor(encode(text)) for text in split(settings["files"][0]["path"], settings["held_out"]))
    print(f"{len(learned)} tokens to learn from, {len(held_out)} held out", flush=True)

    model = Model(config, load_safetensors(options.first / "last" / "model.safetensors"), about["dropout"])
    decays = [p for p in model.weights.values() if p.dim() > 1]
    others = [p for p in model.weights.values() if p.dim() <= 1]
    optimiser = torch.optim.AdamW([{"params": decays, "weight_decay": adamw["weight_decay"]},
                                   {"params": others, "weight_decay": 0.0}], lr=1.0, fused=True,
                                  betas=(adamw["beta1"], adamw["beta2"]), eps=adamw["epsilon"])
    length, batch = settings["length"], settings["batch"]
    first = json.loads((options.first / "metrics.jsonl").read_text().splitlines()[-1])
    print(f"step 1  held-out loss: PyTorch {held_out_loss(model, held_out, length, batch):.6f}, "
          f"Sextant {first['validation_loss']:.6f}", flush=True)
    order = np.random.default_rng(0)
    places = np.empty(0, dtype=np.int64)
    start = time.perf_counter()
    for step in range(2, ours[-1]["step"] + 1):
        if len(places) < batch:
            shift = order.integers(length)
            places = np.concatenate((places, order.permutation(len(learned) // length - 1) * length + shift))
        taken, places = places[:batch], places[batch:]
        rows = torch.stack([learned[i:i + length + 1] for i in np.minimum(taken, len(learned) - length - 1)])
        for group in optimiser.param_groups:
            group["lr"] = rate(about["schedule"], step)
        optimiser.zero_grad(set_to_none=True)
        loss = model.loss(rows[:, :-1], rows[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), adamw["clip_norm"] or math.inf)
        optimiser.step()
        if step in checks and (step % options.every == 0 or step == ours[-1]["step"]):
            theirs = held_out_loss(model, held_out, length, batch)
            seconds = time.perf_counter() - start
            print(f"step {step}  held-out loss: PyTorch {theirs:.4f}, Sextant {checks[step]:.4f}  perplexity: "
                  f"{math.exp(theirs):.3f}, {math.exp(checks[step]):.3f}  {(step - 1) * batch * length / seconds:.0f} tokens/s", flush=True)


main()
