"""Every view at three widths, light and dark, beside goldens, and its words; and that nothing is wider than the window."""
import pytest

import goldens
from conftest import VIEWS

pytestmark = pytest.mark.slow
SCREENS = {"lesson": "", "lesson-output": "lesson=7&answers=0.0.0.0.0.0.0", "order": "view=order", "positions": "view=positions&length=32&width=32", "positions-beside": "view=positions&length=32&width=32&beside1=sinusoidal&p1.exponent=doubled",
           "attention": "view=attention&text=the+black+cat+sat+on+the+couch", "attention-scores": "view=attention&text=the+black+cat+sat+on+the+couch&scheme=alibi&step=biased&causal=yes",
           "model": "view=model", "model-off": "view=model&off=yes", "plays": "view=model&model=plays&max-tokens=12",
           "train": "view=train", "trained": "view=train&task=sort&steps=50&a=none&b=alibi&width=16", "lengths": "view=lengths",
           "documents": "view=documents&part=unlearned"}


def settle(page, name):
    if name == "trained":
        page.locator("button.start").click()
        page.locator(".verdict:not([hidden])").wait_for(timeout=120000)
    if name.startswith("lesson"):
        page.wait_for_selector(".stage:not([aria-busy]) .question")
    elif name != "train":  # which shows neither picture nor exports before it begins
        page.wait_for_selector(".exports pre")
        page.wait_for_function("() => document.querySelectorAll('.picture:not([hidden]):empty').length === 0")
    page.wait_for_function("() => document.querySelectorAll('[aria-busy]').length === 0")
    page.wait_for_timeout(400)
    page.evaluate("() => document.fonts.ready")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1000, 1600])
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_its_golden(explorer, name, width, scheme):
    page = explorer(width=width, height=900, scheme=scheme, reduced_motion="reduce").open(SCREENS[name])
    settle(page, name)
    goldens.check(page, f"{name}-{width}-{scheme}", 0.4 if width < 1600 else 0.3)


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_says_its_words(explorer, name):
    page = explorer(width=1000, height=900, reduced_motion="reduce").open(SCREENS[name])
    settle(page, name)
    goldens.check_words(page, name)


@pytest.mark.parametrize("width", [360, 1000, 1600, 3840])
@pytest.mark.parametrize("view", VIEWS)
def test_the_page_is_not_wider_than_the_window(explorer, view, width):
    one = explorer(width=width, height=800)
    one.open(view)
    page = one.settled()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 390, 1000])
@pytest.mark.parametrize("name", [name for name in SCREENS if name not in ("train", "trained") and not name.startswith("lesson")])
def test_no_picture_scrolls_sideways(explorer, name, width):
    page = explorer(width=width, height=844, reduced_motion="reduce").open(SCREENS[name])
    settle(page, name)
    wide = "() => [...document.querySelectorAll('.picture')].filter((one) => one.offsetParent && one.scrollWidth > one.clientWidth).length"
    assert page.evaluate(wide) == 0
