"""What hostile calls are made of: calls that fit, and values that do not, each as a text of Python."""

from __future__ import annotations

import ctypes
import io
import types
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Union

import ml_dtypes
import numpy as np

import sextant


class Deliberate(Exception):
    """Raised by an argument's own code."""


class Lies:
    """An object whose methods of that name do what they are told."""

    def __init__(self, **methods: Any) -> None:
        made = {f"__{name}__": (lambda result: lambda self, *_, **__: result() if callable(result) else result)(result) for name, result in methods.items()}
        self.__class__ = type("Lies", (Lies,), made)


def deliberately() -> Any:
    raise Deliberate


def holding_itself() -> list[Any]:
    values: list[Any] = [1]
    values.append(values)
    return values


def cache_of(*steps: Callable[[Any], Any]) -> Any:
    """A cache with 5 positions of 2 sequences, after the steps."""
    cache = sextant.KvCache(2, 2, 8)
    cache.append(K[:, :, :5], K[:, :, :5])
    for step in steps:
        step(cache)
    return cache.keys.shape, cache.lengths


rng = np.random.default_rng(0)
Q = rng.standard_normal((2, 4, 6, 8)).astype(np.float32)
K = rng.standard_normal((2, 2, 6, 8)).astype(np.float32)
IDS = np.arange(6)  # written to by another thread
CACHE = sextant.KvCache(2, 2, 8)  # the same
SHIPPED = sextant.shipped()
MAPS = SHIPPED.attention_maps("may 5", "2").cross
PICTURE = sextant.plot.heatmap("alibi", length=4, heads=2)
TEXT = "the cat saw the dog .\n" * 40
NAMESPACE: Dict[str, Any] = {
    "sextant": sextant, "np": np, "bfloat16": ml_dtypes.bfloat16, "io": io, "types": types, "ctypes": ctypes, "Lies": Lies, "Deliberate": Deliberate,
    "deliberately": deliberately, "holding_itself": holding_itself, "cache_of": cache_of, "Q": Q, "K": K, "IDS": IDS, "CACHE": CACHE, "SHIPPED": SHIPPED,
    "MAPS": MAPS, "PICTURE": PICTURE, "TEXT": TEXT, "NOTHING": np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (2, 4, 1 << 40, 8), (0, 0, 0, 0)),
}  # fmt: skip

