"""Trainings, with callbacks and interrupts."""

from __future__ import annotations

import inspect
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

import sextant
from sextant import _core


def same_weights(a: sextant.Model, b: sextant.Model) -> None:
    assert list(a.weights) == list(b.weights)
    for name, weight in a.weights.items():
        np.testing.assert_array_equal(weight, b.weights[name], err_msg=name)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(tiny.TEXT)
    return path


def test_the_loss_falls_and_comes_back_as_arrays() -> None:
    model = tiny.language_model(steps=60, validate_every=20)
    training = model.training
    assert training is not None and training.end == "steps" and training.folder is None
    assert training.step.tolist() == list(range(1, 61)) and training.loss.shape == (60,)
    assert training.loss[-1] < 0.6 * training.loss[0]
    assert training.validation_step.tolist() == [20, 40, 60]
    assert training.best_loss == training.validation_loss.min()
    assert (training.learning_rate > 0).all() and (training.gradient_norm > 0).all()


def test_every_kind_of_model_is_trained() -> None:
    masked = sextant.train.mlm(io.StringIO(tiny.TEXT), tokenizer="character", steps=3, **tiny.OPTIONS)
    filled = masked.fill("the [MASK]at", top_k=3)
    assert type(masked) is sextant.MaskedModel and len(filled.masks[0]) == 3 and len(filled.text) == 7
    reverse = sextant.train.translate(tiny.PAIRS, steps=40, pointer=True, **tiny.TRANSLATOR)
    assert reverse.training is not None and reverse.training.loss[-1] < reverse.training.loss[0]
    assert reverse.attention_maps("ab", "ba").copied.shape == (3, 2)  # type: ignore[union-attr]
    assert reverse.evaluate(tiny.PAIRS[:5], limit=2).translations == reverse.translate(["ab", "cd"], beams=4)
    dates = sextant.train.dates(steps=2, width=16, heads=2, layers=1)
    assert dates.config["kind"] == "translator" and dates.training is not None and dates.training.steps == 2


@pytest.mark.parametrize(("task", "right"), [("copy", lambda x: x), ("reverse", lambda x: x[::-1]), ("sort", sorted)])
def test_tasks_with_letters_are_learned(task: str, right: Any) -> None:
    model = getattr(sextant.train, task)(steps=300, width=32, heads=4, layers=1, dropout=0.0, rate=0.01, seed=7)
    assert type(model) is sextant.Translator
    words = ["dbca", "abdcb", "cab"]
    made = model.translate(words)
    near = sum(a == b for word, one in zip(words, made) for a, b in zip(right(word), one))
    assert near >= 10, made  # of 12 letters, all with this seed; two by chance


def test_positions_have_their_parameters() -> None:
    model = tiny.language_model(steps=1, scheme={"rotary": {"base": 500000.0}, "t5": {"num_buckets": 8}})
    assert model.config["schemes"][0]["parameters"]["base"] == "500000"
    assert [each["scheme"] for each in model.config["schemes"]] == ["rotary", "t5"]


def test_the_command_line_trains_the_same_bits(text: Path, tmp_path: Path) -> None:
    options = ("--steps 12 --validate-every 4 --width 16 --heads 2 --layers 1 --length 16 --batch-size 4 --dropout 0.1 "
               "--attention-dropout 0.2 --seed 7 --rate 0.01")
    tiny.program("train", "lm", "--file", str(text), "--scheme", "alibi", "-o", str(tmp_path / "cli"), *options.split())
    model = sextant.train.lm(text, scheme="alibi", folder=tmp_path / "python", validate_every=4,
                             **{**tiny.OPTIONS, "steps": 12, "dropout": 0.1, "attention_dropout": 0.2})
    same_weights(model, sextant.load(tmp_path / "cli"))
    metrics = [(tmp_path / run / "metrics.jsonl").read_text().splitlines() for run in ("cli", "python")]
    assert [line.split('"seconds"')[0] for line in metrics[0]] == [line.split('"seconds"')[0] for line in metrics[1]]
    # In memory, with no folder: the same model.
    same_weights(model, sextant.train.lm(io.StringIO(tiny.TEXT), scheme="alibi", validate_every=4,
                                         **{**tiny.OPTIONS, "steps": 12, "dropout": 0.1, "attention_dropout": 0.2}))


