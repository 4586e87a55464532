"""The lesson: walked by keyboard, its numbers beside the command line's, its address, its pictures on a phone."""
import json
import math

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import ROOT, sextant_json

WORDS = json.loads((ROOT / "src" / "figures" / "report" / "page" / "lesson.json").read_text())
STEPS = len(WORDS["steps"])
ANSWERED = "&answers=" + ".".join(["0"] * STEPS)


def steps_of(scheme="sinusoidal", *more, text=WORDS["sentence"]):
    return sextant_json("attend", "--scheme", scheme, "--split", "spaces", "--width", "8", "--heads", "2", "--seed", "9", *more, "--step", "all", "--", text)["steps"]


def opened(shared, lesson, more=ANSWERED):
    page = shared.show(f"lesson={lesson}{more}")
    page.wait_for_selector(".stage:not([aria-busy]) .question")
    return page


def focused(page, selector):
    return page.evaluate("(selector) => document.activeElement.matches(selector)", selector)


def tab_to(page, selector):
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page, selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


def test_the_lesson_is_the_first_view_and_is_walked_to_its_end_by_keys(explorer):
    one = explorer()
    page = one.open()
    for step in range(1, STEPS + 1):
        page.wait_for_selector(f".stage:not([aria-busy]) h3:text-is('{step}. {WORDS['steps'][step - 1]['title']}')")
        assert step == 1 or focused(page, "h3"), "the title of a new step has the focus, so that it is read"
        tab_to(page, ".question button")
        page.keyboard.press("Enter")
        page.wait_for_selector(".stage:not([aria-busy]) .answer:not(:empty)")
        assert WORDS["steps"][step - 1]["reason"] in page.locator(".answer").inner_text()
        assert focused(page, ".question button"), "the focus stays where it was"
        if step < STEPS:
            tab_to(page, ".next")
            page.keyboard.press("Enter")
    assert f"lesson={STEPS}" in page.url and page.locator(".next").count() == 0
    assert page.locator(".progress-of .done").count() == STEPS
    assert one.problems == []


@pytest.mark.parametrize("lesson", range(1, STEPS + 1))
def test_the_picture_waits_for_the_answer(shared, lesson):
    page = opened(shared, lesson, "")
    hidden = page.locator(".stage td[data-step]:not([data-value])").count()
    question = page.locator(".drawing text", has_text="?").count()
    lines, mask = page.locator(".drawing circle.dot").count(), page.get_by_role("group", name="mask").count()
    page.locator(".question button").first.click()
    page.wait_for_selector(".stage:not([aria-busy]) .answer:not(:empty)")
    assert page.locator(".stage td[data-step]:not([data-value])").count() == 0
    if lesson == 8:
        assert (mask, page.get_by_role("group", name="mask").count()) == (0, 1)
    elif lesson == 9:
        assert page.locator(".letters .tint[data-value]").count() > 10
    elif lesson == 10:
        assert page.locator(".drawing circle.dot").count() > lines
    else:
        assert hidden + question > 0


# Step of the lesson, and the number: table, head, row, column.
NUMBERS = [(1, "embeddings", None, 3, 2), (3, "positions", None, 2, 3), (4, "inputs", None, 4, 5), (4, "rotated_q", 0, 4, 2), (4, "rotated_q", 0, 4, 1), (5, "w_q", None, 7, 8), (5, "q", 1, 4, 3),
           (6, "scores", 0, 4, 2), (6, "weights", 0, 4, 2), (6, "k", 0, 3, 1), (7, "v", 0, 1, 2), (7, "mixed", 0, 4, 3), (7, "output", None, 4, 6), (8, "weights", 1, 2, 0)]


@pytest.mark.parametrize("lesson, step, head, row, column", NUMBERS)
def test_a_number_unfolds_to_the_numbers_of_the_command_line(shared, lesson, step, head, row, column):
    page = opened(shared, lesson)
    of_head = f"[data-head='{head}']" if head is not None else ""
    page.locator(f".numbers td[data-step={step}]{of_head}[data-row='{row}'][data-column='{column}']").first.click()
    steps = steps_of("rotary" if step == "rotated_q" else "sinusoidal", *(["--causal"] if lesson == 8 else []))
    value = (steps[step] if head is None else steps[step][head])[row][column]
    output = page.locator(".unfolded output")
    assert json.loads(output.get_attribute("data-value")) == value and float(output.inner_text()) == value
    parts = [json.loads(part) for part in page.locator(".unfolded .lines .part").evaluate_all("(all) => all.map((one) => one.dataset.value)")]
    pairs = list(zip(parts[::2], parts[1::2]))
    if step in ("q", "k", "v", "output"):  # a bias after the products
        assert math.isclose(sum(a * b for a, b in pairs) + parts[-1], value, rel_tol=1e-12) and len(parts) == 17
    elif step == "scores":
        assert math.isclose(sum(a * b for a, b in pairs) / 2, value, rel_tol=1e-12) and len(parts) == 8
    elif step == "mixed":
        assert math.isclose(sum(a * b for a, b in pairs), value, rel_tol=1e-12) and len(parts) == 10
    elif step == "weights":
        powers = [0 if part is None else math.exp(part) for part in parts]
        assert math.isclose(powers[column] / sum(powers), value, rel_tol=1e-12)
    elif step == "inputs":
        assert math.isclose(sum(parts), value, rel_tol=1e-12)
    elif step == "rotated_q":
        q, angle = steps["q"][head][row], row * [1, 0.01][column % 2]
        expected = q[0 + column % 2] * math.cos(angle) - q[2 + column % 2] * math.sin(angle) if column < 2 else q[column] * math.cos(angle) + q[column - 2] * math.sin(angle)
        assert math.isclose(expected, value, rel_tol=1e-12) and parts == ([q[column], q[column + 2]] if column < 2 else [q[column], q[column - 2]])
    formula = page.locator(".unfolded math")
    assert formula.count() == (0 if step.startswith("w_") else 1)


