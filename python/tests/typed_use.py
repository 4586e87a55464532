"""What a program that is checked by mypy --strict writes. Only checked, never run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import sextant


def use(q: NDArray[np.float32]) -> NDArray[np.float32]:
    rotation: sextant.RotationTable = sextant.rotary_yarn(16, 8, factor=2.0, form="paper", truncate=False)
    bias: sextant.DistanceBias = sextant.alibi(16, 2, direction="causal")
    out: NDArray[np.float32] = sextant.attention(q, q, q, causal="top_left", bias=bias, rotation=rotation, window=(3, 0))
    cache = sextant.KvCache(1, 2, 8)
    cache.append(q, q)
    lengths: list[int] = cache.lengths
    names: list[str] = [scheme.name for scheme in sextant.schemes()]
    found: sextant.Identification = sextant.identify(out)
    print(lengths, names, found.explanation, sextant.plan(q, q, q).explain())
    gradients = sextant.attention_backward(out, q, q, q, sinks=[0.0, 0.0])
    both: tuple[NDArray[np.float32], NDArray[np.float32]] = sextant.attention(q, q, q, causal=True, layout="blhd", return_log_sum_exp=True)
    mask: NDArray[np.bool_] = np.eye(4, dtype=bool)
    masked: NDArray[np.float32] = sextant.attention(q, memoryview(bytes(64)), q, mask=mask, segments=[0, 4], slopes=np.ones(2))
    table: NDArray[np.float32] = np.asarray(rotation, np.float32)
    term: sextant.ScoreTerm = sextant.mask(lambda head, query, key: key <= query, 16)
    learned = sextant.bias(lambda head, query, key: -0.1 * np.abs(query - key), 16, gradient=lambda dscores, head, query, key: [dscores.sum()], parameters=1)
    masked = sextant.attention(q, q, q, bias=[term, learned, bias])
    print(both, masked, table, bias.shape, bias == bias)
    return out + gradients.dq


def use_models() -> str:
    model: sextant.LanguageModel = sextant.train.lm("text.txt", scheme={"rotary": {"base": 1e4}}, minutes=3, activation="relu")
    loss: float = model.evaluate("text.txt", stride=8).windows[0].perplexity
    stored: dict[str, NDArray[np.float32]] = dict(sextant.TensorFile("model.safetensors"))
    maps = sextant.shipped().attention_maps("may 5 2020")
    found: sextant.PretrainedEncoding = sextant.PretrainedTokenizer("tokenizer.json").encode("a", truncate=True)
    print(loss, stored, found.ids.shape, found.tokens, maps.cross.weights.shape, model.logits([1, 2]).shape)
    value, gradients = model.loss([[1, 2]], gradients=True)
    norm: float = sextant.train.Muon(model, momentum=0.9).step(gradients, 1e-3)
    made = sextant.LanguageModel(vocabulary=8, width=8, heads=1, scheme={"alibi": {}}, weights=model.weights)
    print(value + norm, made.loss([1, 2]) + 1, sextant.Translator.from_config({"kind": "translator"}).loss(["a"], ["b"]) + 1)
    sextant.train.translate([("a", "b")], tokenizer="character", steps=1, on_step=lambda step, loss, metrics: step < 3)
    texts: list[str] = model.generate(["a", "b"], temperature=0.5)
    samples: list[str] = model.generate("a", samples=3)
    print(texts, samples)
    return model.generate("a", temperature=0.5, seed=1)


def use_pictures(weights: NDArray[np.float32]) -> sextant.Picture:
    picture: sextant.Picture = sextant.plot.heatmap(weights, name="weights")
    picture.save("x.svg", scale=1)
    text: str = picture.description + picture._repr_svg_()
    verdict: sextant.lessons.OrderVerdict = sextant.lessons.compare("a b", ["b", "a"], scheme={"rotary": {"base": 100.0}})
    print(text, verdict.same, sextant.lessons.attend("a b", causal=True).weights.shape, sextant.lessons.steps("a")["q"].shape)
    print(sextant.positions.padded(np.ones((2, 3), bool)) + sextant.positions.packed([0, 3]), sextant.positions.mrope([("text", 2)]).delta)
    sextant.lessons.report("a b", words=("a", "b")).save("report.html")
    sextant.plot.distance(["rotary", {"t5": {}}], length=8).save("y.html")
    predictions = sextant.shipped(without_positions=True).logit_lens("may 5", top_k=2)
    best: tuple[str, float] = predictions.layers[0].predictions[0][0]
    print(best)
    sextant.plot.losses("run", sextant.train.lm("text.txt", steps=1))
    return sextant.plot.attention(sextant.shipped().attention_maps("may 5").cross, lines=True, layer=0)


def misuse(q: NDArray[np.float32]) -> None:
    sextant.rotary_yarn(16, 8, form="other")  # type: ignore[arg-type]
    sextant.attention(q, q, q, causal="left")  # type: ignore[call-overload]
    sextant.attention(q, q, q, windows=(3, 0))  # type: ignore[call-overload]
    sextant.alibi(16)  # type: ignore[call-arg]
    sextant.train.lm("text.txt", activation="loud")  # type: ignore[arg-type]
    sextant.plot.distance("rotary", measure="l2")  # type: ignore[arg-type]
    sextant.plot.heatmap("rotary", lenght=3)  # type: ignore[call-arg]
    sextant.lessons.attend("a", split="letters")  # type: ignore[arg-type]
    sextant.train.lm("text.txt", pointer=True)  # type: ignore[call-arg]
