"""The command line of the module: `python -m sextant`, the same as the program."""

import os
import signal
import subprocess
import sys
import time

import pytest

import sextant

PROGRAM = os.environ.get("SEXTANT_PROGRAM", "")
MODULE = [sys.executable, "-m", "sextant"]


def run(*words, **options):
    return subprocess.run([*words], capture_output=True, timeout=60, **options)


@pytest.mark.skipif(not PROGRAM, reason="the command line is not built")
@pytest.mark.parametrize(
    "words",
    [
        ["encode", "--length", "4", "--width", "4", "--base", "100", "--dtype", "float64", "--format", "csv"],
        ["encode", "--length", "64", "--width", "32", "--format", "npy"],
        ["list", "rotary", "--json"],
        ["plot", "heatmap", "--scheme", "alibi", "--format", "svg"],
        ["compare", "the zebra chased the lion .", "the lion chased the zebra .", "--lab"],
        ["attend", "the cat sat", "--causal", "--scheme", "rotary"],
        ["tokenize", "--help"],
        ["--version"],
        [],
        ["--no-such-option"],
        ["encode", "--length", "-1"],
        ["plot", "heatmap", "--length", "4", "-o", "x.jpg"],
        ["identify", "/nowhere.npy"],
        ["compare", "a\udcff", "b"],
    ],
)
def test_output_and_exit_code_are_the_programs(words):
    given = [os.fsencode(word) for word in words]
    wanted, seen = run(PROGRAM, *given), run(*MODULE, *given)
    assert (seen.returncode, seen.stdout, seen.stderr) == (wanted.returncode, wanted.stdout, wanted.stderr)


def test_input_comes_from_a_pipe_and_output_goes_into_one():
    made = run(*MODULE, "encode", "--length", "30", "--width", "8", "--format", "csv")
    found = run(*MODULE, "identify", "-", input=made.stdout)
    assert found.returncode == 0 and b"sinusoidal" in found.stdout, found.stderr
    head = subprocess.run(f"{sys.executable} -m sextant encode --length 20000 --width 64 --format csv | head -1", shell=True,
                          capture_output=True, timeout=60)  # fmt: skip
    assert head.stdout.count(b"\n") == 1 and not head.stderr


def test_ctrl_c_ends_it_as_a_signal_does(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("to be or not to be. " * 200)
    words = ["train", "lm", "--file", str(text), "--tokenizer", "character", "--minutes", "5", "--width", "16", "--heads", "1", "--layers", "1",
             "-o", str(tmp_path / "run")]  # fmt: skip
    process = subprocess.Popen([*MODULE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "metrics.jsonl").exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert b"Traceback" not in complaint and process.returncode in (130, -signal.SIGINT), (process.returncode, complaint)
    assert sextant.load(tmp_path / "run").config["width"] == 16  # it was saved


def test_the_script_of_the_package_is_the_same_function():
    from sextant.__main__ import main

    assert main.__module__ == "sextant.__main__"
    code = "import sys; from sextant.__main__ import main; sys.argv = ['sextant', '--version']; sys.exit(main())"
    assert run(sys.executable, "-c", code).stdout == f"sextant {sextant.__version__}\n".encode()
