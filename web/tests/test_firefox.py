"""Every view in Debian's Firefox."""
import json
import os

import pytest

import firefox
from conftest import PAGE, READY, ROOT, VIEWS, sextant_json

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    if firefox.PROGRAM is None:
        assert "CI" not in os.environ, "no Firefox: Debian's package is firefox-esr"
        pytest.skip("no Firefox: Debian's package is firefox-esr")
    one = firefox.Firefox()
    yield one
    one.close()


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_opens(browser, view):
    browser.open(PAGE.as_uri() + ("#" + view if view else ""))
    browser.wait_for(f"document.querySelector('{READY}') !== null")
    assert browser.run("return document.getElementById('message').textContent") == ""
    assert browser.run("return document.querySelector('.verdict.bad')?.textContent ?? null") is None


TAB, ENTER = "\ue004", "\ue007"


def press_until(browser, script, key=TAB):
    for _ in range(80):
        browser.press(key)
        if browser.run("return " + script):
            return
    raise AssertionError(script)


def test_the_lesson_is_walked_to_its_end_by_keys(browser):
    browser.open(PAGE.as_uri() + "#lesson=1")
    steps = json.loads((ROOT / "src" / "figures" / "report" / "page" / "lesson.json").read_text())["steps"]
    for number, step in enumerate(steps, 1):
        browser.wait_for(f"document.querySelector('.stage:not([aria-busy]) h3')?.textContent === {json.dumps(str(number) + '. ' + step['title'])}")
        press_until(browser, "document.activeElement.matches('.question button')")
        browser.press(ENTER)
        browser.wait_for("document.querySelector('.stage:not([aria-busy]) .answer')?.textContent !== ''")
        assert step["reason"] in browser.run("return document.querySelector('.answer').textContent")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        if number < len(steps):
            press_until(browser, "document.activeElement.matches('.next')")
            browser.press(ENTER)


def test_ten_numbers_unfold_to_those_of_the_command_line(browser):
    browser.open(PAGE.as_uri() + "#lesson=7&answers=0.0.0.0.0.0.0&box=q")
    browser.wait_for("document.querySelector('.stage:not([aria-busy]) .flow td[data-step=q]') !== null")
    steps = sextant_json("attend", "--split", "spaces", "--width", "8", "--heads", "2", "--seed", "9", "--step", "all", "--", "the dog chased the cat")["steps"]
    cells = [("q", 0, row, column) for row in (0, 4) for column in (0, 3)] + [("mixed", 0, 4, column) for column in (0, 2)] + [("output", None, 4, column) for column in (1, 7)] + [
        ("v", 0, 2, 2), ("weights", 0, 4, 3)]
    for step, head, row, column in cells:
        of_head = "" if head is None else f"[data-head='{head}']"
        browser.run(f"document.querySelector(`.numbers td[data-step={step}]{of_head}[data-row='{row}'][data-column='{column}']`).click()")
        found = json.loads(browser.run("return document.querySelector('.unfolded output').dataset.value"))
        assert found == (steps[step] if head is None else steps[step][head])[row][column], step
        assert browser.run("return document.querySelector('.unfolded math')?.namespaceURI") == "http://www.w3.org/1998/Math/MathML"


def test_numbers_are_those_of_the_command_line(browser):
    browser.open(PAGE.as_uri() + "#view=order")
    browser.wait_for("document.documentElement.dataset.engine === 'ready'")
    browser.run("""explorer.engine.run(['attend', 'the cat sat', '--scheme', 'rotary', '--step', 'output', '--json'])
      .then((answer) => { document.documentElement.dataset.answer = answer.out; }); return null;""")
    found = json.loads(browser.wait_for("document.documentElement.dataset.answer"))
    assert found == sextant_json("attend", "the cat sat", "--scheme", "rotary", "--step", "output")