VALUES = [
    "None", "True", "False", "0", "1", "2", "3", "-1", "7", "8", "2**20 + 1", "2**31", "2**31 - 1", "-2**31 - 1", "2**53", "2**62", "2**63 - 1", "2**63",
    "-2**63", "10**40", "0.0", "-0.0", "1.5", "-2.5", "1e-320", "1e300", "-1e300", "float('nan')", "float('inf')", "-float('inf')", "1j", "''", "'x'",
    "'rotary'", "'\\udc80'", "'a\\0b'", "'\\u202e\\x1b[2J'", "'/'", "'no/such'", "b'x'", "bytearray(8)", "[]", "()", "{}", "set()", "[[]]", "[1, 2]",
    "[0, 6]", "(1, 2, 3)", "[None]", "['a']", "[1, 'a']", "[2**63]", "[-1]", "[float('nan')]", "range(3)", "{'a': 1}", "{1: 2}", "{'rotary': {}}",
    "{'rotary': {'base': 'x'}}", "{'rotary': None}", "{'alibi': {}, 't5': {}}", "object()", "object", "int", "len", "sextant", "NotImplemented", "...",
    "(i for i in range(3))", "iter([])", "io.StringIO('a b')", "io.BytesIO(b'a\\tb')", "np", "np.float32", "np.dtype('f4')", "np.float32(2)", "np.int8(-3)",
    "np.float64('nan')", "np.bool_(True)", "np.str_('x')", "np.datetime64('2020')", "types.MappingProxyType({})", "holding_itself()", "[0] * 70000",
    "memoryview(b'abcd')", "Lies(index=3)", "Lies(index='x')", "Lies(index=deliberately)", "Lies(float='x')", "Lies(float=deliberately)",
    "Lies(iter=deliberately)", "Lies(iter=3)", "Lies(len=-1)", "Lies(len=deliberately)", "Lies(fspath=3)", "Lies(fspath=deliberately)", "Lies(str=3)",
    "Lies(dlpack=3)", "Lies(dlpack=deliberately)", "Lies(dlpack=None, dlpack_device=(1, 0))", "Lies(array=3)", "Lies(array_interface={})",
    "Lies(bool=deliberately)", "sextant.rotary(6, 8)", "sextant.rotary(3, 2, dtype='float64')", "sextant.alibi(6, 4)",
    "sextant.alibi(2, 3)", "sextant.shaw(6, 4, 8)", "sextant.prefix_mask(6, 4, prefix_length=2)", "sextant.DistanceBias()", "sextant.fire(6, 4)",
    "sextant.DistanceBias(np.zeros((1, 3)), origin=-5)", "sextant.DistanceBias(slopes=[1e300] * 4)", "SHIPPED", "MAPS", "PICTURE", "CACHE",
]  # fmt: skip
ARRAYS = [
    "Q", "K", "IDS", "NOTHING", "NOTHING[..., :0]", "Q[:0]", "Q[:, :0]", "Q[:, :, :0]", "Q[..., :0]", "Q[..., :1]", "Q[:1]", "Q[:, :1]", "Q[::-1]", "Q[..., ::-2]",
    "Q.astype('f8')", "Q.astype('f2')", "Q.astype(bfloat16)", "Q.astype('i4')", "Q.astype('c8')", "Q.astype('>f4')", "Q.astype('S4')", "Q.astype(object)",
    "Q.astype(bool)", "np.zeros((2, 4, 6, 8), [('a', 'f4')])", "np.ma.array(Q)", "np.matrix(Q[0, 0])", "np.array(3)", "np.array(3.5, 'f4')", "np.zeros(0)",
    "np.zeros(0, int)", "np.zeros((0, 0))", "np.zeros((5, 0), int)", "np.zeros((0, 3), int)", "np.zeros((3, 1), int)", "np.zeros((2, 3, 4))", "np.zeros((1,) * 9)",
    "np.full((6, 8), np.nan, 'f4')", "np.full((6, 6), -np.inf, 'f4')", "np.eye(6, dtype='f4')", "np.eye(6, dtype=bool)", "np.zeros((4, 11), 'f4')",
    "np.zeros((1, 3), 'f4')", "np.arange(6)", "np.arange(6)[::-1]", "np.arange(12).reshape(2, 6)", "np.arange(6) - 3", "np.array([2**62] * 6)",
    "np.array([-2**63] * 6)", "np.array([2**64 - 1] * 6, 'u8')", "np.array(['a', 'b'])", "np.array([6, 6])", "np.array([0, 3, 6])", "np.array([6, 0])",
    "np.array([0, 7])", "np.array([1e9, 2.0])", "np.broadcast_to(np.float32(1), (2, 4, 6, 8))", "np.broadcast_to(np.int64(1), (2**40,))",
    "np.asfortranarray(Q)", "np.zeros(6, 'M8[s]')", "np.frombuffer(bytes(256), 'f4')", "memoryview(Q)", "memoryview(b'abcd' * 9)", "(ctypes.c_float * 8)()",
    "np.zeros(Q.nbytes + 1, 'u1')[1:].view('f4').reshape(Q.shape)", "np.random.default_rng(1).standard_normal((6, 8))",
]  # fmt: skip

Arguments = Dict[str, str]
Choice = Union[str, Callable[[Any], str]]


@dataclass(frozen=True)
class Base:
    """A call that fits: "..." of the text are the arguments; names that begin with _ are given by their place."""

    text: str
    given: Dict[str, Choice] = field(default_factory=dict)
    more: Dict[str, list[str]] = field(default_factory=dict)


def one_of(*texts: str) -> Choice:
    return lambda rng: rng.choice(texts)


