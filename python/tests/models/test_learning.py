"""Models made here, their losses and gradients, optimisers: one training step at a time."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest
import tiny

import sextant
from sextant.train import AdamW, Muon

CONFIG: dict[str, Any] = dict(vocabulary=11, width=16, heads=2, layers=2, length=12, seed=5)
IDS = np.array([[1, 4, 2, 8, 5, 7], [3, 1, 4, 1, 5, 9]])


def new(**changes: Any) -> sextant.LanguageModel:
    return sextant.LanguageModel(**{**CONFIG, **changes})


def cross_entropy(logits: np.ndarray, targets: np.ndarray, smoothing: float = 0.0) -> float:
    """The mean negative log likelihood of targets that are not -1, in float64."""
    logits = logits.astype(np.float64).reshape(-1, logits.shape[-1])
    targets = targets.reshape(-1)
    log_p = logits - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1, keepdims=True)) - logits.max(-1, keepdims=True)
    rows = targets >= 0
    picked = log_p[rows, targets[rows]]
    return float(-((1 - smoothing) * picked + smoothing * log_p[rows].mean(-1)).mean())


def next_of(ids: np.ndarray) -> np.ndarray:
    return np.concatenate([ids[:, 1:], np.full((len(ids), 1), -1)], 1)


def test_a_new_model_is_its_config() -> None:
    model = new(scheme={"alibi": {}}, norm="rms", tied=False)
    assert model.config["schemes"][0]["scheme"] == "alibi" and model.config["norm"] == "rms" and "output.weight" in model.weights
    again = sextant.LanguageModel.from_config({**model.config, "width": np.int64(16)})
    assert again.config == model.config and type(sextant.Model.from_config(model.config)) is sextant.LanguageModel
    for name, weight in model.weights.items():
        np.testing.assert_array_equal(again.weights[name], weight)  # drawn from the same seed
    assert not np.array_equal(new(seed=6).weights["embedding.weight"], new().weights["embedding.weight"])
    assert new().attention_maps(IDS[0]).shape == (2, 2, 6, 6)


def test_a_model_of_text_has_its_tokenizers_vocabulary() -> None:
    tokenizer = sextant.Tokenizer.train(["the cat", "the dog"], kind="character")
    model = sextant.LanguageModel(tokenizer=tokenizer, width=16, heads=2, layers=1)
    assert model.config["vocabulary"] == len(tokenizer) and tokenizer.decode(tokenizer.encode("that")) == "that"
    assert len(model.generate("the", max_tokens=4)) <= 4
    with pytest.raises(ValueError, match=r"\[LanguageModel.vocabulary\] must be the tokenizer's"):
        sextant.LanguageModel(tokenizer=tokenizer, vocabulary=99, width=16, heads=2)
    masked = sextant.MaskedModel(tokenizer=tokenizer, width=16, heads=2, layers=1)
    assert masked.fill("the [MASK]at").text


def test_given_weights_are_the_models() -> None:
    first = new()
    second = sextant.LanguageModel(**{**CONFIG, "seed": 9}, weights={name: np.float64(w) for name, w in first.weights.items()})
    np.testing.assert_array_equal(first.logits(IDS), second.logits(IDS))
    lost = dict(first.weights)
    lost.pop("embedding.weight")
    for weights, what in (
        (lost, r"\[LanguageModel.weights\] must have an array for each weight, got none for embedding.weight"),
        ({**first.weights, "more": np.zeros(1)}, r"\[LanguageModel.weights\] must be the model's weights, got more"),
        ({**first.weights, "embedding.weight": np.zeros((3, 16))}, r"\[LanguageModel.weights\[embedding.weight\]\] must be floats \[11, 16\]"),
        ({**first.weights, "embedding.weight": np.zeros((11, 16), int)}, r"must be floats \[11, 16\], got int64"),
    ):
        with pytest.raises(ValueError, match=what):
            new(weights=weights)


def test_weights_may_be_written() -> None:
    model = new()
    before = model.logits(IDS)
    model.weights["embedding.weight"][:] *= 2
    assert not np.array_equal(model.logits(IDS), before)
    shared, own = copy.copy(model), copy.deepcopy(model)
    pickled = pickle.loads(pickle.dumps(model))
    model.weights["embedding.weight"][:] = 0
    assert not shared.weights["embedding.weight"].any()
    for other in (own, pickled):
        assert other.weights["embedding.weight"].any() and other.config == model.config


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_that_of_the_logits(smoothing: float) -> None:
    model = new()
    wanted = cross_entropy(model.logits(IDS), next_of(IDS), smoothing)
    assert model.loss(IDS, label_smoothing=smoothing) == pytest.approx(wanted, rel=1e-5)
    targets = np.full_like(IDS, -1)
    targets[0, 2], targets[1, 0] = 3, 10
    assert model.loss(IDS, targets) == pytest.approx(cross_entropy(model.logits(IDS), targets), rel=1e-5)
    masked = sextant.MaskedModel(**CONFIG)
    assert masked.loss(IDS, targets) == pytest.approx(cross_entropy(masked.logits(IDS), targets), rel=1e-5)
    assert model.loss(IDS, threads=1) == model.loss(IDS, threads=2)


@pytest.mark.parametrize("scheme", ["rotary", "learned", "alibi"])
def test_gradients_are_the_slopes_of_the_loss(scheme: str) -> None:
    """The loss along a random direction, by central differences: its rounding of 6e-7 over a step of 2e-2 leaves 1e-4."""
    model = new(scheme=scheme, layers=1)
    loss, gradients = model.loss(IDS, gradients=True)
    assert loss == model.loss(IDS) and gradients.keys() == model.weights.keys()
    random = np.random.default_rng(3)
    for name, weight in model.weights.items():
        kept = weight.copy()
        direction = random.standard_normal(weight.shape)
        direction *= 1e-2 / max(1e-9, float(np.sqrt((direction**2).mean()) * np.sqrt(weight.size)))
        weight[...] = kept + direction
        above = model.loss(IDS)
        weight[...] = kept - direction
        below = model.loss(IDS)
        weight[...] = kept
        assert (above - below) / 2 == pytest.approx(float((gradients[name] * direction).sum()), abs=3e-6), name


@pytest.mark.parametrize("rate", [{"dropout": 0.3}, {"attention_dropout": 0.3}])
def test_dropout_is_a_function_of_its_seed(rate: Any) -> None:
    model = new()
    first = model.loss(IDS, **rate, seed=1)
    assert first == model.loss(IDS, **rate, seed=1) != model.loss(IDS, **rate, seed=2)
    assert first != model.loss(IDS)


def test_adamw_is_its_formula() -> None:
    model = new(layers=1)
    beta1, beta2, epsilon, rate, decay = 0.9, 0.99, 1e-8, 0.01, 0.1
    optimiser = AdamW(model, beta2=beta2, weight_decay=decay)
    wanted = {name: weight.astype(np.float64) for name, weight in model.weights.items()}
    m = {name: np.zeros(weight.shape) for name, weight in wanted.items()}
    v = {name: np.zeros(weight.shape) for name, weight in wanted.items()}
    for step in (1, 2, 3):
        _, gradients = model.loss(IDS, gradients=True)
        kept = {name: gradient.copy() for name, gradient in gradients.items()}
        norm = optimiser.step(gradients, rate)
        assert norm == pytest.approx(np.sqrt(sum(float((g.astype(np.float64) ** 2).sum()) for g in kept.values())), rel=1e-6)
        for name, gradient in kept.items():
            np.testing.assert_array_equal(gradients[name], gradient)  # is not changed
            m[name] = beta1 * m[name] + (1 - beta1) * gradient
            v[name] = beta2 * v[name] + (1 - beta2) * np.float64(gradient) ** 2
            decays = wanted[name].ndim == 2 and not name.startswith("embedding.")
            wanted[name] *= 1 - rate * decay * decays
            wanted[name] -= rate * (m[name] / (1 - beta1**step)) / (np.sqrt(v[name] / (1 - beta2**step)) + epsilon)
    assert optimiser.steps == 3
    for name, weight in model.weights.items():
        np.testing.assert_allclose(weight, wanted[name], atol=3e-5, err_msg=name)
        np.testing.assert_allclose(optimiser.state[f"m.{name}"], m[name], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("rule", [AdamW, Muon])
def test_an_optimiser_goes_on_from_a_state(rule: Any) -> None:
    def train(model: sextant.LanguageModel, optimiser: Any, steps: int) -> None:
        for _ in range(steps):
            optimiser.step(model.loss(IDS, gradients=True)[1], 0.01)

    whole, part = new(), new()
    train(whole, rule(whole), 4)
    first = rule(part)
    train(part, first, 2)
    second = rule(part)
    for name, array in first.state.items():
        second.state[name][...] = array
    second.steps = first.steps
    train(part, second, 2)
    for name, weight in whole.weights.items():
        np.testing.assert_array_equal(part.weights[name], weight)
    assert whole.loss(IDS) < 0.8 * new().loss(IDS)


def test_a_gradient_that_is_not_finite_changes_nothing() -> None:
    model = new()
    before = copy.deepcopy(model)
    _, gradients = model.loss(IDS, gradients=True)
    gradients["embedding.weight"][0, 0] = np.nan
    optimiser = AdamW(model)
    with pytest.raises(ValueError, match=r"\[step.gradients\] must be finite, got a norm of nan; no weight was changed"):
        optimiser.step(gradients, 0.1)
    assert optimiser.steps == 0
    for name, weight in before.weights.items():
        np.testing.assert_array_equal(model.weights[name], weight)


def test_the_loss_of_a_translator_is_that_of_its_score() -> None:
    model = sextant.train.translate(tiny.PAIRS, steps=20, **tiny.TRANSLATOR)
    source, target = ["ab", "cda"], ["ba", "adc"]
    loss, gradients = model.loss(source, target, gradients=True)
    ids = [model.tokenizer.encode(text) for text in source], [model.tokenizer.encode(text) for text in target]
    assert loss == model.loss(*ids)
    score = model.evaluate(list(zip(source, target, strict=True)))
    assert loss == pytest.approx(np.log(score.perplexity), rel=1e-4)
    AdamW(model).step(gradients, 0.003)
    assert model.loss(source, target) < loss
    with pytest.raises(ValueError, match=r"\[loss.target\] must be as many as source"):
        model.loss(source, target[:1])
    with pytest.raises(ValueError, match=r"\[loss.target\] must be 0 .. \d+, got 99"):
        model.loss([[4, 5]], [[99]])
    with pytest.raises(ValueError, match=r"\[loss.source\] must have at least one token"):
        model.loss([""], ["ab"])


def test_a_new_translator_learns() -> None:
    tokenizer = sextant.Tokenizer.train(["abcd"], kind="character")
    model = sextant.Translator(tokenizer=tokenizer, width=16, heads=2, layers=1, seed=3)
    optimiser = AdamW(model)
    source, target = ["abc", "dcb", "bad"], ["cba", "bcd", "dab"]
    for _ in range(80):
        optimiser.step(model.loss(source, target, gradients=True)[1], 0.02)
    assert model.translate(source) == target


def test_maps_of_chosen_heads_and_rows_are_those_of_all() -> None:
    model = tiny.language_model(layers=2, heads=4)
    every, some = model.attention_maps("the cat"), model.attention_maps("the cat", heads=[3, 1], rows=[6, 2])
    np.testing.assert_array_equal(some.weights, every.weights[:, [3, 1]][:, :, [6, 2]])
    assert some.queries == ["t", "e"] and some.keys == list("the cat") and some.heads == [3, 1]
    assert some.masked(1).shape == (2, 2, 7) and np.isneginf(some.masked(1)[:, 1, 3:]).all()
    svg = some.picture().svg
    assert "Head 3" in svg and "Head 1" in svg and "Head 0" not in svg
    assert "Head 3" in some.picture(head=3).svg and "Head 3" in model.attention_maps("the cat", heads=[3]).picture().svg
    with pytest.raises(ValueError, match=r"\[attention.head\] must be one of the heads 3, 1, got 0"):
        some.picture(head=0)
    for wrong in (dict(heads=[4]), dict(rows=[7]), dict(rows=[])):
        with pytest.raises(ValueError, match=rf"\[attention_maps.{next(iter(wrong))}\]"):
            model.attention_maps("the cat", **wrong)
    translator = sextant.shipped()
    one = translator.attention_maps("may 5", heads=[2]).cross
    np.testing.assert_array_equal(one.weights, translator.attention_maps("may 5").cross.weights[:, [2]])


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: sextant.LanguageModel(width=16), r"\[LanguageModel.vocabulary\] must be given for a model without a tokenizer"),
        (lambda: new(heads=3), r"\[LanguageModel.heads\] must divide width = 16, got 3"),
        (lambda: new(norm="other"), r"\[LanguageModel.norm\]"),
        (lambda: new(scheme="other"), "other"),
        (lambda: sextant.Translator(**CONFIG), r"\[Translator.tokenizer\] must be given for a translator"),
        (lambda: sextant.LanguageModel.from_config({"kind": "masked"}), r"\[from_config.config\] must be of kind causal for LanguageModel, got masked"),
        (lambda: sextant.LanguageModel.from_config({**new().config, "more": 1}), r"\[from_config.config\].* more"),
        (lambda: new().loss([[1, 2], [3, 11]]), r"\[loss.ids\] must be 0 .. 10, got 11"),
        (lambda: new().logits([[1, 2], [3, 11]]), r"\[logits.ids\] must be 0 .. 10, got 11"),
        (lambda: new().loss(IDS, IDS[:1]), r"\[loss.targets\] must have the shape of ids, \[2, 6\], got \[1, 6\]"),
        (lambda: new().loss(IDS, np.full_like(IDS, 11)), r"\[loss.targets\].*11"),
        (lambda: new().loss([[1], [2]]), r"\[loss.targets\] must have at least one target, got none"),
        (lambda: new().loss(IDS, dropout=1.0), r"\[loss.dropout\]"),
        (lambda: sextant.MaskedModel(**CONFIG).loss(IDS), r"\[loss.targets\] must be given for a masked model"),
        (lambda: AdamW(new(), beta1=1.0), r"\[AdamW.beta1\]"),
        (lambda: Muon(new(), momentum=-1.0), r"\[Muon.momentum\]"),
        (lambda: AdamW(new()).step({}, 0.1), r"\[step.gradients\] must have an array for each weight"),
        (lambda: AdamW(new()).step(new().weights, -1.0), r"\[step.learning_rate\]"),
        (lambda: sextant.Tokenizer.train([]), r"\[(train|tokenizer)[.]"),
    ],
)
def test_errors_name_the_argument(call: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        call()


def test_other_types_are_errors() -> None:
    for call in (
        lambda: new(tokenizer="words"),
        lambda: new(weights=5),
        lambda: sextant.LanguageModel.from_config("config.json"),  # type: ignore[arg-type]
        lambda: AdamW(new().weights),  # type: ignore[arg-type]
        lambda: AdamW(new()).step(None, 0.1),  # type: ignore[arg-type]
        lambda: new().loss("text"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=r"^\["):
            call()
    model: Any = tiny.language_model(steps=1)
    with pytest.raises(TypeError):
        model.loss(io.StringIO("text"))
