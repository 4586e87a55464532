"""Lines of Python in documents."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
from readme import check

import sextant

ROOT = Path(__file__).parents[3]


def test_readme_prints_what_it_says():
    check(ROOT / "README.md")


def test_page_of_python_runs(tmp_path, monkeypatch):
    """Every block of docs/python.md but those of models, one after the other, with arrays of the shapes that it speaks of."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    rng = np.random.default_rng(0)
    names = {
        "sextant": sextant,
        "q": rng.standard_normal((1, 8, 128, 128), dtype=np.float32),
        "k": rng.standard_normal((1, 2, 128, 128), dtype=np.float32),
        "v": rng.standard_normal((1, 2, 128, 128), dtype=np.float32),
    }
    arrays = {name: names[name] for name in "qkv"}
    names["dout"], names["weights"] = names["q"], rng.standard_normal((256, 4))
    names["attention_mask"], names["patches"] = np.ones((1, 128), np.int64), rng.standard_normal((1 + 14 * 14, 8))
    page = re.sub(r"\n## Models\n.*?(?=\n## )", "", (ROOT / "docs" / "python.md").read_text(), flags=re.DOTALL)
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        names.update(arrays)
        if "KvCache" in block:
            names = {**names, **{name: names[name][..., :64] for name in "qkv"}}
            names["q"] = names["q"][:, :, -1:].astype(ml_dtypes.bfloat16)
            names["rotation"] = sextant.rotary(4096, 64)
        if "identify" in block:
            names.update(array=sextant.sinusoidal(30, 8), x=names["k"][..., :64], rotation=sextant.rotary(128, 64))
            names.update(weights=rng.standard_normal((256, 4)), table=sextant.sinusoidal(128, 64))
        exec(compile(block, "python.md", "exec"), names)