def test_false_stops_and_the_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    straight = tiny.language_model(steps=20, folder=tmp_path / "straight")
    seen: list[tuple[int, float, int]] = []

    def stop(step: int, loss: float, metrics: sextant.train.StepMetrics) -> bool:
        seen.append((step, loss, metrics.tokens))
        return step < 8

    part = tiny.language_model(steps=20, folder=tmp_path / "parts", on_step=stop)
    assert part.training.end == "stopped" and part.training.steps == 8 == len(seen)  # type: ignore[union-attr]
    assert seen[1][0] == 2 and seen[1][2] == 2 * seen[0][2]
    whole = sextant.train.resume(tmp_path / "parts")
    assert whole.training is not None and whole.training.end == "steps" and len(whole.training.loss) == 20
    np.testing.assert_array_equal(whole.training.loss, straight.training.loss)  # type: ignore[union-attr]
    same_weights(whole, straight)
    longer = sextant.train.resume(tmp_path / "parts", steps=22)
    assert longer.training is not None and longer.training.steps == 22


def test_averaged_weights_are_the_model_with_a_folder_and_without(tmp_path: Path) -> None:
    def trained(stop: int, **more: Any) -> sextant.LanguageModel:
        return tiny.language_model(steps=20, validate_every=6, on_step=lambda step, loss, metrics: step < stop, **more)

    for stop in (20, 15, 4):  # 4: before the first validation
        same_weights(trained(stop, ema_decay=0.9), trained(stop, ema_decay=0.9, folder=tmp_path / str(stop)))
    whole = sextant.train.resume(tmp_path / "4")
    same_weights(whole, trained(20, ema_decay=0.9))
    weights = trained(20)
    assert whole.training is not None and weights.training is not None
    np.testing.assert_array_equal(whole.training.loss, weights.training.loss)
    assert whole.training.best_loss != weights.training.best_loss


def test_what_a_callback_raises_comes_through_and_nothing_is_lost(tmp_path: Path) -> None:
    def fail(step: int, loss: float, metrics: object) -> None:
        if step == 3:
            raise KeyError("mine")

    for folder in (tmp_path / "run", None):
        with pytest.raises(KeyError, match="mine") as error:
            tiny.language_model(folder=folder, on_step=fail)
        assert any(entry.name == "fail" for entry in error.traceback)
        model = error.value.model  # type: ignore[attr-defined]
        assert model.training.steps == 3 and model.generate("the ", max_tokens=2)
    assert sextant.train.resume(tmp_path / "run", steps=5).training.steps == 5  # type: ignore[union-attr]


def test_a_signal_is_a_keyboard_interrupt_that_saves(tmp_path: Path) -> None:
    def interrupt(step: int, loss: float, metrics: object) -> None:
        if step == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as error:
        tiny.language_model(folder=tmp_path / "run", steps=1000, on_step=interrupt)
    steps = error.value.model.training.steps  # type: ignore[attr-defined]
    assert 2 <= steps <= 3
    assert (tmp_path / "run" / "last").resolve().name == f"checkpoint-{steps:09}"


def test_control_c_in_a_script_saves(text: Path, tmp_path: Path) -> None:
    script = (f"import sextant; sextant.train.lm({str(text)!r}, folder={str(tmp_path / 'run')!r}, steps=1000000, width=16, heads=2, "
              "layers=1, length=16, batch_size=4, on_step=lambda step, *_: print(step, flush=True))")
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGINT and "KeyboardInterrupt" in said
    assert sextant.load(tmp_path / "run").generate("the ", max_tokens=1)


def test_others_run_while_it_trains() -> None:
    ticks = 0
    import threading

    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    tiny.language_model(steps=40, width=64, length=64)
    done.set()
    thread.join()
    assert ticks > 3


