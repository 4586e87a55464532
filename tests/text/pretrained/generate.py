"""Writes the stored tokenizers of these tests and what the library `tokenizers` makes of texts.

    build/torch/bin/python tests/text/pretrained/generate.py   (make test-torch installs it)

NAME.json is a tokenizer.json; NAME.expected.json a list of [text, ids, offsets, decoded text], where
offsets are bytes begin, end, begin, end ... of the text."""
import json
import pathlib

import families
import strings

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 60_000  # bytes a file


def row(tokenizer, text):
    found = tokenizer.encode(text)
    at = [0]
    for c in text:
        at.append(at[-1] + len(c.encode()))
    return [text, found.ids, [at[i] for pair in found.offsets for i in pair], tokenizer.decode(found.ids)]


def write(path, text):
    path.write_text(text)
    assert path.stat().st_size <= LIMIT, (path, path.stat().st_size)


def main():
    for name, make in families.ALL.items():
        tokenizer = make()
        write(HERE / f"{name}.json", tokenizer.to_str(pretty=False))
        rows, size = [], 0
        for text in strings.strings(1, 400):
            line = json.dumps(row(tokenizer, text), separators=(",", ":"))
            size += len(line) + 2
            if size > LIMIT - 10:
                break
            rows.append(line)
        write(HERE / f"{name}.expected.json", "[" + ",\n".join(rows) + "]\n")
        print(name, len(rows), "strings")


if __name__ == "__main__":
    main()
