"""What a reader meets in the explorer: every view, its numbers beside the command line's, keys, names, hostile input."""
import base64
import json
import pathlib
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import PAGE, READY, ROOT, VIEWS, sextant, sextant_json

SENTENCES = ("the dog chased the cat and the cat ran away .", "the cat chased the dog and the cat ran away .")


def run(page, *arguments, read=()):
    """What the page's own program answers: {code, out, err, files}."""
    return page.evaluate("([args, read]) => explorer.engine.run(args, {read})", [list(arguments), list(read)])


@pytest.mark.parametrize("file, view", [*((PAGE, view) for view in VIEWS), *((ROOT / "out" / "explorer" / "index.html", view) for view in ("", "view=model", "view=lengths"))],
                         ids=lambda value: value if isinstance(value, str) else value.parent.name)
def test_a_view_opens_from_a_file_and_asks_the_network_for_nothing(explorer, file, view):
    one = explorer(page_file=file)
    page = one.open(view)
    page.wait_for_selector(READY)
    assert page.locator("#message").inner_text() == ""
    folder = file.parent.as_uri()
    assert [url for url in one.requests if not url.startswith((folder, "about:", "blob:", "data:"))] == []
    assert one.problems == []


def test_the_verdict_has_the_digits_of_the_command_line(shared):
    page = shared.show("view=order")
    page.wait_for_selector(".verdict[data-having]")
    verdict = page.locator(".verdict")
    for scheme, attribute in (("none", "without"), ("sinusoidal", "having")):
        native = sextant_json("compare", "--scheme", scheme, "--split", "spaces", "--", *SENTENCES)
        assert float(verdict.get_attribute("data-" + attribute)) == native["largest_difference"]


@pytest.mark.parametrize("arguments", [
    ["compare", "--lab", "the zebra chased the lion .", "the lion chased the zebra ."],
    ["plot", "heatmap", "--scheme", "sinusoidal", "--length", "20", "--width", "16", "--format", "csv"],
    ["plot", "heatmap", "--scheme", "rotary_yarn", "--length", "9", "--first", "1000000", "--format", "json"],
    ["plot", "distance", "--schemes", "alibi,t5,kerple_log", "--length", "30", "--format", "csv"],
    ["attend", "the cat sat on the mat", "--scheme", "alibi", "--causal", "--json"],
    ["translate", "--model", "shipped", "the fifth of june two thousand and one"],
    ["list"],
    ["tokenize", "Don't stop. Ünïcode words: 日本語 🎉"],
], ids=lambda arguments: " ".join(arguments[:2]))
def test_commands_print_what_the_native_program_prints(shared, arguments):
    answer = run(shared.page if shared.requests else shared.open(), *arguments)
    assert answer["code"] == 0, answer["err"]
    assert answer["out"] == sextant(*arguments)


def without_images(svg):
    """Images are compressed by zlib in the one and stored in the other; their pixels are tested in C++."""
    return re.sub(r'base64,[^"]*', "", svg)


def test_pictures_are_those_of_the_native_program(shared, tmp_path):
    page = shared.show("")
    for scheme in ("alibi", "rotary"):
        arguments = ["attend", "a b c a", "--scheme", scheme, "-o"]
        answer = run(page, *arguments, "/a.svg", read=["/a.svg"])
        sextant(*arguments, str(tmp_path / "a.svg"))
        assert without_images(answer["files"]["/a.svg"]) == without_images((tmp_path / "a.svg").read_text())


def test_a_newcomer_swaps_two_words_and_sees_the_verdict_change(shared):
    page = shared.show("view=order")
    page.wait_for_selector(".verdict[data-having]")
    before = page.locator(".verdict").inner_text()
    assert "Without positions: the same output" in before and "apart" in before
    chips = page.locator(".chips button")
    chips.nth(2).click()
    chips.nth(4).click()
    page.wait_for_function("(before) => document.querySelector('.verdict').textContent !== before", arg=before)
    assert "Without positions: the same output" in page.locator(".verdict").inner_text()
    assert "order=" in page.url