def test_progress_is_shown_on_request(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.language_model(steps=2)
    assert capfd.readouterr().err == ""
    tiny.language_model(steps=2, progress=True)
    assert "2/2" in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    tiny.language_model(steps=2, progress=True)
    said = capfd.readouterr().err
    assert "lm: step 1/2, loss" in said and "held-out loss" in said


def test_options_are_those_of_the_library() -> None:
    calls = _core.calls()
    for kind in ("lm", "mlm", "translate", "dates", "copy", "reverse", "sort", "resume"):
        signature = inspect.signature(getattr(sextant.train, kind)).parameters
        text = getattr(sextant.train, kind).__doc__ or ""
        for option in calls[kind]:
            assert signature[option["name"]].default == option["default"], option["name"]
            assert f"{option['name']} (" in text or "those of dates()" in text
    names = {option["name"] for option in calls["lm"]}
    assert {"width", "rate", "steps", "minutes", "seed", "tokenizer", "vocabulary", "pre_norm", "clip"} <= names
    assert not {"pointer", "mask_probability", "beta1", "peak"} & names
    assert inspect.signature(sextant.train.lm).parameters["dropout"].default == 0.1


def test_tokenizers_that_need_a_library_name_it_where_it_is_left_out() -> None:
    words = tiny.language_model(steps=1, tokenizer="word", split_punctuation=False)
    assert words.tokenizer.tokens("the cat saw.\n") == ["the", "cat", "saw.", "\n"]
    for options, library in (({"tokenizer": "subword", "vocabulary": 30}, "SentencePiece"), ({"tokenizer": "word"}, "ICU")):
        if _core.has_text_libraries():
            assert tiny.language_model(steps=1, **options).training.steps == 1  # type: ignore[union-attr]
        else:
            with pytest.raises(ValueError, match=rf"tokenizer.*needs {library}"):
                tiny.language_model(steps=1, **options)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"steps": 0}, ValueError, "train.steps] must be above 0"),
        ({"width": 15}, ValueError, "heads"),
        ({"width": "wide"}, TypeError, "train.width] must be a whole number"),
        ({"dropout": 1.0}, ValueError, "train.dropout"),
        ({"attention_dropout": 1.0}, ValueError, "train.attention_dropout"),
        ({"ema_decay": 1.0}, ValueError, "train.ema_decay"),
        ({"activation": "loud"}, ValueError, "train.activation] must be one of"),
        ({"decay": "cosine", "steps": 0, "minutes": 1}, ValueError, "train.decay"),
        ({"decay": "wsd", "steps": 0, "minutes": 1}, ValueError, "train.decay"),
        ({"decay_share": 0}, ValueError, "train.decay_share"),
        ({"optimizer": "sgd"}, ValueError, "train.optimizer"),
        ({"scheme": "rotery"}, ValueError, "rotery"),
        ({"scheme": {"rotary": {"bass": 1}}}, ValueError, "rotary has"),
        ({"scheme": {"rotary": {"base": "x"}}}, TypeError, "rotary.base"),
        ({"scheme": {"rotary": {"base": -1.0}}}, ValueError, "rotary.base"),
        ({"scheme": ["rotary"]}, TypeError, "train.scheme"),
        ({"scheme": "forgetting"}, ValueError, "forgetting"),
        ({"from_model": "nowhere"}, ValueError, "nowhere"),
        ({"folder": 7}, TypeError, "train.folder"),
        ({"on_step": 7}, TypeError, "train.on_step"),
    ],
)
def test_errors_name_the_argument(options: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as error:
        tiny.language_model(**options)
    assert words in str(error.value)


def test_errors_about_data_name_it(tmp_path: Path) -> None:
    steps: dict[str, Any] = dict(steps=1)
    with pytest.raises(ValueError, match="nowhere.txt"):
        sextant.train.lm("nowhere.txt", **steps)
    with pytest.raises(ValueError, match=r"\[train.text\] must be one or more"):
        sextant.train.lm([], **steps)
    with pytest.raises(TypeError, match=r"\[train.text\] must be a path"):
        sextant.train.lm([7], **steps)  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"\[train.pairs\] must have neither tabs"):
        sextant.train.translate([("a\tb", "c")], tokenizer="character", **steps)
    with pytest.raises(ValueError, match="shuffle, replace"):
        sextant.train.translate(tiny.PAIRS, augment=["twist"], **{**tiny.TRANSLATOR, **steps})
    tiny.language_model(steps=1, folder=tmp_path / "run")
    with pytest.raises(ValueError, match="run"):
        tiny.language_model(steps=1, folder=tmp_path / "run")  # holds a run
    with pytest.raises(ValueError, match="resume.steps"):
        sextant.train.resume(tmp_path / "run", steps=-1)
    with pytest.raises(ValueError, match="nothing"):
        sextant.train.resume(tmp_path / "nothing")


