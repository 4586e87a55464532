"""What `sextant ... --print-call python` prints runs, and gives what the command gives."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PROGRAM = os.environ.get("SEXTANT_PROGRAM", "sextant")


def run(line: str, folder: Path) -> str:
    words = [PROGRAM, *shlex.split(line)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


def called(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The variables after the call that a command prints."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(run(line + " --print-call python", folder), names)
    return names


@pytest.fixture
def files(tmp_path: Path) -> Path:
    numbers = np.random.default_rng(3)
    for name in ("q", "k", "v", "dout"):
        np.save(tmp_path / f"{name}.npy", numbers.standard_normal((2, 4, 6, 8)).astype(np.float32))
    np.save(tmp_path / "lengths.npy", np.array([6, 4]))
    np.save(tmp_path / "mask.npy", numbers.random((6, 6)) < 0.7)
    np.save(tmp_path / "ids.npy", np.array([[0, 1], [2, 3]]))
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "encode --length 5 --width 8 --layout half_split",
        "encode --length 5 --first 1000000 --width 8 --dtype float64 --base 500",
        "encode --positions 0,5,7 --width 8",
        "encode --positions 0.5,2.25 --width 6",
        "encode --scheme sincos_2d --ids-file ids.npy --width 8",
    ],
)
def test_tables(line: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = called(line, files, monkeypatch)["table"]
    run(line + " -o table.npy", files)
    np.testing.assert_array_equal(table, np.load(files / "table.npy"))


@pytest.mark.parametrize("line", ["--head-dim 8 --base 500", "--head-dim 8 --first 3 --rotary-dim 4", "--width 8 --sections 1,3 --layout half_split"])
def test_rotations(line: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rotary = "encode --scheme rotary --length 5 " + line
    if "sections" in line:
        np.save(files / "axes.npy", np.arange(10).reshape(5, 2))
        rotary = rotary.replace("--length 5", "--ids-file axes.npy")
    table = called(rotary, files, monkeypatch)["table"]
    run(rotary + " -o table.npy", files)
    pairs = np.load(files / "table.npy")
    np.testing.assert_array_equal(table.cos, pairs[:, : table.cos.shape[1], 0])
    np.testing.assert_array_equal(table.sin, pairs[:, : table.sin.shape[1], 1])


@pytest.mark.parametrize(
    "options",
    [
        "--causal top_left",
        "--causal at_lengths --key-lengths lengths.npy --scale 0.25 --softcap 20",
        "--window 2,0 --causal top_left --mask mask.npy --threads 1",
        "--alibi --rotary-base 500 --rotary-layout interleaved --causal top_left",
        "--scheme rotary:base=500+t5 --causal top_left",
        "--scheme none",
    ],
)
def test_the_operator(options: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = f"attention --q q.npy --k k.npy --v v.npy -o out.npy --log-sum-exp sums.npy --weights w.npy {options}"
    run(line, files)
    wanted = {name: np.load(files / f"{name}.npy") for name in ("out", "sums", "w")}
    called(line, files, monkeypatch)
    for name, values in wanted.items():
        np.testing.assert_array_equal(np.load(files / f"{name}.npy"), values)


def test_gradients(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "attention --q q.npy --k k.npy --v v.npy --dout dout.npy --dq dq.npy --dv dv.npy --causal top_left --dropout 0.25 --dropout-seed 7"
    run(line, files)
    wanted = {name: np.load(files / f"{name}.npy") for name in ("dq", "dv")}
    called(line, files, monkeypatch)
    for name, values in wanted.items():
        np.testing.assert_array_equal(np.load(files / f"{name}.npy"), values)


@pytest.mark.parametrize(
    "line", ["attend 'the cat \"sat\"' --causal", "attend 'a b' --second 'c d e' --scheme alibi:max_bias=4 --heads 2 --seed 3", "attend 'a b' --scheme rotary+t5"]
)
def test_sentences(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attention = called(line, tmp_path, monkeypatch)["attention"]
    run(line + " -o w.npy", tmp_path)
    np.testing.assert_array_equal(attention.weights, np.load(tmp_path / "w.npy"))


def test_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "compare 'a b .' 'b a .' --scheme rotary --base 500"
    verdict = called(line, tmp_path, monkeypatch)["verdict"]
    assert run(line, tmp_path).splitlines()[-1] == str(verdict)


def test_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maps = called("attend --model shipped 'may 5 2020'", tmp_path, monkeypatch)["maps"]
    run("attend --model shipped 'may 5 2020' --part cross -o w.npy", tmp_path)
    np.testing.assert_array_equal(maps.cross.weights[-1], np.load(tmp_path / "w.npy"))


@pytest.mark.parametrize(
    "line",
    [
        "plot heatmap --length 9 --width 16 --first 3",
        "plot heatmap --scheme rotary:base=500 --length 9 --head-dim 8",
        "plot sinusoids 'I am' --columns 0,5",
        "plot rows --rows 1,2 --width 16",
        "plot similarity --length 12 --base 500",
        "plot distance --schemes sinusoidal,rotary:base=500,alibi --length 9 --heads 4 --head 1",
        "plot distance --width 16 --measure dot",
        "plot offset-matrix --shift 3 --width 8",
    ],
)
def test_pictures(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(line + " -o picture.svg", tmp_path)
    wanted = (tmp_path / "picture.svg").read_text()
    called(line + " -o picture.svg", tmp_path, monkeypatch)
    assert (tmp_path / "picture.svg").read_text() == wanted.removesuffix("\n")  # the program ends with another
