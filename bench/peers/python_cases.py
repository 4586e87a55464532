"""What `make bench-peers PEERS='--what python'` measures: tasks, and how each library is best asked to do them from Python.

A case has contenders: name -> a function that prepares and gives (run, result). run() does the task once; result() gives its numbers. The first
contender is ours. All work on the same inputs, write where their library lets them say where, and have graphs, tables and masks ready before.
"""

from __future__ import annotations

import math
import warnings

import numpy
import onnx_peer
import onnxruntime
import openvino_peer
import torch
from onnx import TensorProto, helper
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

import common
import sextant

warnings.filterwarnings("ignore", module="torch")
onnx_peer.DAZ = True  # denormal numbers as zeros: its faster setting
HEADS, HEAD_DIM, BASE = 8, 64, 10000.0
THREADS = {}  # of our calls that take them
VERSIONS = {"sextant": sextant.__version__, "torch": torch.__version__, "onnxruntime": onnxruntime.__version__,
            "openvino": openvino_peer.VERSION, "numpy": numpy.__version__}


def use_threads(count):
    """Ours and PyTorch's; sessions of ONNX Runtime are made with theirs."""
    THREADS["threads"] = count
    torch.set_num_threads(count)


def heads(length, seed, count=HEADS):
    return common.uniform((1, count, length, HEAD_DIM), seed)


def frequencies(width):
    return BASE ** (-numpy.arange(0, width, 2) / width)


def returns(run):
    """A contender whose task gives its numbers."""
    return run, run


def first(run):
    """Likewise, of several: all are given, so that no compiler leaves one out."""
    return run, lambda: run()[0]


def compiled(function):
    """The first call compiles; it is not measured."""
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False)


def model(result, *arguments, **attributes):
    """An operator of ONNX Runtime; `result` shapes its output for the comparison."""
    made = onnx_peer.Model(*arguments, **attributes)
    return made.run, lambda: result(made.result())


class Sines:
    """A sinusoidal table, from nothing."""

    tolerance = 3e-4  # others round the angles, up to 4095, to float32

    def __init__(self, length=4096, width=512):
        self.name = f"sinusoidal table {length} x {width}"
        self.length, self.width, self.out = length, width, numpy.zeros((length, width), numpy.float32)

    def contenders(self, threads):
        return {"sextant": self.ours, "torch eager": lambda: returns(self.eager()), "torch compiled": lambda: returns(compiled(self.eager())),
                "ORT graph": lambda: self.graph(threads)}

    def ours(self):
        return returns(lambda: sextant.sinusoidal(self.length, self.width, out=self.out))

    def eager(self):
        """The usual lines of a model."""
        position = torch.arange(self.length).unsqueeze(1)
        rates = torch.exp(torch.arange(0, self.width, 2) * (-math.log(BASE) / self.width))
        out = torch.zeros(self.length, self.width)

        def fill():
            angles = position * rates
            out[:, 0::2] = torch.sin(angles)
            out[:, 1::2] = torch.cos(angles)
            return out

        return fill

    def graph(self, threads):
        """Angles, sines, cosines, and the two side by side."""
        feeds = {"position": numpy.arange(self.length, dtype=numpy.float32)[:, None], "rates": frequencies(self.width).astype(numpy.float32)[None]}
        steps = [("Mul", "position rates", "angles"), ("Sin", "angles", "sines"), ("Cos", "angles", "cosines"),
                 ("Unsqueeze", "sines last", "sines3"), ("Unsqueeze", "cosines last", "cosines3"), ("Reshape", "pairs shape", "table")]
        nodes = [helper.make_node(operator, inputs.split(), [output]) for operator, inputs, output in steps]
        nodes.insert(5, helper.make_node("Concat", ["sines3", "cosines3"], ["pairs"], axis=2))
        constants = [helper.make_tensor("last", TensorProto.INT64, [1], [2]),
                     helper.make_tensor("shape", TensorProto.INT64, [2], [self.length, self.width])]
        made = onnx_peer.Graph(nodes, feeds, {"table": numpy.zeros_like(self.out)}, threads, constants)
        return made.run, made.result