def test_numpys_false_stops_a_training() -> None:
    assert tiny.language_model(steps=20, on_step=lambda *_: np.False_).training.steps == 1
    assert tiny.language_model(steps=3, on_step=lambda *_: np.True_).training.steps == 3
    assert tiny.language_model(steps=3, on_step=lambda *_: 0).training.steps == 3


def test_a_training_keeps_its_folder_in_another_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def step(number: int, *_: Any) -> None:
        if number == 2:
            os.chdir(tmp_path / "elsewhere")

    model = tiny.language_model(folder="run", checkpoint_every=2, steps=6, on_step=step)
    assert not any((tmp_path / "elsewhere").iterdir())
    assert Path(model.training.folder or "").samefile(tmp_path / "run") and len(model.training.step) == 6
    os.chdir(tmp_path)
    table = sextant.extrapolate(
        io.StringIO(tiny.TEXT), schemes=["none", "alibi"], folder="lengths", steps=2, train_length=16, test_lengths=[16], stride=16, scored=64, width=16,
        heads=2, layers=1,
        on_step=lambda *_: os.chdir(tmp_path / "elsewhere"), progress=False,
    )  # fmt: skip
    assert len(table.rows) == 2 and not any((tmp_path / "elsewhere").iterdir())


def test_a_run_goes_on_without_its_best_checkpoint(tmp_path: Path) -> None:
    run = tmp_path / "run"
    tiny.language_model(folder=run, validate_every=4, steps=8, on_step=lambda number, *_: number < 7)
    best = (run / "best").resolve()
    assert best != (run / "last").resolve()
    shutil.rmtree(best)
    with pytest.warns(UserWarning, match="the best checkpoint, of step 4, was gone"):
        model = sextant.train.resume(run, steps=12)
    assert model.training.best_step in (8, 12) and (run / "best" / "model.safetensors").exists()


