#!/usr/bin/env python3
"""Writes bleu.json: what sacreBLEU gives for hard sentences. bleu_test.cc compares.

    python3 -m venv venv && venv/bin/pip install sacrebleu==2.6.0
    venv/bin/python tests/training/tasks/golden/make_bleu.py
"""
import json
import pathlib
import random

import sacrebleu
from sacrebleu.metrics import BLEU

WORDS = ["the", "The", "cat", "sat", "on", "mat", ".", ",", "U.S.", "3.5", "1,000", "well-known", "2-3", "1999-", "don't",
         "&quot;x&quot;", "&amp;", "&lt;b&gt;", "&amp;quot;", "<skipped>", "caf\u00e9", "na\u00efve,", "\u201cquoted\u201d", "\u4f60\u597d\u3002",
         "\U0001F600", "\u00c4PFEL", "(a)", "a/b", "e.g.,", "...", "5.", ".5", "5,", "x.5", "5.x", "a,,b", "\u00e9.\u00e9", "1.\u00e9",
         "$4.50", "50%", "#1", "a_b", "[1]", "{y}", "~", "`", "^", "@", "1-2-3", "\u0130I", "\u03a3\u03a3", "tab\there", "nb\u00a0sp",
         "\u3000", "\x1c", "\u200b", "end-\nof", "line\nbreak", "-", "--", "'", "*", "+", "=", "|", "\\", ";", ":", "?", "!"]
LINES = [" ".join(WORDS[i:i + 7]) for i in range(0, len(WORDS), 5)] + WORDS + [
    "", " ", "\n", "A hyphen at the end -\n", "Mr. Smith paid $1,234.56 on 3.5.1999, i.e. (early).",
    "He said, \"No.\"", ".,.,", "1.,2", "1,.2", "..1..", "9.-9", "a.b.c", "&", "&&amp;&", "&quot", "&amp;lt;"]


def options(rng):
    smooth = rng.choice(["exp", "exp", "none", "floor", "add-k"])
    value = rng.choice([None, 0.25, 2.0]) if smooth in ("floor", "add-k") else None
    return dict(lowercase=rng.random() < 0.3, tokenize=rng.choice(["13a", "13a", "none"]), smooth_method=smooth,
                smooth_value=value, effective_order=rng.random() < 0.2)


def sentence(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 5, 9, 20])))


def changed(rng, text):
    words = text.split(" ")
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(words))
        words[at:at + 1] = rng.choice([[], [rng.choice(WORDS)], [words[at], words[at]]]) or [""]
    return " ".join(words)


def case(hypotheses, references, given):
    """references: a list for each hypothesis; sacreBLEU wants them the other way round, None where there are fewer."""
    most = max(map(len, references))
    turned = [[r[i] if i < len(r) else None for r in references] for i in range(most)]
    metric = BLEU(force=True, **given)
    score = metric.corpus_score(list(hypotheses), turned)
    signature = "|".join(p for p in str(metric.get_signature()).split("|") if not p.startswith("version"))
    return dict(hypotheses=hypotheses, references=references, options=given, score=score.score, precisions=score.precisions,
                bp=score.bp, hypothesis_length=int(score.sys_len), reference_length=int(score.ref_len), signature=signature,
                text=score.format(width=1))


def main():
    rng = random.Random(20)
    cases = [case(["the cat sat on the mat"], [["the cat sat on the mat"]], options(random.Random(1)))]
    default = dict(lowercase=False, tokenize="13a", smooth_method="exp", smooth_value=None, effective_order=False)
    for hypothesis, reference in [("", "a b c d e"), ("a b c d e", ""), ("", ""), ("a", "a"), ("a b", "a b"), ("a b c", "a b d"),
                                  ("x y z w", "a b c d"), ("the the the the", "the cat"), ("a b c d e f", "a b c d e f")]:
        for smooth in ["exp", "none", "floor", "add-k"]:
            for effective in [False, True]:
                cases.append(case([hypothesis], [[reference]], default | dict(smooth_method=smooth, effective_order=effective)))
    for _ in range(120):
        references, hypotheses = [], []
        width = rng.choice([1, 1, 2, 3])
        vary = width > 1 and rng.random() < 0.3
        for _ in range(rng.choice([1, 2, 5, 12])):
            base = sentence(rng)
            hypotheses.append(changed(rng, base))
            count = rng.randrange(1, width + 1) if vary else width
            references.append([changed(rng, base) for _ in range(count)])
        cases.append(case(hypotheses, references, options(rng)))
    tokens = [dict(text=line, tokenize=name, lowercase=lower,
                   tokens=BLEU(tokenize=name, lowercase=lower)._preprocess_segment(line).split())
              for line in LINES for name in ("13a", "none") for lower in (False, True)]
    lists = [f'"{name}": [\n' + ",\n".join(map(json.dumps, each)) + "\n]" for name, each in [("tokens", tokens), ("scores", cases)]]
    pathlib.Path(__file__).with_name("bleu.json").write_text(
        f'{{"made_by": "sacrebleu {sacrebleu.__version__}",\n' + ",\n".join(lists) + "}\n")
    print(len(tokens), "token cases,", len(cases), "scores")


main()
