"""Errors begin with the argument's name in the words of the function that was called: every argument of every function."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import sextant
from sextant import plot, positions, train


class Nonsense:
    """What is no value of any argument."""


Q = np.ones((1, 2, 4, 8), np.float32)
TABLE = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
TRANSLATOR = sextant.shipped()
TINY = dict(width=8, heads=2, layers=1, steps=1, batch_size=2, progress=False)


def cache():
    return sextant.KvCache(1, 2, 8)


# A call that works, by the name that errors have: the function and its arguments.
CALLS = {
    "attention": (sextant.attention, dict(q=Q, k=Q, v=Q)),
    "attention_backward": (sextant.attention_backward, dict(dout=Q, q=Q, k=Q, v=Q)),
    "attention_weights": (sextant.attention_weights, dict(q=Q, k=Q)),
    "attention_statistics": (sextant.attention_statistics, dict(q=Q, k=Q)),
    "plan": (sextant.plan, dict(q=Q, k=Q, v=Q)),
    "bias": (sextant.bias, dict(function=lambda head, query, key: 0.0, length=8)),
    "mask": (sextant.mask, dict(function=lambda head, query, key: True, length=8)),
    "resize_grid": (sextant.resize_grid, dict(table=np.ones((4, 3)), new_size=3)),
    "packed": (positions.packed, dict(segments=[0, 4])),
    "padded": (positions.padded, dict(mask=np.ones((2, 3), bool))),
    "fairseq": (positions.fairseq, dict(mask=np.ones((2, 3), bool))),
    "cached": (positions.cached, dict(past=[3], length=2)),
    "grid": (positions.grid, dict(rows=2, columns=3)),
    "patches": (positions.patches, dict(height=32, width=32)),
    "video": (positions.video, dict(frames=2, rows=2, columns=2)),
    "mrope": (positions.mrope, dict(segments=[("text", 2)])),
    "random": (positions.random, dict(length=2, max_length=4)),
    "shifted": (positions.shifted, dict(length=2, max_shift=4)),
    "steps": (sextant.lessons.steps, dict(text="a b")),
    "recommend": (sextant.lessons.recommend, dict(users=TABLE, items=TABLE)),
    "similarity": (sextant.lessons.similarity, dict(rows=TABLE)),
    "lab": (sextant.lessons.lab, dict(sentence="the lion")),
    "lab_compare": (sextant.lessons.lab_compare, dict(first="the lion", second="the lion")),
    "rotate": (sextant.rotate, dict(x=Q, table=sextant.rotary(4, 8))),
    "add_positions": (sextant.add_positions, dict(x=TABLE, table=TABLE)),
    "KvCache": (sextant.KvCache, dict(batch=1, kv_heads=2, head_dim=8)),
    "KvCache.append": (lambda **given: cache().append(**given), dict(k=Q, v=Q, counts=None)),
    "KvCache.drop": (lambda **given: cache().drop(**given), dict(begin=0, end=0, sequence=None)),
    "KvCache.select": (lambda **given: cache().select(**given), dict(sequences=[0])),
    "KvCache.rewind": (lambda **given: cache().rewind(**given), dict(length=0, sequence=None)),
    "DistanceBias": (sextant.DistanceBias, dict(values=np.ones((1, 7), np.float32), origin=3, slopes=None)),
    "RotationTable": (sextant.RotationTable, dict(cos=TABLE, sin=TABLE, layout="half_split", first_channel=0, keys=None)),
    "identify": (sextant.identify, dict(array=TABLE)),
    "from_config": (sextant.from_config, dict(config=CONFIG)),
    "convert_rotary": (sextant.convert_rotary, dict(weights=TABLE[:, :5], head_dim=6, to="half_split")),
    "find_scheme": (sextant.find_scheme, dict(name="rotary")),
    "load": (sextant.load, dict(path="nowhere")),
    "load_pretrained": (sextant.load_pretrained, dict(folder="nowhere")),
    "shipped": (sextant.shipped, {}),
    "attend": (sextant.lessons.attend, dict(text="a b")),
    "compare": (sextant.lessons.compare, dict(first="a b .", second="b a .")),
    "report": (sextant.lessons.report, dict(text="a b")),
    "sinusoids": (plot.sinusoids, {}),
    "rows": (plot.rows, {}),
    "heatmap": (plot.heatmap, {}),
    "similarity": (plot.similarity, {}),
    "distance": (plot.distance, {}),
    "offset_matrix": (plot.offset_matrix, {}),
    "plot.attention": (plot.attention, dict(weights=np.full((1, 2, 2), 0.5))),
    "extrapolation": (plot.extrapolation, dict(table="nowhere.json")),
    "translate": (TRANSLATOR.translate, dict(text="may 1999")),
    "evaluate": (TRANSLATOR.evaluate, dict(pairs=[("may 1 1999", "1999-05-01")])),
    "logit_lens": (TRANSLATOR.logit_lens, dict(text="may 1999")),
    "attention_maps": (TRANSLATOR.attention_maps, dict(text="may 1999")),
    "save": (TRANSLATOR.save, dict(folder="nowhere")),
    "encode": (TRANSLATOR.tokenizer.encode, dict(text="may")),
    "tokens": (TRANSLATOR.tokenizer.tokens, dict(text="may")),
    "decode": (TRANSLATOR.tokenizer.decode, dict(ids=[4])),
    "pieces": (TRANSLATOR.tokenizer.pieces, dict(ids=[4])),
    "train.dates": (train.dates, TINY),
    "train.resume": (train.resume, dict(folder="nowhere", progress=False)),
}
SCHEMES = {"width": 8, "heads": 2, "head_dim": 8}


def arguments_of(function, given):
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # nanobind's classes and methods
        return list(given)
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and not p.name.startswith("_")]
    return named or list(given)


def every_argument():
    for name, (function, given) in CALLS.items():
        for argument in arguments_of(function, given):
            called = {"plot.attention": "attention", "train.dates": "train", "train.resume": "resume"}.get(name, name)
            yield pytest.param(called, function, given, argument, id=f"{name}-{argument}")
    for scheme in sextant.schemes():
        first, *others = inspect.signature(scheme.function).parameters
        given = {first: 4, **{size: SCHEMES[size] for size in others if size in SCHEMES}}
        given.update({p.name: 4 for p in scheme.parameters if p.required})
        for argument in (first, *others):
            yield pytest.param(scheme.name, scheme.function, given, argument, id=f"{scheme.name}-{argument}")


@pytest.mark.parametrize(("name", "function", "given", "argument"), list(every_argument()))
def test_nonsense_is_refused_by_the_name_of_the_argument(name, function, given, argument):
    if argument == "progress":
        pytest.skip("anything is true or false")
    with pytest.raises((TypeError, ValueError)) as caught:
        function(**{**given, argument: Nonsense()})
    words = str(caught.value)
    if words.startswith("[nowhere"):
        pytest.skip("the file is read first")
    assert words.startswith(f"[{name}.{argument}] must ")
