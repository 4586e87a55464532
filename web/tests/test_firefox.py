"""Every view in Debian's Firefox."""
import json
import os

import pytest

import firefox
from conftest import PAGE, READY, VIEWS, sextant_json

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


def test_numbers_are_those_of_the_command_line(browser):
    browser.open(PAGE.as_uri())
    browser.wait_for("document.documentElement.dataset.engine === 'ready'")
    browser.run("""explorer.engine.run(['attend', 'the cat sat', '--scheme', 'rotary', '--step', 'output', '--json'])
      .then((answer) => { document.documentElement.dataset.answer = answer.out; }); return null;""")
    found = json.loads(browser.wait_for("document.documentElement.dataset.answer"))
    assert found == sextant_json("attend", "the cat sat", "--scheme", "rotary", "--step", "output")