OPTIONS = {
    "causal": ["'none'", "'top_left'", "'bottom_right'", "'at_offsets'", "'at_lengths'", "True", "False"],
    "window": ["(1, 0)", "(-1, -1)", "(2**40, 0)", "[0, 0]"], "mask": ["np.eye(6, dtype=bool)", "np.zeros((2, 1, 6, 6), 'f4')"],
    "bias": ["sextant.alibi(6, 4)", "[sextant.alibi(6, 4), sextant.shaw(6, 4, 8)]", "sextant.fire(6, 4)", "np.zeros((4, 11), 'f4')"],
    "slopes": ["[0.1] * 4", "np.ones(4)"], "scale": ["0.5", "0", "-1e300", "1e-45"], "softcap": ["3.0", "1e-300", "1e300"],
    "dropout": ["0.1", "0.999", "0"], "dropout_seed": ["0", "2**63 - 1"],
    "matmul_precision": ["'bfloat16'", "'float32'", "'bf16'", "16"],
    "segments": ["[0, 2, 6]", "[0, 6]", "[0, 0, 6, 6]"], "key_segments": ["[0, 3, 6]"], "key_lengths": ["[6, 3]", "[0, 0]"],
    "query_offsets": ["[0, 0]", "[-3, 2**40]"], "positions": ["IDS", "np.arange(6)", "(IDS, np.arange(6))", "np.arange(12).reshape(2, 6)"],
    "sinks": ["[0.0] * 4", "[float('-inf')] * 4"], "rotation": ["sextant.rotary(6, 8)", "sextant.rotary(6, 4)", "sextant.rotary([5, 1, 2], 8)"],
    "threads": ["1", "2", "1024", "1025"], "layout": ["'bhld'", "'blhd'"],
}  # fmt: skip
OUT = {"out": ["np.zeros((2, 4, 6, 8), 'f4')", "Q.copy()[:, ::-1]", "K"], "log_sum_exp": ["np.zeros((2, 4, 6), 'f4')"], "return_log_sum_exp": ["True"]}
QKV = {"_q": "Q", "_k": "K", "_v": "K"}
DRAWN = {"length": ["6", "300"], "width": ["8"], "heads": ["2"], "head_dim": ["8"], "first": ["-5", "2**53"], "name": ["'a <b>'"]}
TRAIN = {"steps": "2", "width": "8", "heads": "2", "layers": "1", "length": "8", "batch_size": "2", "progress": "False"}


def schemes() -> list[Base]:
    sizes = {"added": ["8"], "rotated": ["8"], "distance_bias": ["4"], "indexed_bias": ["4"], "content": ["4", "8"], "none": []}
    bases = []
    for scheme in sextant.schemes():
        given: Dict[str, Choice] = {"_0": one_of("6", "[0, 1, 2]", "np.arange(6)", "IDS")}
        given.update({f"_{number + 1}": size for number, size in enumerate(sizes[scheme.kind])})
        given.update({p.name: "4" for p in scheme.parameters if p.required})
        more = {p.name: [repr(p.default), "'auto'", "0", "1", "2", "-1", "1e9", "[1, 1]"] for p in scheme.parameters}
        more.update(weights=["{}", "{'table': Q[0, 0]}", "{'table': np.zeros((0, 8))}", "{1: Q}"], dtype=["'float16'", "'float64'", "np.float32"])
        bases.append(Base(f"sextant.{scheme.name}(...)", given, more))
    return bases


