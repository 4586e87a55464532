"""Does order matter? Words that are moved, the verdict, the sum, the toy model."""
import pathlib

import pytest

from conftest import same_picture, sextant, sextant_json

FIRST = "the dog chased the cat and the cat ran away ."


def words_of(page):
    return page.locator(".chips button").all_inner_texts()


def opened(shared, fragment="view=order"):
    page = shared.show(fragment)
    page.wait_for_selector(".verdict[data-having]")
    return page


def test_the_sums_are_the_program_s_pictures(shared, tmp_path):
    page = opened(shared)
    page.wait_for_function("() => document.querySelectorAll('.picture svg').length === 2")
    second = " ".join(words_of(page))
    for picture, scheme in zip(page.locator(".picture svg").all(), ("none", "sinusoidal")):
        path = tmp_path / "sum.svg"
        sextant("compare", "--scheme", scheme, "--split", "spaces", "-o", str(path), "--", FIRST, second)
        same_picture(picture, path.read_text())


def test_a_word_is_dragged_by_the_pointer(shared):
    page = opened(shared)
    before, verdict = words_of(page), page.locator(".verdict").inner_text()
    chips = page.locator(".chips button")
    begin, end = chips.nth(1).bounding_box(), chips.nth(5).bounding_box()
    page.mouse.move(begin["x"] + 8, begin["y"] + 8)
    page.mouse.down()
    for part in range(1, 11):
        page.mouse.move(begin["x"] + 8 + (end["x"] - begin["x"]) * part / 10, begin["y"] + 8 + (end["y"] - begin["y"]) * part / 10)
        page.wait_for_timeout(30)
    page.mouse.up()
    after = words_of(page)
    assert sorted(after) == sorted(before) and after != before
    assert after.index(before[1], 2) == 5
    page.wait_for_function("(before) => document.querySelector('.verdict').textContent !== before", arg=verdict)
    assert page.locator(".chips [aria-pressed=true]").count() == 0, "a drag is no click"
    assert page.locator(".chips .dragged").count() == 0
    order = page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('order')")
    assert [FIRST.split()[int(i)] for i in order.split(".")] == after, "the link has the word where it was dropped"
    native = sextant_json("compare", "--scheme", "sinusoidal", "--split", "spaces", "--", FIRST, " ".join(after))
    page.wait_for_function("(value) => Number(document.querySelector('.verdict').dataset.having) === value", arg=native["largest_difference"])


def test_keys_move_a_word_and_keep_it_in_hand(shared):
    page = opened(shared)
    word = words_of(page)[0]
    page.locator(".chips button").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert words_of(page)[2] == word
    assert page.evaluate("() => document.activeElement.textContent") == word
    page.keyboard.press("Enter")
    assert page.locator(".chips button").nth(2).get_attribute("aria-pressed") == "true"


def test_the_link_holds_the_order(explorer, shared):
    page = opened(shared)
    page.locator(".chips button").first.focus()
    page.keyboard.press("ArrowRight")
    fragment, words = page.url.split("#")[1], words_of(page)
    anew = explorer().open(fragment)
    anew.wait_for_selector(".verdict[data-having]")
    assert words_of(anew) == words


@pytest.mark.parametrize("scheme", ["", "rotary"])
def test_the_toy_model_has_every_digit(shared, scheme):
    page = opened(shared, "toy=" + scheme if scheme else "toy1=the+zebra+chased+the+lion+.")
    more = ["--scheme", scheme, "--width", "12"] if scheme else []
    page.wait_for_function("() => document.getElementById('toy').textContent !== ''")
    assert page.locator("#toy").text_content() == sextant("compare", "--lab", *more, "--", "the zebra chased the lion .", "the lion chased the zebra .")


def test_a_capital_makes_no_other_word(shared):
    page = opened(shared, "text=The+dog+chased+the+Cat+.")
    assert sorted(words_of(page)) == sorted("the dog chased the cat .".split())
    having = float(page.locator(".verdict").get_attribute("data-having"))
    native = sextant_json("compare", "--scheme", "sinusoidal", "--split", "spaces", "--", "the dog chased the cat .", " ".join(words_of(page)))
    assert having == native["largest_difference"]


def test_the_toy_model_refuses_a_word_beside_its_field(shared):
    page = opened(shared, "toy1=the+cat")
    page.locator(".problem", has_text="but not 'cat'").wait_for()


@pytest.mark.parametrize("kind,read", [("CSV", "csv"), ("SVG", "svg")])
def test_what_is_saved_is_what_the_command_writes(shared, kind, read):
    page = opened(shared)
    page.wait_for_function("() => document.querySelectorAll('.picture svg').length === 2")
    page.wait_for_selector(".exports button")
    with page.expect_download() as download:
        page.get_by_role("button", name=kind, exact=True).click()
    saved = pathlib.Path(download.value.path()).read_text(encoding="utf-8")
    second = " ".join(words_of(page))
    native = sextant("compare", "--scheme", "sinusoidal", "--split", "spaces", "--format", read, "--", FIRST, second)
    if read == "csv":
        assert saved == native
    else:
        assert saved.startswith("<svg")
