#!/usr/bin/env python3
"""Makes web/data, the trained model and the results that ship with the explorer.

    scripts/make_page_data.py build/release/bin/sextant plays.txt [plays | extrapolation]

plays.txt is the text of docs/shakespeare.md, a million characters. The model's weights are stored in float16. Both run on AVX2,
whatever the processor has besides, so that they make the same bytes everywhere; 15 and 5 minutes on one core.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from make_dates_translator import narrowed

PLAYS = ("train lm --scheme alibi --width 128 --heads 4 --layers 4 --length 128 --batch-size 32 --dropout 0.05 --rate 0.002 "
         "--steps 1500 --validate-every 150 --threads 1 --seed 1").split()
EXTRAPOLATION = ("extrapolate --schemes none,sinusoidal,learned,rotary,alibi,t5 --train-length 64 --test-lengths 64,128,256,512 "
                 "--steps 400 --width 64 --heads 4 --layers 2 --scored 8192 --threads 1").split()
DATA = pathlib.Path(__file__).parent.parent / "web/data"


def run(program, arguments, text, folder):
    subprocess.run([program, *arguments, "--text", text, "-o", folder], check=True, env={**os.environ, "SEXTANT_TARGET": "AVX2"})


def save_plays(folder):
    to = DATA / "plays"
    to.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(folder / "best" / name, to / name)
    (to / "model.safetensors").write_bytes(narrowed((folder / "best/model.safetensors").read_bytes()))


def save_extrapolation(folder):
    to = DATA / "extrapolation"
    to.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / "results.json", to / "results.json")


def main():
    program, text, wanted = sys.argv[1], sys.argv[2], sys.argv[3:] or ["plays", "extrapolation"]
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments, save in (("plays", PLAYS, save_plays), ("extrapolation", EXTRAPOLATION, save_extrapolation)):
            if name not in wanted:
                continue
            made = pathlib.Path(folder) / name
            run(program, arguments, text, made)
            save(made)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
