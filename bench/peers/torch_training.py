"""PyTorch trains a case of `training --list-json`: eager with hand-written layers, with those of torch.nn, or compiled.

The first line of the input is {"case": {...}, "threads": 2, "how": "eager" | "nn" | "compiled"}, each further line a number
of rounds to make; each is answered by a line of JSON.
"""

import json
import math
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional


def status(name):
    """Bytes behind a name in Linux' description of this process."""
    with open("/proc/self/status") as lines:
        return next((1024 * float(line.split()[1]) for line in lines if line.startswith(name + ":")), -1.0)


def sinusoidal(length, width):
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


class Attention(nn.Module):
    """One product for q, k and v where they have one input, and PyTorch's fused attention, which has no dropout inside."""

    def __init__(self, case):
        super().__init__()
        width = case["width"]
        self.heads = case["heads"]
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def split(self, x, parts):
        """[batch, length, parts * width] as parts of [batch, heads, length, head_dim]."""
        return x.unflatten(-1, (parts, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)

    def forward(self, x, context=None, mask=None, causal=False):
        if context is None:
            q, k, v = self.split(self.into(x), 3)
        else:
            width = x.shape[-1]
            q, = self.split(functional.linear(x, self.into.weight[:width], self.into.bias[:width]), 1)
            k, v = self.split(functional.linear(context, self.into.weight[width:], self.into.bias[width:]), 2)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Norms first, as in the models they are compared with."""

    def __init__(self, case, cross):
        super().__init__()
        width = case["width"]
        self.self_attention, self.self_norm = Attention(case), nn.LayerNorm(width)
        if cross:
            self.cross, self.cross_norm = Attention(case), nn.LayerNorm(width)
        self.up, self.down, self.norm = nn.Linear(width, case["hidden"]), nn.Linear(case["hidden"], width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(case["dropout"]) if case["dropout"] else nn.Identity()

    def forward(self, x, mask=None, causal=False, context=None, context_mask=None):
        x = x + self.dropout(self.self_attention(self.self_norm(x), mask=mask, causal=causal))
        if context is not None:
            x = x + self.dropout(self.cross(self.cross_norm(x), context, context_mask))
        hidden = self.dropout(functional.relu(self.up(self.norm(x))))
        return x + self.dropout(self.down(hidden))


class Stack(nn.Module):
    def __init__(self, case, cross=False):
        super().__init__()
        self.layers = nn.ModuleList(Layer(case, cross) for _ in range(case["layers"]))
        self.norm = nn.LayerNorm(case["width"])

    def forward(self, x, **options):
        for layer in self.layers:
            x = layer(x, **options)
        return self.norm(x)


class Model(nn.Module):
    """Tokens to loss. Logits are made for real targets alone, not for padding."""

    def __init__(self, case, from_torch):
        super().__init__()
        self.pairs, self.from_torch, self.width = case["kind"] == "translator", from_torch, case["width"]
        self.embedding = nn.Embedding(case["vocabulary"], self.width)
        nn.init.normal_(self.embedding.weight, std=self.width ** -0.5)
        table = sinusoidal(case["length"], self.width)
        if case["positions"] == "sinusoidal":
            self.register_buffer("positions", table)
        else:
            self.positions = nn.Parameter(0.02 * torch.randn_like(table))
        self.dropout = nn.Dropout(case["dropout"]) if case["dropout"] else nn.Identity()
        self.output = nn.Linear(self.width, case["vocabulary"], bias=False)
        if not from_torch:
            self.encoder, self.decoder = Stack(case) if self.pairs else None, Stack(case, cross=self.pairs)
            return
        sizes = {"nhead": case["heads"], "dim_feedforward": case["hidden"], "dropout": case["dropout"],
                 "batch_first": True, "norm_first": True}
        if self.pairs:
            self.decoder = nn.Transformer(self.width, num_encoder_layers=case["layers"],
                                          num_decoder_layers=case["layers"], **sizes)
        else:
            self.decoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(self.width, **sizes), case["layers"],
                                                 nn.LayerNorm(self.width), enable_nested_tensor=False)

    def embed(self, tokens):
        return self.dropout(self.embedding(tokens) * math.sqrt(self.width) + self.positions[:tokens.shape[1]])

    def hidden(self, batch):
        x = self.embed(batch["target"])
        if self.from_torch:
            return self.torch_hidden(x, batch)
        if not self.pairs:
            return self.decoder(x, causal=True)
        context = self.encoder(self.embed(batch["source"]), mask=batch["mask"])
        return self.decoder(x, causal=True, context=context, context_mask=batch["mask"])

    def torch_hidden(self, x, batch):
        later = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        if not self.pairs:
            return self.decoder(x, mask=later, is_causal=True)
        return self.decoder(self.embed(batch["source"]), x, tgt_mask=later, tgt_is_causal=True,
                            src_key_padding_mask=batch["padding"], memory_key_padding_mask=batch["padding"])

    def forward(self, batch):
        h = self.hidden(batch).flatten(0, 1)
        if batch["real"] is not None:
            h = h.index_select(0, batch["real"])
        return functional.cross_entropy(self.output(h), batch["labels"])


def padded(lengths, vocabulary):
    """Random tokens [sequences, longest], and where they are padding."""
    lengths = torch.tensor(lengths)
    tokens = torch.randint(3, vocabulary, (len(lengths), int(lengths.max())))
    padding = torch.arange(tokens.shape[1])[None, :] >= lengths[:, None]
    return tokens.masked_fill(padding, 0), padding


def make_batch(case, lengths):
    """Padding of targets needs no mask: no real token sees what comes after it."""
    target, behind = padded([one[1] for one in lengths], case["vocabulary"])
    real = None if not behind.any() else (~behind).flatten().nonzero().flatten()
    count = target.numel() if real is None else len(real)
    batch = {"target": target, "real": real, "labels": torch.randint(3, case["vocabulary"], (count,))}
    if case["kind"] == "translator":
        source, padding = padded([one[0] for one in lengths], case["vocabulary"])
        uneven = padding.any()
        added = torch.zeros(padding.shape).masked_fill(padding, -math.inf)[:, None, None, :]
        batch.update(source=source, mask=added if uneven else None, padding=padding if uneven else None)
    return batch


class Training:
    def __init__(self, case, how):
        torch.manual_seed(1)
        self.model = Model(case, how == "nn")
        self.batches = [make_batch(case, lengths) for lengths in case["batches"]]
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=3e-4, weight_decay=0.01, fused=True)
        self.run = torch.compile(self.model, dynamic=False) if how == "compiled" else self.model

    def round(self):
        """One step for each batch; the last loss."""
        for batch in self.batches:
            self.optimiser.zero_grad(set_to_none=True)
            loss = self.run(batch)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=True)
            self.optimiser.step()
        return loss


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints

    def answer(content):
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    request = json.loads(sys.stdin.readline())
    torch.set_num_threads(request["threads"])
    torch.set_flush_denormal(True)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # the peak of memory begins here, with the libraries loaded
    before = status("VmHWM")
    training = Training(request["case"], request["how"])
    answer({"version": torch.__version__, "parameters": sum(p.numel() for p in training.model.parameters())})
    for line in sys.stdin:
        seconds, loss = [], None
        for _ in range(int(line)):
            start = time.perf_counter()
            loss = training.round()
            seconds.append(time.perf_counter() - start)
        memory = status("VmHWM")
        answer({"seconds": seconds, "loss": loss.item(), "memory": memory, "growth": memory - before})


main()
