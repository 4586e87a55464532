"""ONNX Runtime: its attention operators, with default settings and
with denormals taken as zero ("daz").

MHA is MultiHeadAttention, GQA GroupQueryAttention, both of com.microsoft; Attention is that of ONNX opset 23.
"""

import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

import common

MICROSOFT = "com.microsoft"
DAZ = "--daz" in sys.argv
TYPES = {"f32": (TensorProto.FLOAT, numpy.float32), "f16": (TensorProto.FLOAT16, numpy.float16)}


class Graph:
    """Operators as a session, its inputs and outputs bound to memory that stays."""

    def __init__(self, nodes, feeds, outputs, threads, constants=()):
        # `feeds`: name -> array or None; `outputs`: name -> array, or the name of the input it shares.
        inputs = {name: value for name, value in feeds.items() if value is not None}
        def info(name, array):
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            return helper.make_tensor_value_info(name, kind, array.shape)
        arrays = {name: inputs[value] if isinstance(value, str) else value for name, value in outputs.items()}
        graph = helper.make_graph(nodes, "case", [info(n, a) for n, a in inputs.items()],
                                  [info(n, a) for n, a in arrays.items()], list(constants))
        opsets = [helper.make_opsetid("", 23), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        if DAZ:
            options.add_session_config_entry("session.set_denormal_as_zero", "1")
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        values = {n: onnxruntime.OrtValue.ortvalue_from_numpy(a) for n, a in inputs.items()}
        for name, value in values.items():
            self.binding.bind_ortvalue_input(name, value)
        self.results = []
        for name, target in outputs.items():
            value = values[target] if isinstance(target, str) else onnxruntime.OrtValue.ortvalue_from_numpy(target)
            self.binding.bind_ortvalue_output(name, value)
            self.results.append(value)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def result(self):
        self.run()
        return self.results[0].numpy()


class Model(Graph):
    """One operator."""

    def __init__(self, operator, domain, feeds, outputs, threads, **attributes):
        names = [name if value is not None else "" for name, value in feeds.items()]
        node = helper.make_node(operator, names, list(outputs), domain=domain, **attributes)
        super().__init__([node], feeds, outputs, threads)


def packed(x):
    """[batch, heads, length, width] as [batch, length, heads * width]."""
    batch, heads, length, width = x.shape
    return numpy.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, length, heads * width)


def unpacked(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


def measure(rows, peer, threads, make, check):
    peer += " daz" if DAZ else ""

    def use():
        for count in threads:
            model = make(count)
            rows.measure(peer, count, model.run, lambda: check(model.result()))
    rows.attempt(peer, use)


def arrays(case):
    return [x.astype(TYPES[case["dtype"]][1]) for x in common.arrays(case)]


def multi_head(case, threads, rows):
    """Heads side by side; the bias is a tensor. A window has no attribute here."""
    q, k, v = (packed(x) for x in arrays(case))
    bias = common.score_bias(case, causal_too=False)[None] if case["bias"] else None
    feeds = {"query": q, "key": k, "value": v, "bias": None, "key_padding_mask": None, "attention_bias": bias}
    if bias is None:
        feeds = dict(list(feeds.items())[:3])
    measure(rows, "ORT MHA", threads,
            lambda count: Model("MultiHeadAttention", MICROSOFT, feeds, {"out": numpy.zeros_like(q)}, count,
                                       num_heads=case["heads"], unidirectional=int(case["causal"])),
            lambda out: unpacked(out, case["heads"]))


def grouped(case, threads, rows):
    """Always causal. A prompt from nothing, or one token behind a cache that it extends in place."""
    q, k, v = arrays(case)
    new = 1 if case["kind"] == "decode" else case["keys"]
    outputs = {"out": numpy.zeros_like(packed(q)), "present_key": numpy.zeros_like(k), "present_value": numpy.zeros_like(v)}
    past = {"past_key": None, "past_value": None}
    if case["kind"] == "decode":
        past = {"past_key": k, "past_value": v}
        outputs.update(present_key="past_key", present_value="past_value")
    bias = common.score_bias(case, causal_too=False)[None] if case["bias"] else None
    feeds = {"query": packed(q), "key": packed(k[:, :, -new:]), "value": packed(v[:, :, -new:]), **past,
             "seqlens_k": numpy.array([case["keys"] - 1], numpy.int32),
             "total_sequence_length": numpy.array(case["keys"], numpy.int32)}
    if bias is not None:
        feeds.update(cos_cache=None, sin_cache=None, position_ids=None, attention_bias=bias)
    extra = {"local_window_size": case["window"]} if case["window"] else {}
    measure(rows, "ORT GQA", threads,
            lambda count: Model("GroupQueryAttention", MICROSOFT, feeds, outputs, count,
                                       num_heads=case["heads"], kv_num_heads=case["kv_heads"], **extra),
            lambda out: unpacked(out, case["heads"]))


def standard(case, threads, rows):
    """Attention of ONNX opset 23."""
    q, k, v = arrays(case)
    mask = common.score_bias(case, causal_too=False)[None] if case["bias"] or case["window"] else None
    feeds = {"Q": q, "K": k, "V": v} | ({} if mask is None else {"attn_mask": mask})
    causal = int(case["causal"] and case["kind"] != "decode")
    measure(rows, "ORT Attention", threads,
            lambda count: Model("Attention", "", feeds, {"Y": numpy.zeros_like(q)}, count,
                                       is_causal=causal, softcap=float(case["softcap"])),
            lambda out: out)


def rotary(case, threads, rows):
    """q alone, into bound memory, twice: q and k are of one size."""
    q = arrays(case)[0]
    n, width = case["queries"], case["head_dim"]
    angles = numpy.outer(numpy.arange(n), 10000.0 ** (-numpy.arange(0, width, 2) / width))
    feeds = {"input": q, "position_ids": numpy.arange(n, dtype=numpy.int64)[None],
             "cos_cache": numpy.cos(angles).astype(numpy.float32), "sin_cache": numpy.sin(angles).astype(numpy.float32)}

    def use():
        for count in threads:
            model = Model("RotaryEmbedding", MICROSOFT, feeds, {"output": numpy.zeros_like(q)}, count,
                          interleaved=int(case["layout"] == "interleaved"))
            rows.measure("ORT rotary", count, lambda: (model.run(), model.run()), model.result)
    rows.attempt("ORT rotary", use)


def measure_case(case, threads, rows):
    if case["dtype"] not in TYPES:
        return rows.skip("ORT", f"has no attention for {case['dtype']} on processors")
    if case["kind"] == "backward":
        return rows.skip("ORT", "does not train in this package")
    if case["kind"] == "rotate":  # which meets no denormals
        if case["in_place"]:
            return rows.skip("ORT", "does not rotate in place")
        return None if DAZ else rotary(case, threads, rows)
    if case["kind"] in ("forward", "small") and not case["softcap"] and not case["window"]:
        rows.attempt("ORT MHA", lambda: multi_head(case, threads, rows))
    if case["causal"] and not case["softcap"]:
        rows.attempt("ORT GQA", lambda: grouped(case, threads, rows))
    rows.attempt("ORT Attention", lambda: standard(case, threads, rows))


if __name__ == "__main__":
    common.serve({"onnxruntime": onnxruntime.__version__}, measure_case)
