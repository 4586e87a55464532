"""The steps of the five documents that one form shows: what they print is what the command line prints."""
import pathlib
import shlex

import pytest
from conftest import sextant

FILES = {
    "words.vec": "king 1 1 0\nqueen 1 0 1\nboy 0 1 0\ngirl 0 0 1\n",
    "colours.vec": "black 0.31 -0.12 0.58 0.04\nbrown 0.29 -0.17 0.49 0.11\n",
    "users.csv": "name,action,romance,comedy\nAnn,1,-0.5,0.2\nBen,-1,1,0.5\n",
    "films.csv": "film,action,romance,comedy\nHeat,1,-0.8,-0.5\nEmma,-0.9,1,0.3\nAlien,0.9,-1,-1\n",
    "sentences.txt": "I am a robot\nWhat is this? This is a sentence\n",
}
# The commands in docs/five-documents.md, and whether there is a picture.
STEPS = {
    "curves": ([], True),
    "vocabulary": (["vocabulary --file sentences.txt", "tokenize --vocabulary vocabulary.json -- 'What is a sextant'"], False),
    "similarity": (["similarity --vectors colours.vec --positions 2,10 -- black brown"], False),
    "padding": (["embed -- 'the black cat sat' 'the cat'"], False),
    "recommendation": (["recommend --users users.csv --items films.csv"], True),
    "arithmetic": (["similarity --vectors words.vec --nearest 'king - boy + girl'"], False),
    "unlearned": (["attend --vectors words.vec --format text -- 'king boy girl queen'"], True),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_prints_what_the_command_line_prints(explorer, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file, text in FILES.items():
        pathlib.Path(file).write_text(text)
    sextant("vocabulary", "--file", "sentences.txt", "-o", "vocabulary.json")
    commands, has_picture = STEPS[name]
    one = explorer()
    page = one.open(f"view=documents&part={name}")
    page.locator(".exports button").first.wait_for(timeout=30000)
    printed = page.locator("pre.table")
    assert printed.is_visible() == bool(commands)
    assert printed.inner_text().strip() == "\n".join(sextant(*shlex.split(command)) for command in commands).strip()
    assert page.locator(".picture svg").count() == int(has_picture)
    assert one.problems == []


def test_a_step_follows_its_fields_and_the_link_holds_them(explorer):
    one = explorer()
    page = one.open("view=documents&part=arithmetic")
    page.get_by_label("Sum").fill("queen - girl + boy")
    page.wait_for_function("() => document.querySelector('pre.table').textContent.startsWith('king')")
    assert "d.sum=queen" in page.evaluate("location.hash")
    assert "--nearest 'queen - girl + boy'" in page.locator(".exports pre").first.inner_text()
    page = explorer().open("view=documents&part=similarity&d.exponent=doubled&d.positions=2,10")
    page.locator(".exports button").first.wait_for(timeout=30000)
    assert "--exponent doubled" in page.locator(".exports pre").first.inner_text()


def test_what_is_wrong_is_said(explorer):
    one = explorer()
    page = one.open("view=documents&part=arithmetic&d.sum=king - tiger")
    page.locator(".verdict.bad").wait_for(timeout=30000)
    assert "tiger" in page.locator(".verdict.bad").inner_text()
    page.get_by_label("Sum").fill("king - boy + girl")
    page.wait_for_function("() => document.querySelector('pre.table').textContent.startsWith('queen')")
    assert page.locator(".verdict.bad").count() == 0
    assert one.problems == []
