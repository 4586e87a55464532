"""Compares sextant.PretrainedTokenizer with the library `tokenizers` on many random strings.

    PYTHONPATH=build/release/python build/torch/bin/python tests/text/pretrained/compare.py \
        [--strings N] [--seed N] [NAME or FILE.json ...]

NAME is a family of families.py (all of them where none is given), FILE a tokenizer.json."""
import argparse
import sys
import tempfile

import families
import strings
from tokenizers import Tokenizer

import sextant


def differences(theirs, ours, texts):
    for text in texts:
        found = theirs.encode(text)
        made = ours.encode(text)
        offsets = [tuple(each) for each in made.offsets.tolist()]
        if made.ids.tolist() != found.ids or offsets != found.offsets or made.type_ids.tolist() != found.type_ids:
            yield text, found.ids, made.ids.tolist(), found.offsets, offsets
        elif ours.decode(found.ids) != theirs.decode(found.ids):
            yield text, theirs.decode(found.ids), ours.decode(found.ids)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(families.ALL))
    parser.add_argument("--strings", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    texts = strings.strings(arguments.seed, arguments.strings)
    failed = 0
    for name in arguments.names:
        theirs = Tokenizer.from_file(name) if name.endswith(".json") else families.ALL[name]()
        theirs.no_truncation()
        theirs.no_padding()
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            theirs.save(file.name)
            ours = sextant.PretrainedTokenizer(file.name)
        found = list(differences(theirs, ours, texts))
        failed += len(found)
        print(f"{name}: {len(texts)} strings, {len(found)} differ", flush=True)
        for each in found[:3]:
            print("  ", *map(repr, each), sep="\n   ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
