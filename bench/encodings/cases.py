"""The texts, the tasks and the settings of the models."""

import hashlib
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = 3
# The texts are those of this commit, so that they stay the same while the repository grows: files in the order of their paths.
REVISION = "c42bfde194ae37ea1edbd3c148038649965bae75"
TEXTS = {"english": ("docs", ".md"), "cpp": ("src", ".cc")}
TEXT_BYTES = 600_000  # of each, at most
LANGUAGE = {
    "train-length": 64,
    "test-lengths": "64,128,256,512",
    "width": 48,
    "heads": 4,
    "layers": 2,
    "steps": 200,
    "batch-size": 16,
    "rate": 0.016,
    "scored": 2048,
    "stride": 32,
    "held-out": 0.1,
}

LETTERS = "abcdefghij"
TASKS = {"copy": str, "reverse": lambda letters: letters[::-1], "sort": lambda letters: "".join(sorted(letters))}
LONGEST = 8  # letters of a line in training, from 1 on
LONGEST_LINE = 2 * LONGEST + 4  # tokens: the task's letter, the letters, ">", the answer, the end
TEST_LETTERS = (8, 10, 12, 16)
LINES, PROMPTS = 40_000, 100  # lines to learn from; prompts for each task and length
SOLVING = {
    "length": 512,
    "width": 48,
    "heads": 4,
    "layers": 2,
    "steps": 500,
    "batch-size": 2,
    "optimizer": "muon",
    "rate": 0.02,
    "weight-decay": 0.01,
    "dropout": 0,
    "held-out": 0.01,
}


def texts():
    """{file: bytes}: the texts, and the end of each that is held out."""
    files = {}
    for name, (folder, ending) in TEXTS.items():
        listed = git("ls-tree", "-r", "--name-only", REVISION, folder).decode().splitlines()
        text = b""
        for path in sorted(path for path in listed if path.endswith(ending)):
            if len(text) < TEXT_BYTES:
                text += git("show", f"{REVISION}:{path}")
        text = text[: text.rindex(b"\n", 0, TEXT_BYTES) + 1]
        held_out = int(len(text) * (1 - LANGUAGE["held-out"]))  # the program begins with the next line
        files |= {f"{name}.txt": text, f"{name}-end.txt": text[text.index(b"\n", held_out) + 1 :]}
    return files


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE, check=True).stdout


def lines_of_tasks():
    """(lines to learn from, {letters: prompts}): "Rabc>cba", and prompts "Rabd>" whose letters no line has."""
    draw = random.Random(1)

    def one_of(choices):
        return choices[int(draw.random() * len(choices))]

    known, lines, prompts = set(), [], {}
    for _ in range(LINES):
        task, text = one_of(list(TASKS)), "".join(one_of(LETTERS) for _ in range(one_of(range(1, LONGEST + 1))))
        known.add(text)
        lines.append(f"{task[0].upper()}{text}>{TASKS[task](text)}")
    for count in TEST_LETTERS:
        new = ["".join(one_of(LETTERS) for _ in range(count)) for _ in range(2 * PROMPTS)]
        new = [text for text in new if text not in known][:PROMPTS]
        prompts[count] = [f"{task[0].upper()}{text}>" for task in TASKS for text in new]
    return lines, prompts


def marked(prompts, answers):
    """{task: (share of right letters, share of right answers)}; a letter is right in its place, as one more would be wrong only in answers."""
    shares = {}
    for task, answer_of in TASKS.items():
        pairs = [(answer_of(asked[1:-1]), got) for asked, got in zip(prompts, answers, strict=True) if asked[0] == task[0].upper()]
        letters = [sum(a == b for a, b in zip(right, got, strict=False)) / len(right) for right, got in pairs]
        shares[task] = (sum(letters) / len(pairs), sum(right == got for right, got in pairs) / len(pairs))
    return shares


def settings(files):
    return {
        "texts": {"revision": REVISION, **{name: list(where) for name, where in TEXTS.items()}},
        "sha256": {name: hashlib.sha256(text).hexdigest() for name, text in files.items()},
        "language": LANGUAGE,
        "solving": SOLVING,
        "tasks": {"letters": len(LETTERS), "longest": LONGEST, "tested": list(TEST_LETTERS), "lines": LINES, "prompts": PROMPTS},
        "seeds": SEEDS,
    }


def processor():
    found = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else "unknown"
