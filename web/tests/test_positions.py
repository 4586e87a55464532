"""Positions: schemes side by side, differences, exact numbers, the offset matrix at work."""
import json
import re

import pytest

from conftest import same_picture, sextant, sextant_json


def opened(shared, fragment):
    page = shared.show("view=positions" + fragment)
    shared.picture()
    return page


def drawn(page):
    return page.locator(".beside .picture:not([hidden]) svg")


def test_four_schemes_stand_side_by_side(shared, tmp_path):
    page = opened(shared, "&length=10&scheme=alibi&beside1=t5&beside2=rotary&p2.base=500&beside3=sinusoidal")
    page.wait_for_function("() => document.querySelectorAll('.beside .picture:not([hidden]):not([aria-busy]) svg').length === 4")
    commands = [["alibi", "--heads", "8"], ["t5", "--heads", "8"], ["rotary", "--scheme-base=500", "--head-dim", "64"], ["sinusoidal", "--width", "64"]]
    for picture, (scheme, *more) in zip(drawn(page).all(), commands):
        path = tmp_path / "a.svg"
        sextant("plot", "heatmap", "--scheme", scheme, "--length", "10", *more, "-o", str(path))
        same_picture(picture, path.read_text())
    assert page.locator("pre").first.inner_text().count("sextant plot") == 4


@pytest.mark.parametrize("kind", ["sinusoids", "rows", "similarity", "distance", "offset-matrix"])
def test_every_picture_is_the_program_s(shared, kind, tmp_path):
    page = opened(shared, f"&plot={kind}&length=24&width=16")
    line = page.locator("pre").first.inner_text().split()[1:-2]
    path = tmp_path / "a.svg"
    sextant(*line, "-o", str(path))
    same_picture(drawn(page).first, path.read_text())


def test_angles_in_float32_at_a_million(shared):
    page = opened(shared, "&plot=difference&beside1=sinusoidal&p1.precision=framework&first=1000000&width=16")
    native = sextant_json("plot", "difference", "--schemes", "sinusoidal,sinusoidal:precision=framework", "--length", "64", "--first", "1000000", "--width", "16")
    page.locator(".meaning", has_text=json.dumps(native["largest"]["difference"])).wait_for()
    assert native["largest"]["difference"] > 1e-3


def test_the_length_at_which_a_scaling_starts_to_differ(shared):
    page = opened(shared, "&scheme=rotary&plot=difference&beside1=rotary_dynamic_ntk&p1.max_length=64&length=64&width=16")
    page.locator(".meaning", has_text="the same for 64 positions. They start to differ at length 65").wait_for()
    slider = page.get_by_role("slider", name="Length, slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.locator(".meaning", has_text="Of 65 positions they differ by at most").wait_for()
    assert "length=65" in page.url


def test_the_offset_matrix_is_at_work(shared):
    page = opened(shared, "&plot=at-work&shift=5&position=1000000&width=16")
    native = sextant_json("plot", "offset-matrix", "--shift", "5", "--position", "1000000", "--width", "16")
    picture = page.locator(".picture").first
    picture.focus()
    for key in ["ArrowRight"] * 3 + ["ArrowDown"]:
        page.keyboard.press(key)
    page.locator(".reading", has_text="row 1, column 2").wait_for()
    assert page.locator(".reading").inner_text() == f"row 1, column 2: {json.dumps(native['values'][1][2])}"


def test_the_link_of_each_example_works(shared):
    page = opened(shared, "")
    links = page.locator(".examples a")
    for i in range(links.count()):
        target = links.nth(i).get_attribute("href")
        links.nth(i).click()
        page.wait_for_function("(target) => location.hash === target", arg=target)
        page.wait_for_selector(".picture:not([hidden]):not([aria-busy]) svg, .verdict.bad")
        assert page.locator(".verdict.bad").count() == 0


def test_a_second_scheme_is_asked_for(explorer):
    page = explorer().open("view=positions&plot=difference")
    page.locator(".verdict.bad", has_text="Choose a second scheme").wait_for()


def test_the_lines_of_code_name_what_is_shown(shared):
    page = opened(shared, "&scheme=rotary&p.base=500&length=9&width=8")
    python, cpp = (re.sub(r"\s+", " ", page.locator(f"pre[aria-label='{name}']").text_content()) for name in ("Python", "C++"))
    assert python == 'import sextant picture = sextant.plot.heatmap({"rotary": {"base": 500}}, length=9, head_dim=8)'
    assert 'plot_scheme({"rotary", {{"base", "500"}}}, {.length = 9, .head_dim = 8});' in cpp


@pytest.mark.parametrize("view", ["view=positions&length=9&width=8", "view=attention", ""])
def test_another_scheme_begins_with_its_own_parameters(explorer, view):
    one = explorer()
    page = one.open(view + "&scheme=rotary&p.base=500")
    page.locator("pre", has_text="--scheme rotary --scheme-base=500").first.wait_for()
    page.locator("select", has=page.locator("option[value=sinusoidal]")).first.select_option("sinusoidal")
    page.locator("pre", has_text="--scheme sinusoidal").first.wait_for()
    assert "--scheme-base" not in page.locator("pre[aria-label=Command]").first.text_content()
    assert "p.base" not in page.url