class Rotation:
    """Rotary positions on q and k, from tables made beforehand."""

    tolerance = 1e-3

    def __init__(self, length=4096):
        self.name = f"rotary apply, q and k of {HEADS} x {length} x {HEAD_DIM}"
        self.length, self.q, self.k = length, heads(length, 1), heads(length, 2)

    def contenders(self, threads):
        return {"sextant": self.ours, "torch eager": lambda: first(self.eager()), "torch compiled": lambda: first(compiled(self.eager())),
                "ORT rotary": lambda: self.operator(threads)}

    def ours(self):
        table = sextant.rotary(self.length, HEAD_DIM, layout="half_split")
        q, k = numpy.zeros_like(self.q), numpy.zeros_like(self.k)
        return first(lambda: (sextant.rotate(self.q, table, out=q, **THREADS), sextant.rotate(self.k, table, out=k, **THREADS)))

    def tables(self):
        angles = numpy.outer(numpy.arange(self.length), frequencies(HEAD_DIM))
        return [turn(angles).astype(numpy.float32) for turn in (numpy.cos, numpy.sin)]

    def eager(self):
        cos, sin = (torch.from_numpy(table) for table in self.tables())
        q, k = torch.from_numpy(self.q), torch.from_numpy(self.k)

        def turn(x):
            a, b = x.chunk(2, -1)
            return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

        return lambda: (turn(q), turn(k))

    def operator(self, threads):
        cos, sin = self.tables()
        rest = {"ids": numpy.arange(self.length, dtype=numpy.int64)[None], "cos": cos, "sin": sin}
        q, k = (onnx_peer.Model("RotaryEmbedding", onnx_peer.MICROSOFT, {"input": x, **rest}, {"out": numpy.zeros_like(x)}, threads, interleaved=0)
                for x in (self.q, self.k))
        return lambda: (q.run(), k.run()), q.result


class Forward:
    """Causal attention; with `slopes` ALiBi's biases, which others need as a tensor or a function."""

    tolerance = 1e-4

    def __init__(self, length=2048, slopes=False):
        self.name = f"{'ALiBi' if slopes else 'causal'} attention, {HEADS} x {length} x {HEAD_DIM}"
        self.length, self.slopes = length, common.slopes_of(HEADS) if slopes else None
        self.arrays = [heads(length, seed) for seed in (1, 2, 3)]

    def contenders(self, threads):
        return {"sextant": self.ours, "torch SDPA": self.product, "torch Flex": self.flexible, "ORT MHA": lambda: self.multi_head(threads),
                "ORT GQA": lambda: self.grouped(threads), "OpenVINO": lambda: self.openvino(threads)}

    def ours(self):
        out = numpy.zeros_like(self.arrays[0])
        return returns(lambda: sextant.attention(*self.arrays, causal="top_left", slopes=self.slopes, out=out, **THREADS))

    def bias(self, causal_too):
        return common.score_bias({"queries": self.length, "heads": HEADS, "bias": "slopes", "causal": True, "window": 0}, causal_too)[None]

    def product(self):
        q, k, v = (torch.from_numpy(x) for x in self.arrays)
        options = {"is_causal": True} if self.slopes is None else {"attn_mask": torch.from_numpy(self.bias(True))}
        return returns(lambda: scaled_dot_product_attention(q, k, v, **options))

    def flexible(self):
        q, k, v = (torch.from_numpy(x) for x in self.arrays)
        slopes = None if self.slopes is None else torch.tensor(self.slopes, dtype=torch.float32)
        blocks = create_block_mask(lambda b, h, i, j: i >= j, None, None, self.length, self.length, device="cpu")
        added = None if slopes is None else lambda score, b, h, i, j: score - slopes[h] * (i - j)
        call = compiled(flex_attention)
        return returns(lambda: call(q, k, v, score_mod=added, block_mask=blocks))

    def multi_head(self, threads):
        feeds = dict(zip(("query", "key", "value"), map(onnx_peer.packed, self.arrays)))
        if self.slopes is not None:
            feeds |= {"bias": None, "key_padding_mask": None, "attention_bias": self.bias(False)}
        return model(lambda out: onnx_peer.unpacked(out, HEADS), "MultiHeadAttention", onnx_peer.MICROSOFT, feeds,
                     {"out": numpy.zeros_like(feeds["query"])}, threads, num_heads=HEADS, unidirectional=1)

    def grouped(self, threads):
        q, k, v = map(onnx_peer.packed, self.arrays)
        feeds = {"query": q, "key": k, "value": v, "past_key": None, "past_value": None,
                 "seqlens_k": numpy.array([self.length - 1], numpy.int32), "total_sequence_length": numpy.array(self.length, numpy.int32)}
        outputs = {"out": numpy.zeros_like(q), "present_key": numpy.zeros_like(self.arrays[1]), "present_value": numpy.zeros_like(self.arrays[2])}
        if self.slopes is not None:
            feeds |= {"cos_cache": None, "sin_cache": None, "position_ids": None, "attention_bias": self.bias(False)}
        return model(lambda out: onnx_peer.unpacked(out, HEADS), "GroupQueryAttention", onnx_peer.MICROSOFT, feeds, outputs, threads,
                     num_heads=HEADS, kv_num_heads=HEADS)

    def openvino(self, threads):
        made = openvino_peer.Model(self.arrays, threads, self.slopes is None, None if self.slopes is None else self.bias(True))
        return made.run, made.result


