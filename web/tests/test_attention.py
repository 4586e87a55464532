"""Attention, step by step: every step beside the command line, masks by hand, options, two texts."""
import json
import os
import pathlib
import subprocess

import pytest

from conftest import PROGRAM, same_picture, sextant, sextant_json

TEXT = "the cat sat on the mat"
STEPS = ["embeddings", "positions", "inputs", "q", "k", "v", "rotated_q", "rotated_k", "scores", "from_positions", "capped", "biased", "mixed", "output"]


def opened(shared, fragment=""):
    page = shared.show("view=attention&text=" + TEXT.replace(" ", "+") + fragment)
    shared.picture()
    return page


def native(*more):
    return ["attend", *more, "--split", "spaces", "--heads", "4", "--seed", "7"]


@pytest.mark.parametrize("scheme", ["rotary", pytest.param("sinusoidal", marks=pytest.mark.slow), pytest.param("alibi", marks=pytest.mark.slow)])
def test_every_step_is_the_program_s_picture(shared, scheme, tmp_path):
    page = opened(shared, "&scheme=" + scheme)
    for step in STEPS:
        page.locator(f".steps [data-step={step}]").click()
        page.wait_for_function("(step) => document.querySelector(`[data-step=${step}]`).ariaPressed === 'true' && !document.querySelector('.picture').ariaBusy", arg=step)
        path = tmp_path / "a.svg"
        sextant(*native("--scheme", scheme), "--step", step, "-o", str(path), "--", TEXT)
        same_picture(page.locator(".picture svg").first, path.read_text())
        assert f"step={step}" in page.url


def test_small_pictures_of_steps_are_red_above_0_and_blue_below(shared):
    page = opened(shared, "&step=q")
    page.wait_for_selector(".steps [data-step=q] canvas")
    values = sextant_json(*native("--scheme", "sinusoidal"), "--step", "q", "--", TEXT)["values"][0]
    pixels = page.evaluate("""() => { const canvas = document.querySelector('.steps [data-step=q] canvas'), {width, height} = canvas;
      return [width, height, [...canvas.getContext('2d').getImageData(0, 0, width, height).data]]; }""")
    width, height, data = pixels
    seen = [(value, data[4 * (row * width + column):][:4]) for row in range(height) for column, value in enumerate(values[row][:width])]
    clear = [(value, red - blue) for value, (red, _, blue, alpha) in seen if alpha > 60]
    assert len(clear) > 10 and {value > 0 for value, _ in clear} == {True, False}
    assert [value > 0 for value, _ in clear] == [warm > 0 for _, warm in clear]


def read_cell(page, *keys):
    page.locator(".picture").first.focus()
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(60)
    return page.locator(".reading", has_text="→").last.inner_text()


@pytest.mark.parametrize("step", ["q", "scores", "output"])
def test_keys_read_the_exact_numbers(shared, step):
    page = opened(shared, "&scheme=rotary&step=" + step)
    found = read_cell(page, "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight")
    values = sextant_json(*native("--scheme", "rotary"), "--step", step, "--", TEXT)["values"]
    table = values if step == "output" else values[0]
    assert found.endswith(": " + json.dumps(table[1][2])), found


def test_words_keep_their_case_as_on_the_command_line(shared):
    page = shared.show("view=attention&text=I+am+a+robot&step=q")
    shared.picture()
    found = read_cell(page, "ArrowDown")
    upper, lower = (sextant_json(*native("--scheme", "sinusoidal"), "--step", "q", "--", text)["values"][0][0][0] for text in ("I am a robot", "i am a robot"))
    assert found == f"head 0, 'I' → channel 0: {json.dumps(upper)}" and upper != lower


def test_a_click_hides_a_pair_and_shows_it_again(shared):
    page = opened(shared, "&step=biased&head=0")
    read_cell(page, "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Enter")
    page.wait_for_function("() => location.hash.includes('hide=1%3A2')")
    page.locator(".reading", has_text="hidden").wait_for()
    masked = sextant_json(*native("--scheme", "sinusoidal", "--hide=1:2", "--head", "0"), "--step", "biased", "--", TEXT)
    assert masked["values"][0][1][2] is None
    page.locator(".picture").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => !location.hash.includes('hide=')")