def test_a_number_unfolds_down_to_a_weight_and_back(shared):
    page = opened(shared, 7)
    page.locator(".numbers td[data-step=output]").nth(2).focus()
    page.keyboard.press("Enter")
    names = []
    for step in ("mixed", "weights", "scores", "q", "w_q"):
        part = page.locator(".unfolded .part")
        at = {"mixed": 1, "weights": 0, "scores": 1, "q": 0, "w_q": 0}[step]
        part.nth(at).focus()
        page.keyboard.press("Enter")
        page.wait_for_function("(step) => [step, step.replace('scores', 'biased')].includes(document.querySelector('.unfolded').dataset.step)", arg=step)
        names.append(page.locator(".unfolded h4").inner_text())
        if page.locator(".unfolded").get_attribute("data-step") == "biased":
            page.locator(".unfolded .part").first.click()
    assert names[-1].startswith("W_q, row ")
    page.locator(".unfolded .back").click()
    assert page.locator(".unfolded h4").inner_text() == names[-2]


def test_the_order_of_the_toy_sentences_is_lost(shared):
    page = opened(shared, 2)
    native = sextant_json("compare", "--lab", "--", *WORDS["toy"])
    assert float(page.locator(".distance").get_attribute("data-distance")) == native["distance"] < 1e-15
    page.locator(".numbers td[data-step=weights]").nth(6 + 1).click()
    assert json.loads(page.locator(".unfolded output").get_attribute("data-value")) == native["second"]["last"]["weights"][1]


def test_data_flows_as_attention_computes(shared):
    page = opened(shared, 7, ANSWERED + "&scheme=alibi&box=from_positions")
    edges = set(page.locator(".steps [data-edge]").evaluate_all("(all) => all.map((one) => one.dataset.edge)"))
    assert {"inputs q", "inputs k", "inputs v", "q rotated_q", "rotated_q scores", "rotated_k scores", "biased weights", "weights mixed", "v mixed", "inputs residual", "from_positions biased"} <= edges
    assert not edges & {"q k", "k v", "v rotated_q", "rotated_q rotated_k"}
    assert page.locator(".steps .acts").evaluate_all("(all) => all.map((one) => one.dataset.step)") == ["from_positions"]
    page.locator(".steps [data-step=scores]").click()
    values = page.locator(".array td[data-step]").evaluate_all("(all) => all.map((one) => JSON.parse(one.dataset.value))")
    assert values == [value for row in steps_of("alibi")["scores"][0] for value in row]


def test_the_address_holds_step_and_answers(explorer, shared):
    page = opened(shared, 5, "")
    page.locator(".question button").nth(2).click()
    page.wait_for_selector(".answer.wrong")
    anew = explorer().open(page.url.split("#")[1])
    anew.wait_for_selector(".answer.wrong")
    assert anew.locator("h3").inner_text() == page.locator("h3").inner_text()
    assert anew.locator(".question [aria-pressed=true]").inner_text() == "64"


@pytest.mark.parametrize("fragment", ["lesson=0", "lesson=99", "lesson=x&answers=9.9.9", "lesson=6&scheme=nothing&answers=.....7", "lesson=9&digit=99&of_head=-1", "lesson=7&box=nothing"])
def test_a_broken_address_of_the_lesson_shows_a_step(explorer, fragment):
    one = explorer()
    page = one.open(fragment)
    page.wait_for_selector(".stage:not([aria-busy]) .question")
    assert page.locator("#message").inner_text() == "" and one.problems == []


@pytest.mark.parametrize("answers", ["", ANSWERED], ids=["asked", "answered"])
@pytest.mark.parametrize("lesson", range(1, STEPS + 1))
def test_nothing_scrolls_sideways_on_a_phone(explorer, lesson, answers):
    page = explorer(width=390, height=844).open(f"lesson={lesson}{answers}")
    page.wait_for_selector(".stage:not([aria-busy]) .question")
    page.locator(".stage td[data-value]").last.click() if lesson < 9 else None
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    wide = page.evaluate("() => [...document.querySelectorAll('.stage *')].filter((one) => one.getBoundingClientRect().right > 390.5 && !one.closest('svg, math')).map((one) => one.outerHTML.slice(0, 80))")
    assert wide == []
    cut = page.evaluate("() => [...document.querySelectorAll('.numbers td, .numbers th, .unfolded, .unfolded *')].filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0).map((one) => one.textContent)")
    assert cut == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lesson", range(1, STEPS + 1))
def test_axe_finds_nothing_in_a_step(explorer, lesson, scheme):
    page = explorer(scheme=scheme).open(f"lesson={lesson}{ANSWERED}")
    page.wait_for_selector(".stage:not([aria-busy]) .question")
    if lesson < 9:
        page.locator(".stage td[data-value]").last.click()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found] == []


@pytest.mark.parametrize("view", ["view=order", "view=attention", "view=attention&form=lines", "view=attention&step=scores", "view=model"])
def test_pictures_of_words_fit_a_phone(explorer, view):
    one = explorer(width=390, height=844)
    page = one.open(view)
    one.picture()
    page.wait_for_function("() => [...document.querySelectorAll('.picture')].some((one) => one.querySelector('svg')) && document.querySelectorAll('[aria-busy]').length === 0")
    assert page.evaluate("() => [...document.querySelectorAll('.picture')].filter((one) => one.scrollWidth > one.clientWidth).length") == 0