class Backward:
    """dq, dk and dv of causal attention; the forward pass is done before."""

    tolerance = 1e-4

    def __init__(self, length=1024):
        self.name = f"backward, causal, {HEADS} x {length} x {HEAD_DIM}"
        self.arrays, self.dout = [heads(length, seed) for seed in (1, 2, 3)], heads(length, 4)

    def contenders(self, threads):
        return {"sextant": self.ours, "torch autograd": self.autograd}

    def ours(self):
        sums = numpy.zeros(self.dout.shape[:3], numpy.float32)
        out = sextant.attention(*self.arrays, causal="top_left", log_sum_exp=sums, **THREADS)
        return returns(lambda: sextant.attention_backward(self.dout, *self.arrays, causal="top_left", out=out, log_sum_exp=sums, **THREADS).dq)

    def autograd(self):
        inputs = [torch.from_numpy(x).requires_grad_() for x in self.arrays]
        out, dout = scaled_dot_product_attention(*inputs, is_causal=True), torch.from_numpy(self.dout)
        return returns(lambda: torch.autograd.grad(out, inputs, dout, retain_graph=True)[0])


class Decode:
    """One more token: its key and value into a cache of 8 heads, and the attention of 32 to all of it."""

    tolerance = 1e-4

    def __init__(self, length=4096, query_heads=32):
        self.name = f"decode step, {query_heads} heads on {HEADS}, cache of {length}"
        self.length, self.query_heads = length, query_heads
        self.q, self.k, self.v = heads(1, 1, query_heads), heads(length, 2), heads(length, 3)

    def contenders(self, threads):
        return {"sextant": self.ours, "torch SDPA": self.product, "ORT GQA": lambda: self.grouped(threads)}

    def ours(self):
        cache = sextant.KvCache(1, HEADS, HEAD_DIM)
        cache.append(self.k, self.v)
        k, v, out = self.k[:, :, -1:], self.v[:, :, -1:], numpy.zeros_like(self.q)

        def step():
            cache.rewind(self.length - 1)
            cache.append(k, v)
            return cache.attend(self.q, out=out, **THREADS)

        return returns(step)

    def product(self):
        q, k, v = (torch.from_numpy(x.copy()) for x in (self.q, self.k, self.v))
        new_k, new_v = k[:, :, -1:].clone(), v[:, :, -1:].clone()

        def step():
            k[:, :, -1:] = new_k
            v[:, :, -1:] = new_v
            return scaled_dot_product_attention(q, k, v, enable_gqa=True)

        return returns(step)

    def grouped(self, threads):
        feeds = {"query": onnx_peer.packed(self.q), "key": onnx_peer.packed(self.k[:, :, -1:]), "value": onnx_peer.packed(self.v[:, :, -1:]),
                 "past_key": self.k, "past_value": self.v, "seqlens_k": numpy.array([self.length - 1], numpy.int32),
                 "total_sequence_length": numpy.array(self.length, numpy.int32)}
        outputs = {"out": numpy.zeros_like(feeds["query"]), "present_key": "past_key", "present_value": "past_value"}
        return model(lambda out: onnx_peer.unpacked(out, self.query_heads), "GroupQueryAttention", onnx_peer.MICROSOFT, feeds, outputs, threads,
                     num_heads=self.query_heads, kv_num_heads=HEADS)


class Call:
    """A call with almost nothing to compute: what it costs to call."""

    tolerance = 1e-6

    def __init__(self):
        self.name = f"a call of one query, {HEADS} x 1 x {HEAD_DIM}"
        self.arrays = [heads(1, seed) for seed in (1, 2, 3)]

    def contenders(self, threads):
        return {"sextant": self.ours, "torch SDPA": self.product}

    def ours(self):
        out = numpy.zeros_like(self.arrays[0])
        return returns(lambda: sextant.attention(*self.arrays, out=out, **THREADS))

    def product(self):
        q, k, v = (torch.from_numpy(x) for x in self.arrays)
        return returns(lambda: scaled_dot_product_attention(q, k, v))


def cases(quick, out):
    """Short lengths with `quick`, to try the program."""
    if quick:
        return [Sines(64, 32), Rotation(64), Forward(64, slopes=True), Forward(64), Backward(64), Decode(64), Call()]
    return [Sines(), Rotation(), Forward(slopes=True), Forward(), Backward(), Decode(), Call()]