# A group is as likely as any other.
BASES = [
    [Base("sextant.attention(...)", QKV, {**OPTIONS, **OUT})],
    [Base("sextant.attention(...)", {**QKV, **{name: one_of(*texts) for name, texts in OPTIONS.items() if name in chosen}}, {**OPTIONS, **OUT})
     for chosen in (("causal", "bias"), ("segments", "rotation"), ("positions", "rotation"), ("causal", "key_lengths", "query_offsets"), ("bias", "mask", "sinks"))],
    [Base("sextant.attention_backward(...)", {"_dout": "Q", **QKV}, {**OPTIONS, "out": ["Q"], "log_sum_exp": OUT["log_sum_exp"]})],
    [Base("sextant.self_extend_attention(...)", {**QKV, "rotation": "sextant.rotary(6, 8)"}, {**OPTIONS, **OUT, "window": ["3", "2**53", "0"], "group": ["2", "2**60"]}),
     Base("sextant.self_extend_backward(...)", {"_dout": "Q", **QKV, "rotation": "sextant.rotary(6, 8)"}, {**OPTIONS, "window": ["3", "1"], "group": ["2"]}),
     Base("sextant.dual_chunk_attention(...)", {**QKV, "rotation": "sextant.rotary(6, 8)"}, {**OPTIONS, **OUT, "chunk_size": ["3", "4", "2**53", "1"], "local_size": ["1", "2", "-1"]}),
     Base("sextant.dual_chunk_backward(...)", {"_dout": "Q", **QKV, "rotation": "sextant.rotary(6, 8)"}, {**OPTIONS, "chunk_size": ["3", "4"], "local_size": ["1", "2**60"]}),
     Base("sextant.polar_rows(...)", {"_x": "Q"}, {"offsets": ["np.zeros(8)", "np.zeros((4, 8), 'f4')", "[0.5]", "np.full(8, np.nan)"], "layout": ["'blhd'"], "threads": ["1025"]}),
     Base("sextant.polar_rows_backward(...)", {"_dout": "np.zeros((2, 4, 6, 16), 'f4')", "_x": "Q"}, {"offsets": ["np.zeros(8)", "K"], "layout": ["'blhd'"]}),
     Base("sextant.stick_breaking_attention(...)", QKV, {**OPTIONS, **OUT, "current": ["True", "False", "1", "None"]}),
     Base("sextant.stick_breaking_backward(...)", {"_dout": "Q", **QKV}, {**OPTIONS, "current": ["True", "2"]}),
     Base("sextant.selective_attention(...)", QKV, {**OPTIONS, **OUT, "selection_head": ["1", "3", "4", "-1"]}),
     Base("sextant.selective_attention_backward(...)", {"_dout": "Q", **QKV}, {**OPTIONS, "selection_head": ["2", "2**62"]}),
     Base("sextant.path_attention(...)", {**QKV, "_w": "K", "_beta": "K[..., 0]"}, {**OPTIONS, **OUT}),
     Base("sextant.path_attention_backward(...)", {"_dout": "Q", **QKV, "_w": "K", "_beta": "K[..., 0]"}, OPTIONS)],
    [Base("sextant.attention_weights(...)", {"_q": "Q", "_k": "K"}, {**OPTIONS, "stage": ["'scores'", "'capped'", "'biased'"], "rows": ["[0, 5]", "IDS"], "heads": ["[3]"]})],
    [Base("sextant.attention_statistics(...)", {"_q": "Q", "_k": "K"}, {**OPTIONS, "top": ["0", "1024"]}), Base("sextant.plan(...)", QKV, OPTIONS)],
    [Base("cache_of(lambda c: c.append(...))", {"_k": "K", "_v": "K"}, {"counts": ["[1, 6]", "[0, 0]"], "segments": ["[0, 2, 6]"]}),
     Base("cache_of(lambda c: c.attend(...))", {"_q": "Q"}, {**OPTIONS, **OUT}), Base("CACHE.attend(...)", {"_q": "Q[:, :, :1]"}, OPTIONS),
     Base("cache_of(lambda c: c.rewind(...))", {"_length": "3"}, {"sequence": ["0", "1", "2"]}), Base("cache_of(lambda c: c.drop(...))", {"_begin": "1", "_end": "3"}, {"sequence": ["0", "1", "2"]}),
     Base("cache_of(lambda c: c.rotate(...))", {"_table": "sextant.rotary(6, 8)", "_shift": "-2"}, {"begin": ["0", "4"], "end": ["5", "9"], "sequence": ["0", "1", "2"]}),
     Base("cache_of(lambda c: c.select(...))", {"_sequences": "[1, 0, 0]"}), Base("cache_of(lambda c: c.join(...))", {"_other": "CACHE"}),
     Base("cache_of(lambda c: c.save(...))", {"_path": "'cache.safetensors'"}), Base("sextant.KvCache.load(...)", {"_path": "'cache.safetensors'"}),
     Base("sextant.KvCache(...)", {"_0": "1", "_1": "2", "_2": "8"}, {"page_size": ["256", "100"], "v_dim": ["0", "16"], "dtype": ["'bfloat16'", "'int8'", "'float64'"]}),
     Base("(CACHE.lengths, CACHE.keys, CACHE.fork().values, len(CACHE), repr(CACHE))")],
    schemes(), schemes(),
    [Base("sextant.RotationTable(...).keys", {"_cos": "Q[0, 0]", "_sin": "Q[0, 0]"}, {"layout": ["'interleaved'"], "first_channel": ["2"], "keys": ["sextant.rotary(6, 16)"]}),
     Base("sextant.DistanceBias(...)", {"_values": "np.zeros((4, 11))"}, {"origin": ["0", "5", "11"], "slopes": ["[1.0] * 4"]}),
     Base("sextant.rotate(Q, sextant.RotationTable(...))", {"_cos": "Q[0, 0, :, :4]", "_sin": "Q[0, 0, :, :4]"}, {"layout": ["'interleaved'"], "first_channel": ["2", "7"]}),
     Base("sextant.attention(Q, K, K, bias=sextant.DistanceBias(...))", {"_values": "np.zeros((4, 11))"}, {"origin": ["0", "5", "10"], "slopes": ["[1.0] * 4"]})],
    [Base("sextant.rotate(...)", {"_x": "Q", "_table": "sextant.rotary(6, 8)"}, {"inverse": ["True"], "threads": ["2"], **OUT}),
     Base("sextant.add_positions(...)", {"_x": "Q", "_table": "Q[0, 0]"}, OUT),
     Base("sextant.convert_rotary(...)", {"_0": "Q[0, 0]", "_1": "6", "_2": "'half_split'"}, {"rotary_dim": ["2", "6"], "span": ["'last'"], **OUT})],
    [Base("sextant.identify(...)", {"_0": one_of("Q[0, 0]", "sextant.sinusoidal(9, 8)", "sextant.rotary(9, 8).cos", "[1.0]")}, {"stored_as": ["'float16'"], "threads": ["1"]}),
     Base("sextant.from_config(...)", {"_0": one_of("{'model_type': 'llama', 'hidden_size': 64, 'num_attention_heads': 4}", "{'model_type': 'bert'}")}, {"layer": ["0", "99"]}),
     Base("sextant.from_config({'model_type': 'llama', 'hidden_size': 64, 'num_attention_heads': 4, ...})".replace("...", "**dict(...)"),
          {"rope_theta": "1e4"}, {"rope_scaling": ["{'rope_type': 'linear', 'factor': 2}", "{'rope_type': 'yarn'}"], "head_dim": ["16"], "model_type": ["'t5'"]}),
     Base("sextant.from_config({'model_type': 'llama', 'hidden_size': 64, 'num_attention_heads': 4})(...)", {"_0": "6"}, {"base": ["2.0"], "length": ["9"]})],
    [Base("sextant.plot.heatmap(...)", {"_0": one_of("Q[0, 0]", "'rotary'", "sextant.alibi(6, 4)", "{'t5': {}}")}, DRAWN),
     Base("sextant.plot.sinusoids(...)", {"_0": "Q[0, 0]", "columns": "[0, 1]"}, {**DRAWN, "words": ["'a b'", "['a', '\\x1b']"]}), Base("sextant.plot.rows(...)", {"_0": "Q[0, 0]", "rows": "[0]"}, DRAWN),
     Base("sextant.plot.similarity(...)", {"_0": "Q[0, 0]"}, DRAWN), Base("sextant.plot.offset_matrix(...)", {"_0": "1"}, {"what": ["'sinusoidal'"], "width": ["4"]}),
     Base("sextant.plot.distance(...)", {"_0": "['rotary', 'alibi']"}, {**DRAWN, "head": ["1"], "all_heads": ["True"], "measure": ["'dot'"]}),
     Base("sextant.plot.attention(...)", {"_0": one_of("np.full((2, 3, 3), 1 / 3)", "MAPS")}, {"queries": ["list('abc')"], "keys": ["list('abc')"], "head": ["1"], "layer": ["0"], "lines": ["True"], "title": ["'t'"], "max_width": ["300"]}),
     Base("sextant.plot.losses(types.SimpleNamespace(folder=None, ...))", {"step": "[1, 2]", "mean_loss": "[2.0, 1.0]", "validation_step": "[]", "validation_loss": "[]"}),
     Base("PICTURE.save(...)", {"_0": "'x.svg'"}, {"scale": ["1"]}), Base("PICTURE.png(...)", {}, {"scale": ["1", "1e-9"]}),
     Base("sextant.Picture('<svg></svg>', 1, 1, '', '', [{**PICTURE._charts[0], **dict(...)}]).labels", {"row_labels": "[]", "panels": "PICTURE._charts[0]['panels']", "kind": "'matrices'"}, {"kind": ["'lines'", "'dots'"], "first_row": ["2.0"], "low": ["1"], "log_x": ["True"]}),
     Base("sextant.Picture('<svg></svg>', 1, 1, '', '', [{**PICTURE._charts[0], 'panels': [dict(...)]}]).values", {"title": "''", "names": "['a']", "arrays": "[np.eye(2)]", "curve": "None"}, {"arrays": ["[np.eye(3)[::2, 1:]]"]})],
    [Base("sextant.attention(...)", {**QKV, "bias": one_of("sextant.mask(lambda h, q, k: q >= k, 6)", "sextant.bias(lambda h, q, k: 0.1 * (q - k), 6, heads=4)")}, OPTIONS),
     Base("sextant.mask(...)", {"_0": "lambda h, q, k: q >= k", "_1": "6"}, {"heads": ["4", "2**20"]}), Base("sextant.bias(...)", {"_0": "lambda h, q, k: 0.0", "_1": "6"}, {"heads": ["4"], "parameters": ["2"], "gradient": ["lambda *a: np.zeros(2)"]})],
    [Base("sextant.positions.packed(...)", {"_0": "[0, 3]"}), Base("sextant.positions.padded(...)", {"_0": "np.eye(3, dtype=bool)"}, {"pad_id": ["1", "2**53"]}), Base("sextant.positions.fairseq(...)", {"_0": "np.eye(3, dtype=int)"}),
     Base("sextant.positions.cached(...)", {"_0": "[3, 1]", "_1": "2"}), Base("sextant.positions.grid(...)", {"_0": "2", "_1": "3"}), Base("sextant.positions.patches(...)", {"_0": "32", "_1": "48"}, {"patch": ["8", "(8, 16)"]}),
     Base("sextant.positions.mrope(...)", {"_0": one_of("[('text', 2), ('image', 2, 3)]", "[('video', 1, 2, 3, 0.5)]")}), Base("sextant.positions.random(...)", {"_0": "3", "_1": "9"}), Base("sextant.positions.shifted(...)", {"_0": "3", "_1": "9"})],
    [Base("sextant.lessons.steps(...)", {"_0": "'a b c'"}, {"window": ["(1, 0)"], "temperature": ["2.0"], "sinks": ["[0.0]"], "hidden": ["[(0, 1)]"], "softcap": ["2.0"]}), Base("sextant.lessons.recommend(...)", {"_0": "np.eye(3)", "_1": "np.eye(3)"}),
     Base("sextant.lessons.similarity(...)", {"_0": "np.eye(3)"}), Base("sextant.lessons.WordVectors(...)", {"_0": "['a', 'b']", "_1": "np.eye(2)"}), Base("sextant.lessons.lab(...)", {"_0": "'the lion'"})],
    [Base("sextant.lessons.attend(...)", {"_0": "'a b c'"}, {"scheme": ["'rotary'", "{'alibi': {}}"], "width": ["8"], "heads": ["2"], "causal": ["True"], "seed": ["7"], "split": ["'spaces'"], "lower_case": ["True"]}),
     Base("sextant.lessons.compare(...)", {"_0": "'a b .'", "_1": "'b a .'"}, {"scheme": ["'t5'"], "width": ["8"], "heads": ["2"], "seed": ["7"], "split": ["'spaces'"]})],
    [Base("SHIPPED.translate(...)", {"_0": "'may 5 2020'"}, {"beams": ["2"], "n_best": ["2"], "max_length": ["3"], "batch_size": ["1"], "threads": ["1"]}),
     Base("SHIPPED.attention_maps(...)", {"_0": "'may 5'"}, {"target": ["'2'", "''"], "layers": ["[1]"], "threads": ["1"]}), Base("SHIPPED.logit_lens(...)", {"_0": "'may 5'"}, {"target": ["'2'"], "top_k": ["1"]}),
     Base("SHIPPED.evaluate(...)", {"_0": "[('may 5 2020', '2020-05-05')]"}, {"beams": ["2"], "limit": ["1"], "reverse": ["True"]}), Base("SHIPPED.tokenizer.encode(...)", {"_0": "'may'"}),
     Base("SHIPPED.tokenizer.decode(...)", {"_0": "[5, 6]"}), Base("SHIPPED.tokenizer.pieces(...)", {"_0": "[5, 6]"}), Base("SHIPPED.tokenizer.tokens(...)", {"_0": "'may'"}),
     Base("sextant.load(...)", {"_0": "'no/such'"}), Base("sextant.load_pretrained(...)", {"_0": "'no/such'"}), Base("sextant.shipped(...)", {}, {"without_positions": ["True"]}), Base("sextant.find_scheme(...)", {"_0": "'rotary'"})],
]  # fmt: skip