def test_keys_move_words_and_change_views(shared):
    page = shared.show("view=order")
    page.wait_for_selector(".verdict[data-having]")
    chips = page.locator(".chips button")
    first = chips.nth(0).inner_text()
    chips.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert chips.nth(1).inner_text() == first
    page.locator("[role=tab][aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("html[data-view=positions]")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Positions"


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_tab_reaches_every_control(explorer, view):
    one = explorer()
    one.open(view)
    page = one.settled()
    reach = page.evaluate("""() => [...document.querySelectorAll('button, select, input, textarea, summary')].filter(
      (one) => !one.disabled && one.checkVisibility() && one.tabIndex >= 0).length""")
    seen = set()
    page.locator("body").click(position={"x": 1, "y": 1})
    for _ in range(3 * reach + 20):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("() => { const all = [...document.querySelectorAll('*')]; return all.indexOf(document.activeElement); }"))
    controls = page.evaluate("""() => { const all = [...document.querySelectorAll('*')]; return [...document.querySelectorAll(
      'button, select, input, textarea, summary')].filter((one) => !one.disabled && one.checkVisibility() && one.tabIndex >= 0).map((one) => all.indexOf(one)); }""")
    assert set(controls) <= seen


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(explorer, view, scheme):
    one = explorer(scheme=scheme)
    one.open(view)
    page = one.settled()
    for details in page.locator("details").all():
        details.evaluate("(one) => { one.open = true; }")
    one.settled()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found] == []


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "   ", "-", "--help", "שלום עולם שלום", "🎉 🎊 🎉", "a" * 3000, "<script>alert(1)</script> <b>", "\x00\x01 \u202e x"])
@pytest.mark.parametrize("view", ["view=order", "view=attention"])
def test_any_text_is_shown_or_refused_in_words(explorer, view, text):
    one = explorer()
    page = one.open(view)
    page.locator("textarea").first.fill(text)
    one.settled()
    assert page.locator("#view").inner_text().strip() != ""
    assert one.problems == []


@pytest.mark.slow
def test_ten_megabytes_do_not_stop_the_page(explorer):
    one = explorer()
    page = one.open("view=attention")
    one.picture()
    page.locator("textarea").first.select_text()
    page.keyboard.insert_text("word " * 2_000_000)  # as a paste: the browser keeps 20,000 characters
    page.locator(".field .problem", has_text="Only the first 2048 of 4000 words are used").wait_for(timeout=60000)
    page.wait_for_function("() => document.querySelector('pre')?.textContent.split('word').length > 2000", timeout=120000)
    one.picture()
    assert one.problems == []


def test_a_wrong_number_is_refused_beside_the_picture(explorer):
    page = explorer().open("view=positions&p.base=nan")
    page.locator(".verdict.bad").wait_for()
    assert "base" in page.locator(".verdict.bad").inner_text()
    page = explorer(width=1, height=1).open("view=positions&width=7&length=0")
    page.locator(".verdict.bad").wait_for()
    assert "length" in page.locator(".verdict.bad").inner_text()


@pytest.mark.parametrize("fragment", ["view=nothing", "view=positions&scheme=nothing", "view=positions&plot=nothing", "%%%", "view=attention&heads=x&head=99"])
def test_a_broken_address_shows_something(explorer, fragment):
    one = explorer()
    page = one.open(fragment)
    page.wait_for_selector(READY + ", .verdict.bad")
    assert page.locator("#view").inner_text().strip() != ""
    assert one.problems == []


def test_a_link_holds_the_whole_state(explorer):
    page = explorer().open("view=positions&scheme=alibi&heads=3&length=12")
    page.wait_for_selector(".picture svg")
    assert page.locator("select").first.input_value() == "alibi"
    command = page.locator("pre").first.inner_text()
    assert command == "sextant plot heatmap --scheme alibi --length 12 --first 0 --heads 3 -o positions.svg"