def test_a_pointer_paints_too(shared):
    page = opened(shared, "&step=biased&head=0")
    group = page.locator(".picture [data-rows]").first
    group.scroll_into_view_if_needed()
    box = page.evaluate("""() => { const {x, y, width, height} = document.querySelector('.picture [data-rows]').dataset;
      const matrix = document.querySelector('.picture svg').getScreenCTM(), at = new DOMPoint(+x + width * 0.99, +y + height * 0.99).matrixTransform(matrix);
      return [at.x, at.y]; }""")
    page.mouse.click(*box)
    page.wait_for_function("() => location.hash.includes('hide=5%3A5')")


OPTIONS = {"causal": ("causal=yes", ["--causal"]), "window": ("window=1,0", ["--window=1,0"]), "temperature": ("temperature=0.5", ["--temperature=0.5"]),
           "softcap": ("softcap=2", ["--softcap=2"]), "sinks": ("sinks=1", ["--sinks=1"]), "second": ("second=a+dog+ran", ["--second", "a dog ran"]),
           "head": ("head=2", ["--head", "2"])}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_those_of_the_command(shared, name):
    fragment, options = OPTIONS[name]
    page = opened(shared, "&" + fragment)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    saved = pathlib.Path(download.value.path()).read_text(encoding="utf-8")
    expected = sextant(*native("--scheme", "sinusoidal"), *options, "--format", "csv", "--", TEXT)
    if name == "softcap":  # the hyperbolic tangent is that of each standard library, good to two units in the last place
        saved, expected = ([float(value) for value in text.replace("\n", ",").split(",") if value] for text in (saved, expected))
        assert saved == pytest.approx(expected, rel=1e-14)
    else:
        assert saved == expected


def test_what_is_wrong_stands_beside_its_control(shared):
    page = opened(shared)
    page.locator("details", has_text="Options").locator("summary").first.click()
    for label, wrong, says in [("temperature", "0", "above 0"), ("window", "1", "two"), ("softcap", "nan", "finite"), ("hide", "9:9", "below 6"),
                               ("sinks", "1,2,3", "one per head"), ("heads", "3", "divide"), ("width", "0", "at least 1")]:
        field = page.locator(".field", has=page.get_by_label(label, exact=True))
        field.locator("input").fill(wrong)
        field.locator(".problem:not(:empty)").wait_for()
        assert says in field.locator(".problem").inner_text(), label
        field.locator("input").fill("")
        page.wait_for_function("() => document.querySelectorAll('.problem:not(:empty)').length === 0")


def test_lines_show_the_same_weights(shared, tmp_path):
    page = opened(shared, "&form=lines")
    sextant(*native("--scheme", "sinusoidal"), "--lines", "-o", str(tmp_path / "a.svg"), "--", TEXT)
    same_picture(page.locator(".picture svg").first, (tmp_path / "a.svg").read_text())


def test_the_command_makes_the_picture_in_a_shell(explorer, tmp_path):
    page = explorer().open("view=attention&text=the+cat's+$HOME+%22mat%22&scheme=alibi&p.max_bias=4&causal=yes&window=2,0&hide=3:1,*:0&head=1")
    page.wait_for_selector(".picture:not([aria-busy]) svg")
    command = page.locator("pre[aria-label=Command]").text_content()
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "SEXTANT_TARGET": "SSSE3"}
    subprocess.run(command, shell=True, check=True, cwd=tmp_path, env=environment)
    same_picture(page.locator(".picture svg").first, (tmp_path / "attention.svg").read_text())
    assert "cat's" in page.locator(".picture svg").first.text_content()


def test_a_window_of_one_word_by_one(shared):
    page = opened(shared, "&window=0,0&step=weights")
    assert page.locator(".picture svg").count() == 1
    assert "100.0 % of its attention" in page.locator(".tinted .reading").inner_text()


def test_the_lines_of_code_name_what_is_shown(shared):
    page = opened(shared, "&scheme=alibi&causal=yes&window=2,0&hide=3:1&step=biased")
    cpp = page.locator("pre[aria-label='C++']").text_content()
    for line in ('options.schemes = {{"alibi", {}}};', "options.causal = true;", "options.window = {2,0};", "options.hidden = {{3, 1}};", "AttentionStep::biased"):
        assert line in cpp, cpp
