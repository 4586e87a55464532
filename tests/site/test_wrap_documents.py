"""Paragraphs of documents are filled to one width; all else stays as it is."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from wrap_documents import WIDTH, too_long, wrapped

LONG = "word " * 40


def test_paragraphs_and_items_are_filled():
    text = f"{LONG}\nand more\n\n- {LONG}\n  - inside {LONG}\n1. {LONG}\n"
    lines = wrapped(text).splitlines()
    assert max(map(len, lines)) <= WIDTH and wrapped(wrapped(text)) == wrapped(text)
    assert wrapped(text).split() == text.split()
    assert [line[:9] for line in lines if line.lstrip()[:2] in ("- ", "1.")] == ["- word wo", "  - insid", "1. word w"]


@pytest.mark.parametrize(
    "text",
    [
        f"# {LONG}\n",
        f"| {LONG} | b |\n",
        f"```\n{LONG}\n\n    {LONG}\n```\n",
        f"before:\n\n    {LONG}\n",
        f"<!-- {LONG} -->\n",
        f"two spaces  \nbreak {LONG}\n",
        f"<!-- The rest is written by a test. -->\n\n{LONG}\n",
        "[link]: https://example.org/" + "x" * 150 + "\n",
        "`" + "code " * 40 + "`\n",
    ],
)
def test_all_else_stays(text):
    assert wrapped(text) == text and not too_long(text)


def test_no_line_begins_with_what_has_a_meaning_there():
    for sign in ["-", "+", "1.", "# a", "> b", "| c"]:
        for length in range(WIDTH - 4, WIDTH + 1):
            text = "x" * length + f" {sign} {LONG}\n"
            assert all(not line.startswith(sign) for line in wrapped(text).splitlines()[1:])


def test_lines_that_can_be_filled_are_too_long():
    assert too_long(f"short\n\n{LONG}\n") == [3]
    assert not too_long("[link](" + "x" * 200 + ")\nalone\n")
