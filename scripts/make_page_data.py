#!/usr/bin/env python3
"""Makes web/data, the trained model and the results that ship with the explorer.

    scripts/make_page_data.py build/release/bin/sextant plays.txt [plays | extrapolation] [--try FOLDER]

plays.txt is the text of docs/shakespeare.md, a million characters. The model's weights are stored in float16. Both run on AVX2,
whatever the processor has besides, so that they make the same bytes everywhere; 15 and 5 minutes on one core. --try does all
of it with a few steps of small models, into FOLDER.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

from make_dates_translator import narrowed

PLAYS = ("train lm --scheme alibi --width 128 --heads 4 --layers 4 --length 128 --batch-size 32 --dropout 0.05 --rate 0.002 "
         "--steps 1500 --validate-every 150 --threads 1 --seed 1").split()
EXTRAPOLATION = ("extrapolate --schemes none,sinusoidal,learned,rotary,alibi,t5 --train-length 64 --test-lengths 64,128,256,512 "
                 "--steps 400 --width 64 --heads 4 --layers 2 --scored 8192 --threads 1").split()
FEW = {"plays": "--width 16 --layers 1 --length 16 --steps 4 --validate-every 2".split(),
       "extrapolation": "--width 16 --layers 1 --train-length 32 --test-lengths 32,64 --steps 2 --scored 256".split()}
DATA = pathlib.Path(__file__).parent.parent / "web/data"


def run(program, arguments, text, folder):
    subprocess.run([program, *arguments, "--file", text, "-o", folder], check=True, env={**os.environ, "SEXTANT_TARGET": "AVX2"})


def save_plays(folder, to):
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(folder / "best" / name, to / name)
    (to / "model.safetensors").write_bytes(narrowed((folder / "best/model.safetensors").read_bytes()))


def save_extrapolation(folder, to):
    shutil.copyfile(folder / "results.json", to / "results.json")


def with_few_steps(name, arguments):
    """The same options; those of FEW have other values."""
    few = dict(zip(FEW[name][::2], FEW[name][1::2]))
    return [few.get(before, word) for before, word in zip(["", *arguments], arguments)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", type=pathlib.Path)
    options.add_argument("text", type=pathlib.Path)
    options.add_argument("wanted", nargs="?", choices=["plays", "extrapolation"])
    options.add_argument("--try", dest="folder", type=pathlib.Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments, save in (("plays", PLAYS, save_plays), ("extrapolation", EXTRAPOLATION, save_extrapolation)):
            if given.wanted not in (None, name):
                continue
            made, to = pathlib.Path(folder) / name, (given.folder or DATA) / name
            run(given.program.resolve(), with_few_steps(name, arguments) if given.folder else arguments, given.text, made)
            to.mkdir(parents=True, exist_ok=True)
            save(made, to)


if __name__ == "__main__":
    main()