def test_tokens_train_from_a_file_that_numpy_wrote(tmp_path: Path, text: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    model = sextant.train.lm(text, steps=2, folder=tmp_path / "run", **tiny.OPTIONS)
    texts = text.read_text().splitlines()
    path = tmp_path / "tokens.safetensors"
    ids = np.concatenate([model.tokenizer.encode(each) for each in texts]).astype("uint16")
    ends = np.cumsum([len(model.tokenizer.encode(each)) for each in texts])
    numpy_files.save_file({"tokens": ids, "document_ends": ends}, path, {"tokenizer": model.tokenizer.checksum})
    again = sextant.train.lm(path, tokenizer_from=tmp_path / "run", document_mask=True, steps=2, **tiny.OPTIONS)
    assert again.training is not None and again.training.learned + again.training.held_out == len(ids)
    assert again.training.learned in ends
    numpy_files.save_file({"tokens": ids}, path, {"tokenizer": "0" * 16})
    with pytest.raises(ValueError, match="must be made by the tokenizer of checksum"):
        sextant.train.lm(path, tokenizer_from=tmp_path / "run", steps=2, **tiny.OPTIONS)
    with pytest.raises(ValueError, match=r"^\[train.tokenizer_from\] must be given"):
        sextant.train.lm(path, steps=2, **tiny.OPTIONS)
    with pytest.raises(ValueError, match=r"^\[train.text\] must be one file where it has tokens, got 2"):
        sextant.train.lm([path, text], steps=2, **tiny.OPTIONS)
    numpy_files.save_file({"tokens": ids.astype("int64")}, path, {"tokenizer": model.tokenizer.checksum})
    with pytest.raises(ValueError, match="uint16 or uint32"):
        sextant.train.lm(path, tokenizer_from=tmp_path / "run", steps=2, **tiny.OPTIONS)


def test_tokens_of_a_run_train_another_to_the_same_bits(tmp_path: Path, text: Path) -> None:
    run = sextant.train.lm(text, steps=3, folder=tmp_path / "run", **tiny.OPTIONS)
    same_weights(run, sextant.train.lm(tmp_path / "run" / "data" / "tokens.safetensors", steps=3, **tiny.OPTIONS))
    in_memory = sextant.train.lm(text, steps=3, **tiny.OPTIONS)
    same_weights(run, in_memory)
    assert run.tokenizer.checksum == in_memory.tokenizer.checksum and len(run.tokenizer.checksum) == 16


def test_documents_end_generation(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("abcd\nefgh\n" * 100)
    model = sextant.train.lm(path, documents="line", document_mask=True, steps=80, **tiny.OPTIONS)
    assert model.generate("a", temperature=0, max_tokens=50) == "bcd"
    with pytest.raises(ValueError, match=r"^\[train.document_mask\] must be no for a text without documents"):
        sextant.train.lm(path, document_mask=True, steps=1, **tiny.OPTIONS)


def test_epochs_are_passes_over_the_data(tmp_path: Path, text: Path) -> None:
    model = sextant.train.lm(text, epochs=1, validate_epochs=0.5, folder=tmp_path / "run", **tiny.OPTIONS)
    assert model.training is not None
    steps = model.training.steps_per_epoch
    assert model.training.steps == steps and len(model.training.validation_step) >= 2
    resumed = sextant.train.resume(tmp_path / "run", epochs=2)
    assert resumed.training is not None and resumed.training.steps == 2 * steps
    with pytest.raises(ValueError, match=r"\[train.steps\] must be above 0 when there are no epochs or minutes"):
        sextant.train.lm(text, **tiny.OPTIONS)


def test_data_that_moved_is_named(tmp_path: Path, text: Path) -> None:
    sextant.train.lm(text, steps=2, folder=tmp_path / "run", **tiny.OPTIONS)
    shutil.rmtree(tmp_path / "run" / "data")
    moved = text.rename(tmp_path / "moved.txt")
    with pytest.raises(ValueError, match="cannot be opened"):
        sextant.train.resume(tmp_path / "run", steps=3)
    assert sextant.train.resume(tmp_path / "run", text=moved, steps=3).training is not None
    with pytest.raises(ValueError, match=r"\[resume.pairs\] must not be given for a run of lm"):
        sextant.train.resume(tmp_path / "run", pairs=tiny.PAIRS, steps=4)
    (tmp_path / "other.txt").write_text("another text\n")
    with pytest.raises(ValueError, match="but has changed"):
        sextant.train.resume(tmp_path / "run", text=tmp_path / "other.txt", steps=4)


def test_layers_may_have_positions_of_their_own(text: Path) -> None:
    def of(layers: Any) -> sextant.LanguageModel:
        return sextant.train.lm(text, layer_schemes=layers, layers=2, steps=1, width=16, heads=2, length=32, tokenizer="character")

    model = of([([1], {"rotary": {}, "window": {"left": 3}}), ((0,), "t5")])
    assert "positions.2.t5.table" in model.weights
    assert not any(name.startswith("positions.") for name in of(()).weights)
    for layers, said in (
        ([([2], "none")], "must have each of the layers 0 .. 1 once at most, got 2"),
        ([([0], "sinusoidal")], "must be schemes that work in attention"),
        ([([0.5], "none")], "train.layer_schemes"),
        ([([0], "nothing")], "nothing"),
        ([([0], {"window": {"sides": 1}})], "window has left, right, dilation, got sides"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            of(layers)
    for layers in ("none", [1], [([0],)], 3):
        with pytest.raises(TypeError, match="train.layer_schemes"):
            of(layers)
