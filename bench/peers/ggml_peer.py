"""llama.cpp: the flash attention of ggml for CPUs, called in the shared library of the package xllamacpp.

Queries are float32, keys and values float32, float16, bfloat16 or blocks of 8 bits, masks float16, as in llama.cpp. Causality and windows are
masks there too; ALiBi is a mask of distances and a slope for each head.
"""

import ctypes
import importlib.util
import pathlib
from importlib.metadata import version

import numpy

import common

TYPES = {"f32": 0, "f16": 1, "int8": 8, "bf16": 30}  # enum ggml_type
LARGEST_BIAS = 8.0  # of ALiBi's slopes, as in the paper
FLOATS = ctypes.POINTER(ctypes.c_float)


def load():
    """The library, without the Python module around it, and the functions used here with their types."""
    folder = pathlib.Path(importlib.util.find_spec("xllamacpp").origin).parent
    library = ctypes.CDLL(str(next(folder.glob("xllamacpp*.so"))))
    pointer, size, whole, real = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_float
    functions = {
        "ggml_tensor_overhead": (size, []), "ggml_graph_overhead": (size, []), "ggml_nbytes": (size, [pointer]),
        "ggml_init": (pointer, [Memory]), "ggml_free": (None, [pointer]),
        "ggml_new_tensor_4d": (pointer, [pointer, whole] + 4 * [ctypes.c_int64]), "ggml_get_data": (pointer, [pointer]),
        "ggml_quantize_chunk": (size, [whole, FLOATS, pointer] + 3 * [ctypes.c_int64] + [pointer]),
        "ggml_flash_attn_ext": (pointer, 5 * [pointer] + 3 * [real]), "ggml_new_graph": (pointer, [pointer]),
        "ggml_build_forward_expand": (None, [pointer, pointer]), "ggml_backend_graph_compute": (whole, [pointer, pointer]),
        "ggml_backend_cpu_init": (pointer, []), "ggml_backend_free": (None, [pointer]),
        "ggml_backend_cpu_set_n_threads": (None, [pointer, whole]), "ggml_backend_cpu_set_threadpool": (None, [pointer, pointer]),
        "ggml_threadpool_params_init": (None, [pointer, whole]), "ggml_threadpool_new": (pointer, [pointer]),
        "ggml_threadpool_free": (None, [pointer])}
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Memory(ctypes.Structure):
    """struct ggml_init_params."""
    _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("without_data", ctypes.c_bool)]


ggml = load()


class Attention:
    """One operator, with its arrays, threads that stay and the memory it works in."""

    def __init__(self, case, threads):
        q, k, v = common.arrays(case)
        mask = mask_of(case)
        room = sum(4 * array.size for array in (q, k, v, q)) + (0 if mask is None else mask.nbytes)
        self.context = ggml.ggml_init(Memory(room + 16 * ggml.ggml_tensor_overhead() + ggml.ggml_graph_overhead() + 2**12, None, False))
        tensors = [self.tensor(q, "f32"), self.tensor(k, case["dtype"]), self.tensor(v, case["dtype"])]
        tensors.append(None if mask is None else self.tensor(mask, "f16"))
        self.out = ggml.ggml_flash_attn_ext(self.context, *tensors, case["head_dim"] ** -0.5,
                                            LARGEST_BIAS if case["bias"] else 0.0, case["softcap"])
        self.shape = (case["queries"], case["heads"], case["head_dim"])
        self.graph = ggml.ggml_new_graph(self.context)
        ggml.ggml_build_forward_expand(self.graph, self.out)
        self.backend = ggml.ggml_backend_cpu_init()
        ggml.ggml_backend_cpu_set_n_threads(self.backend, threads)
        parameters = ctypes.create_string_buffer(4096)  # more than struct ggml_threadpool_params takes
        ggml.ggml_threadpool_params_init(parameters, threads)
        self.threads = ggml.ggml_threadpool_new(parameters)
        ggml.ggml_backend_cpu_set_threadpool(self.backend, self.threads)

    def tensor(self, array, dtype):
        """A copy of [1, heads, length, head_dim], or of a mask [1, 1, queries, keys], in another type."""
        made = ggml.ggml_new_tensor_4d(self.context, TYPES[dtype], *array.shape[::-1])
        data = ggml.ggml_get_data(made)
        if dtype in ("f32", "f16"):
            values = numpy.ascontiguousarray(array, numpy.float16 if dtype == "f16" else numpy.float32)
            ctypes.memmove(data, values.ctypes.data, values.nbytes)
        else:
            ggml.ggml_quantize_chunk(TYPES[dtype], array.ctypes.data_as(FLOATS), data, 0, array.size // array.shape[-1],
                                     array.shape[-1], None)
        return made

    def run(self):
        if ggml.ggml_backend_graph_compute(self.backend, self.graph) != 0:
            raise RuntimeError("ggml did not compute the graph")

    def result(self):
        """[1, heads, queries, head_dim]."""
        self.run()
        numbers = ctypes.cast(ggml.ggml_get_data(self.out), FLOATS)
        return numpy.ctypeslib.as_array(numbers, self.shape).copy().swapaxes(0, 1)[None]

    def close(self):
        ggml.ggml_backend_free(self.backend)
        ggml.ggml_threadpool_free(self.threads)
        ggml.ggml_free(self.context)


def needs_mask(case):
    return bool(case["causal"] and case["queries"] > 1 or case["window"] or case["bias"])


def mask_of(case):
    """[1, 1, queries, keys] float16, or none: 0 or the distance where a key is visible."""
    n, m = case["queries"], case["keys"]
    if not needs_mask(case):
        return None
    distance = numpy.arange(m)[None, :] - numpy.arange(n)[:, None] - (m - n)
    hidden = (distance > 0) & bool(case["causal"])
    if case["window"]:
        hidden |= distance <= -case["window"]
    mask = -numpy.abs(distance) if case["bias"] else numpy.zeros_like(distance)
    return numpy.where(hidden, -numpy.inf, mask).astype(numpy.float16)[None, None]


def measure_case(case, threads, rows):
    if case["kind"] not in ("forward", "small", "decode") or case.get("rounded"):
        return rows.skip("llama.cpp", f"has no {case['kind']} like ours")
    if case["bias"] not in ("", "slopes"):
        return rows.skip("llama.cpp", "has no such bias")
    if needs_mask(case) and case["queries"] * case["keys"] > 2**26:
        return rows.skip("llama.cpp", "its mask would take more than 128 MiB")

    def use():
        for count in threads:
            attention = Attention(case, count)
            rows.measure("llama.cpp", count, attention.run, attention.result)
            attention.close()
    rows.attempt("llama.cpp", use)


if __name__ == "__main__":
    common.serve({"llama.cpp (xllamacpp)": version("xllamacpp")}, measure_case)
