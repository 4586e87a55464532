#!/usr/bin/env python3
"""Makes src/training/tasks/dates_translator, the translator that ships: trains it and stores its weights in float16.

    scripts/make_dates_translator.py build/release/bin/sextant

It runs on AVX2, whatever the processor has besides, so that it makes the same bytes everywhere; half a minute on one core.
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

TRAIN = ("train dates --width 32 --heads 4 --encoder-layers 2 --layers 1 --scheme rotary "
         "--steps 3000 --seed 3").split()
FOLDER = pathlib.Path(__file__).parent.parent / "src/training/tasks/dates_translator"


def narrowed(weights):
    """A .safetensors file of float32 as one of float16."""
    start = 8 + struct.unpack("<Q", weights[:8])[0]
    header, data = {}, b""
    for name, tensor in sorted(json.loads(weights[8:start]).items()):
        assert tensor["dtype"] == "F32", name
        first, last = tensor["data_offsets"]
        numbers = struct.unpack(f"<{(last - first) // 4}f", weights[start + first:start + last])
        begin, data = len(data), data + struct.pack(f"<{len(numbers)}e", *numbers)
        header[name] = {"dtype": "F16", "shape": tensor["shape"], "data_offsets": [begin, len(data)]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        subprocess.run([sys.argv[1], *TRAIN, "-o", str(run)], check=True,
                       env={**os.environ, "SEXTANT_TARGET": "AVX2"})
        FOLDER.mkdir(exist_ok=True)
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(run / "last" / name, FOLDER / name)
        (FOLDER / "model.safetensors").write_bytes(narrowed((run / "last/model.safetensors").read_bytes()))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