def test_saved_numbers_are_those_of_the_command(shared, tmp_path):
    page = shared.show("view=positions&scheme=sinusoidal&length=5&width=6")
    page.wait_for_selector(".picture svg")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    saved = pathlib.Path(download.value.path()).read_text()
    assert saved == sextant("plot", "heatmap", "--length", "5", "--first", "0", "--width", "6", "--format", "csv")
    for name, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert pathlib.Path(download.value.path()).read_bytes().startswith(start)


def test_a_picture_saved_on_a_dark_screen_has_the_colors_of_paper(explorer):
    one = explorer(scheme="dark")
    page = one.open("view=positions&scheme=alibi&length=5&heads=2")
    one.picture()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    png = base64.b64encode(pathlib.Path(download.value.path()).read_bytes()).decode()
    dark, light = page.evaluate("""async (png) => {
      const image = new Image();
      image.src = 'data:image/png;base64,' + png;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      const {data} = context.getImageData(0, 0, image.width, 80), lightness = [];  // the title on its paper
      for (let i = 0; i < data.length; i += 4) lightness.push((data[i] + data[i + 1] + data[i + 2]) / 3);
      return [lightness.filter((one) => one < 80).length / lightness.length, lightness.filter((one) => one > 240).length / lightness.length];
    }""", png)
    assert light > 0.9 and 0.001 < dark < 0.1, (light, dark)


def test_hovering_reads_the_exact_number(shared):
    one = shared
    page = one.show("view=positions&length=8&width=8")
    one.picture()
    map_of = page.locator(".picture [data-rows]")
    map_of.scroll_into_view_if_needed()
    box = map_of.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.99, box["y"] + box["height"] * 0.99)
    values = sextant_json("plot", "heatmap", "--length", "8", "--width", "8")["values"]
    page.wait_for_function("(text) => document.querySelector('.reading').textContent === text", arg=f"row 7, column 7: {json.dumps(values[7][7])}")


def test_a_value_set_before_the_page_hears_of_a_link_does_not_undo_it(explorer):
    page = explorer().open("view=model&at=1")
    kept = page.evaluate("""() => {
      location.hash = 'view=train&width=16';
      explorer.state.set({at: null});
      return [location.hash, explorer.state.get('width')];
    }""")
    assert kept == ["#view=train&width=16", "16"]
    page.wait_for_selector("html[data-view=train]")
    assert page.get_by_label("width", exact=True).input_value() == "16"


def test_the_list_of_schemes_is_the_programs(explorer):
    page = explorer().open()
    listed = sextant("list", "--json")
    assert page.evaluate("() => sextant_list") == json.loads(listed)
    assert page.evaluate("async () => (await explorer.engine.run(['list', '--json'])).out") == listed


@pytest.mark.parametrize("command, view, words", [
    ("attend", "view=attention", ["causal", "heads", "width", "hide", "window", "temperature", "softcap", "sinks", "seed"]),
    ("generate", "view=model&model=plays&max-tokens=3", ["max-tokens", "temperature", "top-k", "seed"]),
    ("train", "view=train", ["steps", "width", "layers", "rate", "seed"])])
def test_controls_are_made_of_the_option_tables(shared, command, view, words):
    page = shared.show(view)
    options = {one["option"].removeprefix("--"): one for one in sextant_json("list", "--options", command)}
    for word in words:
        control, option = page.get_by_label(word, exact=True), options[word]
        control.wait_for(state="attached")
        help_id = control.get_attribute("aria-describedby").split()[0]
        assert page.locator("#" + help_id).text_content() == f"{option['meaning']} ({option['range']})"
        if option["values"]["type"] == "integer":
            assert control.get_attribute("min") == str(option["values"]["min"])
        if option["values"]["type"] != "flag":
            assert control.get_attribute("placeholder") == str(option["default"]).removesuffix(".0")
