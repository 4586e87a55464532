"""The views of trained models, of training in the page, and of test lengths: their numbers beside the command line's."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import PROGRAM, ROOT, same_picture, sextant

DATA = ROOT / "web" / "data"
DATES = ROOT / "src" / "training" / "tasks" / "dates_translator"
DATE = "the third of march nineteen ninety-nine"


def written(page):
    page.wait_for_selector(".said:not([aria-busy]) .written", timeout=60000)
    page.wait_for_selector(".predictions", timeout=60000)
    return page.locator(".said .written").first.inner_text()


def test_a_date_is_translated_and_every_number_is_the_programs(explorer):
    one = explorer()
    page = one.open("view=model")
    assert written(page) == sextant("translate", "--model", "shipped", DATE).strip() == "1999-03-03"
    guess = json.loads(sextant("logit-lens", "--json", "--top-k", "8", "--model", "shipped", DATE))
    page.locator(".tokens button").nth(5).click()
    cells = page.locator(".predictions tbody tr").first.locator("td")
    assert cells.count() == len(guess["layers"])
    for layer, cell in zip(guess["layers"], cells.all()):
        assert float(cell.get_attribute("title")) == layer["predictions"][5][0]["probability"]
    bars = page.locator(".bars tbody tr td:nth-of-type(1)")
    assert [float(bar.get_attribute("title")) for bar in bars.all()] == [each["probability"] for each in guess["layers"][-1]["predictions"][5]]
    assert "at=5" in page.url
    one.picture()
    assert one.problems == []


@pytest.mark.parametrize("part, layer, head", [("encoder", 0, 2), ("decoder", 0, 1), ("cross", 0, 3)])
def test_maps_are_those_of_the_native_program(shared, tmp_path, part, layer, head):
    one = shared
    page = one.show(f"view=model&part={part}&layer={layer}&head={head}")
    arguments = ["attend", "--model", "shipped", "--part", part, "--layer", str(layer), "--head", str(head)]
    sextant(*arguments, "-o", str(tmp_path / "map.svg"), "--", DATE)
    same_picture(one.picture(), (tmp_path / "map.svg").read_text())
    page.locator(".picture").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    weights = json.loads(sextant(*arguments, "--json", "--", DATE))["weights"]
    page.locator(".reading", has_text=json.dumps(weights[0][1][1])).wait_for()


def test_a_model_is_there_again_when_its_worker_was_stopped(explorer):
    page = explorer().open("view=model&model=plays&max-tokens=6")
    written(page)
    page.evaluate("() => explorer.engine.stop()")
    page.get_by_role("button", name="Another text").click()
    native = sextant("generate", "--max-tokens", "6", "--seed", "2", "--prompt", "ROMEO:\nI am ", "--model", str(DATA / "plays"))
    page.wait_for_function("(text) => document.querySelector('.said .written')?.textContent.trim() === text", arg=native.strip(), timeout=60000)


def test_a_model_without_positions_is_another_one(shared):
    page = shared.show("view=model&off=yes")
    without = written(page)
    assert without == sextant("translate", "--model", "shipped", "--without-positions", DATE).strip()
    assert without != "1999-03-03"
    assert page.locator(".said .written").nth(1).inner_text() == "1999-03-03"
    assert "switched off" in page.locator("figcaption").inner_text()
    page.get_by_label("Positions", exact=True).select_option("")
    page.wait_for_function("() => document.querySelectorAll('.said .written').length === 1")
    assert "off" not in page.url


def test_the_plays_go_on_as_in_the_native_program(shared):
    page = shared.show("view=model&model=plays&max-tokens=40&temperature=0.7&top-k=5&seed=3")
    shown = written(page)
    arguments = ["generate", "--max-tokens", "40", "--temperature", "0.7", "--top-k", "5", "--seed", "3", "--prompt", "ROMEO:\nI am "]
    native = sextant(*arguments, "--model", str(DATA / "plays"))
    assert shown.strip() == native.strip()
    made = json.loads(sextant(*arguments, "--json", "--alternatives", "8", "--model", str(DATA / "plays")))
    page.locator(".tokens button").nth(7).click()
    rows = page.locator(".bars tbody tr")
    for alternative, row in zip(made["steps"][7]["alternatives"], rows.all()):
        numbers = [float(cell.get_attribute("title")) for cell in row.locator("td").all()]
        assert numbers == [alternative["probability"], alternative["drawn"]]
    assert page.get_by_label("top-k", exact=True).input_value() == "5"
    guess = json.loads(sextant("logit-lens", "--json", "--top-k", "8", "--model", str(DATA / "plays"), made["prompt"] + made["text"]))
    row = len(guess["tokens"]) - len(made["tokens"]) - 1 + 7  # what stands before a token predictions it
    for layer, cell in zip(guess["layers"], page.locator(".predictions tbody tr").first.locator("td").all(), strict=True):
        assert float(cell.get_attribute("title")) == layer["predictions"][row][0]["probability"]


def test_the_page_begins_with_a_short_text(shared):
    page = shared.show("view=model&model=plays")
    written(page)
    assert page.get_by_label("max-tokens", exact=True).input_value() == "60"
    assert page.locator(".tokens button").count() == 60
    assert "--max-tokens 60 " in page.locator("pre[aria-label=Command]").text_content()


def test_another_token_can_be_put_in_its_place(shared):
    page = shared.show("view=model&model=plays&max-tokens=12")
    written(page)
    page.locator(".tokens button").nth(3).click()
    other = page.locator(".bars tbody tr:not(.written-here) th button").first
    token = other.inner_text()
    other.click()
    page.wait_for_function("() => new URLSearchParams(location.hash.slice(1)).has('prompt')")
    prompt = page.locator("textarea").input_value()
    assert prompt.startswith("ROMEO:\nI am ") and len(prompt) == len("ROMEO:\nI am ") + 4
    assert prompt[-1] == token.replace("␣", " ").replace("↵", "\n")


def test_a_model_folder_of_ones_own(explorer, tmp_path):
    shutil.copytree(DATES, tmp_path / "mine")
    page = explorer().open("view=model")
    written(page)
    page.locator("input[type=file]").set_input_files(tmp_path / "mine")
    page.wait_for_function("() => location.hash.includes('model=own')")
    page.locator("pre", has_text="--model mine").first.wait_for(timeout=30000)
    assert written(page) == "1999-03-03"


def drop(page, *paths):
    """Drops files or folders of the disk on the page's place for them, as the browser does when a hand drags them."""
    page.wait_for_function("() => document.querySelectorAll('[aria-busy]').length === 0")
    session = page.context.new_cdp_session(page)

    def drag(kind):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2,
                                                 "data": {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}})

    for _ in range(20):  # a picture that comes in between moves the place
        page.locator(".drop").scroll_into_view_if_needed()
        box = page.locator(".drop").bounding_box()
        drag("dragEnter"), drag("dragOver")
        if page.locator(".drop.over").count() == 1:
            break
        page.wait_for_timeout(100)
    drag("drop")
    session.detach()


@pytest.mark.parametrize("files", [False, True], ids=["folder", "its files"])
def test_a_model_folder_is_dropped(explorer, tmp_path, files):
    shutil.copytree(DATES, tmp_path / "mine")
    one = explorer()
    page = one.open("view=model")
    written(page)
    one.picture()
    drop(page, *((tmp_path / "mine").iterdir() if files else [tmp_path / "mine"]))
    page.wait_for_function("() => location.hash.includes('model=own')")
    page.locator("pre", has_text="--model model " if files else "--model mine ").first.wait_for(timeout=30000)
    assert written(page) == "1999-03-03"
    assert page.locator(".drop.over").count() == 0
    assert one.problems == []


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_run_folder_opens_its_best_model(explorer, tmp_path, links):
    """best and last are links, which the browser leaves out; the checkpoint that is not the best comes first in the folder."""
    run = tmp_path / "run"
    sextant("train", "copy", "--steps", "60", "--checkpoint-every", "30", "--validate-every", "60", "--width", "16", "--heads", "2", "-o", str(run))
    best = (run / "best").resolve()
    other = shutil.copytree(best, run / "checkpoint-000000030")
    (other / "training.json").write_text((best / "training.json").read_text().replace('"step": 60', '"step": 30'))
    if not links:
        (run / "best").unlink(), (run / "last").unlink()
    one = explorer()
    page = one.open("view=model")
    written(page)
    drop(page, run)
    page.wait_for_function("() => location.hash.includes('model=own')")
    page.locator("pre", has_text=f"--model run/{best.name} ").first.wait_for(timeout=30000)
    assert one.problems == []


def test_the_best_model_is_found_without_its_link(shared):
    page = shared.show("view=model")
    base = """(files) => explorer.model_base(files.map(([path, best]) => [path, {text: async () => JSON.stringify({best_step: best})}]))"""

    def checkpoint(step, best, has_model=True):
        folder = f"run/checkpoint-{step:09}/"
        return [[folder + "training.json", best]] + ([[folder + "config.json", 0]] if has_model else [])

    run = [["run/run.json", 0]]
    assert page.evaluate(base, run + checkpoint(30, 30) + checkpoint(90, 90)) == "run/checkpoint-000000090/"
    assert page.evaluate(base, run + checkpoint(30, 30) + checkpoint(90, 30)) == "run/checkpoint-000000030/"
    assert page.evaluate(base, run + checkpoint(90, 30)) == "run/checkpoint-000000090/", "the best one is gone"
    assert page.evaluate(base, run + checkpoint(90, 90, has_model=False)) is None
    assert page.evaluate(base, [["run/best/config.json", 0], *checkpoint(30, 30)]) == "run/best/"
    assert page.evaluate(base, [["config.json", 0]]) == ""


def test_what_cannot_be_opened_says_what_can(shared, tmp_path):
    one = shared
    page = one.show("view=model")
    written(page)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    page.locator("input[type=file]").set_input_files(tmp_path / "run")
    page.locator(".drop .problem", has_text="choose a checkpoint folder in it").wait_for()
    (tmp_path / "t.txt").write_text("to be, or not to be.\n" * 200)
    sextant("train", "lm", "--file", str(tmp_path / "t.txt"), "--tokenizer", "word", "--steps", "2", "--width", "16", "--heads", "2", "--layers", "1",
            "-o", str(tmp_path / "words"))
    page.locator("input[type=file]").set_input_files((tmp_path / "words" / "last").resolve())
    page.locator(".drop .problem", has_text="The explorer opens models of characters").wait_for(timeout=30000)
    assert one.problems == []


def test_results_are_dropped_and_what_is_broken_is_refused(explorer, tmp_path):
    one = explorer()
    page = one.open("view=lengths")
    one.picture()
    table = json.loads((DATA / "extrapolation" / "results.json").read_text())
    table["rows"] = table["rows"][:2]
    (tmp_path / "mine.json").write_text(json.dumps(table))
    (tmp_path / "broken.json").write_text('{"rows": 1}')
    drop(page, tmp_path / "mine.json")
    page.locator("p", has_text="The results of mine.json").wait_for()
    one.picture()
    shown = page.locator("pre.table").inner_text()
    assert shown == sextant("plot", "extrapolation", str(tmp_path / "mine.json"), "--token", "character", "--format", "text")
    drop(page, tmp_path / "broken.json")
    page.wait_for_function("() => document.querySelector('.drop .problem').textContent.includes('broken.json')")
    assert page.locator("pre.table").inner_text() == shown
    page.get_by_label("A token is a", exact=True).select_option("word")  # of the results that were not refused
    words = sextant("plot", "extrapolation", str(tmp_path / "mine.json"), "--token", "word", "--format", "text")
    page.wait_for_function("(text) => document.querySelector('pre.table').textContent === text", arg=words)
    assert one.problems == []


def test_a_translator_says_how_sure_it_is_and_what_it_was_taught(shared):
    one = shared
    page = one.show("view=model&date=July 4th, 1776")
    assert written(page) == "2076-07-04"
    said = page.locator(".sure").inner_text()
    assert said == "100.0 % sure; it was trained on English dates of the years 1900 to 2099: it may be sure about other texts and get them wrong."
    page = one.show("view=model&date=hello world")
    page.locator(".sure.not", has_text="47.5 % sure").wait_for(timeout=30000)
    assert one.problems == []


def test_the_diagram_says_where_positions_and_the_encoder_act(explorer):
    one = explorer()
    page = one.open("view=model")
    written(page)
    end, cross, positions, boxes = page.evaluate("""() => {
      const all = (selector) => [...document.querySelectorAll('.diagram ' + selector)].map((one) => one.getBBox()).map((b) => [b.x, b.y, b.width, b.height]);
      const path = document.querySelector('.diagram .encoded'), end = path.getPointAtLength(path.getTotalLength());
      return [[end.x, end.y], all('.cross')[0], all('.positions'), all('.box')];
    }""")
    assert end[0] == cross[0] and cross[1] < end[1] < cross[1] + cross[3], "the encoder's output goes into cross attention"
    inside = lambda one, box: box[0] <= one[0] and box[1] <= one[1] and one[0] + one[2] <= box[0] + box[2] and one[1] + one[3] <= box[1] + box[3]
    assert len(positions) == 2 and all(any(inside(one, box) for box in boxes) for one in positions), "rotary acts inside self attention, in both stacks"
    assert one.problems == []


def test_the_copy_distribution_of_a_pointer_model(explorer, tmp_path):
    sextant("train", "copy", "--pointer", "--steps", "20", "--width", "16", "--heads", "2", "--seed", "3", "-o", str(tmp_path / "run"))
    model = shutil.copytree((tmp_path / "run" / "last").resolve(), tmp_path / "copier")
    one = explorer()
    page = one.open("view=model&date=dbcaf")
    written(page)
    page.locator("input[type=file]").set_input_files(model)
    page.wait_for_function("() => location.hash.includes('model=own')")
    page.locator("pre", has_text="--model copier").first.wait_for(timeout=30000)
    page.get_by_label("Attention", exact=True).select_option("copy")
    page.wait_for_function("() => location.hash.includes('part=copy')")
    page.locator("pre", has_text="--part copy").first.wait_for()
    assert page.get_by_label("Layer", exact=True).count() == 0, "there is one copy distribution, behind the last layer"
    assert "copy a source token" in page.locator(".diagram").text_content()
    attend = ["attend", "--model", str(model), "--part", "copy"]
    sextant(*attend, "-o", str(tmp_path / "copy.svg"), "--", "dbcaf")
    same_picture(one.picture(), (tmp_path / "copy.svg").read_text())
    weights = json.loads(sextant(*attend, "--json", "--", "dbcaf"))["weights"][0]
    page.locator(".picture").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.locator(".reading", has_text=json.dumps(weights[1][2])).wait_for()
    assert all(0 < sum(row) < 1 for row in weights), "a row sums to the probability of copying"
    assert one.problems == []


@pytest.mark.parametrize("break_it, says", [
    (lambda folder: (folder / "config.json").write_text("{"), "config.json"),
    (lambda folder: (folder / "config.json").unlink(), "must have a config.json"),
    (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json"),
    (lambda folder: (folder / "model.safetensors").write_bytes(b"\0" * 9), "model.safetensors"),
    (lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-100]), "model.safetensors"),
], ids=["config", "no config", "no tokenizer", "weights", "cut"])
def test_a_broken_folder_is_refused_beside_its_control(shared, tmp_path, break_it, says):
    shutil.copytree(DATES, tmp_path / "mine")
    break_it(tmp_path / "mine")
    one = shared
    page = one.show("view=model")
    written(page)
    page.locator("input[type=file]").set_input_files(tmp_path / "mine")
    problem = page.locator(".drop .problem")
    page.wait_for_function("() => document.querySelector('.drop .problem').textContent !== ''")
    assert says in problem.inner_text()
    assert page.locator("input[type=file]").get_attribute("aria-invalid") == "true"
    assert written(page) == "1999-03-03"
    assert one.problems == []


@pytest.mark.parametrize("fragment, says", [("view=model&date=", "text"), ("view=model&model=plays&temperature=-1", "temperature"),
                                            ("view=model&model=plays&max-tokens=0", "max-tokens"), ("view=model&model=plays&prompt=", "prompt")])
def test_what_cannot_be_read_is_said_in_words(shared, fragment, says):
    one = shared
    page = one.show(fragment)
    page.locator(".verdict.bad").wait_for(timeout=30000)
    assert says in page.locator(".verdict.bad").inner_text()
    assert one.problems == []


def without_seconds(line):
    return re.sub(r'"(seconds|tokens_per_second)":[^,}]*', "", line)


def test_two_schemes_race_with_the_steps_of_the_native_program(explorer, tmp_path):
    one = explorer()
    page = one.open("view=train&task=sort&steps=8&a=none&b=alibi&width=16")
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator(".verdict:not([hidden])").wait_for(timeout=120000)
    one.picture()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    saved = pathlib.Path(download.value.path()).read_text().splitlines()
    for scheme in ("none", "alibi"):
        sextant("train", "sort", "--scheme", scheme, "--steps", "8", "--batch-size", "24", "--width", "16", "--layers", "1", "--rate", "0.01", "--seed", "0",
                "--validate-every", "50", "--checkpoint-every", "50", "-o", str(tmp_path / scheme))
        lines = [json.loads(line) for line in (tmp_path / scheme / "metrics.jsonl").read_text().splitlines()]
        expected = [",".join([scheme, *(json.dumps(line[key]) if key in line else "" for key in ("step", "loss", "mean_loss", "validation_loss"))]) for line in lines]
        ours = [line for line in saved if line.startswith(scheme + ",")]
        assert len(ours) == 8
        for mine, theirs in zip(ours, expected):
            assert [float(x) for x in mine.split(",")[1:] if x] == [float(x) for x in theirs.split(",")[1:] if x]
    for scheme in ("none", "alibi"):
        section = page.locator(f"section[data-scheme={scheme}]")
        assert "exactly right" in section.inner_text()
        assert section.locator("svg").count() == 1
        assert section.locator(".written").inner_text() == sextant("translate", "--model", str(tmp_path / scheme / "last"), "dbcaf").strip()
    assert one.problems == []


def test_the_race_that_the_page_offers_has_a_winner(explorer):
    page = explorer().open("view=train")
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator(".verdict:not([hidden])").wait_for(timeout=240000)
    right = dict(re.findall(r"(no positions|rotary): ([\d.]+) % right", page.locator(".verdict").inner_text(), re.IGNORECASE))
    shares = {name.lower(): float(share) for name, share in right.items()}
    assert shares["rotary"] >= 90 and shares["no positions"] < 10, shares


def test_a_training_can_be_stopped_and_its_model_looked_at(explorer):
    page = explorer().open("view=train&task=copy&steps=5000&a=rotary&b=&width=16")
    page.get_by_role("button", name="Train", exact=True).click()
    page.locator("section .picture svg").wait_for(timeout=60000)  # of the first checkpoint, step 50
    page.locator("button", has_text="Stop").last.click()
    page.locator("section .reading", has_text="(stopped)").wait_for()
    page.get_by_role("tab", name="Trained models").click()
    page.locator("select").first.locator("option[value=trained-rotary]").wait_for(state="attached")
    page.locator("select").first.select_option("trained-rotary")
    page.wait_for_function("() => location.hash.includes('trained-rotary')")
    assert "copy" in page.locator("select").first.locator("option:checked").inner_text()


def test_shipped_lengths_and_a_file_of_ones_own(shared, tmp_path):
    one = shared
    page = one.show("view=lengths")
    one.picture()
    results = DATA / "extrapolation" / "results.json"
    assert page.locator("pre.table").inner_text() == sextant("plot", "extrapolation", str(results), "--token", "character", "--format", "text")
    table = json.loads(results.read_text())
    table["rows"] = table["rows"][:2]
    (tmp_path / "mine.json").write_text(json.dumps(table))
    page.locator("input[type=file]").set_input_files(tmp_path / "mine.json")
    page.locator("p", has_text="The results of mine.json").wait_for()
    one.picture()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert pathlib.Path(download.value.path()).read_text() == sextant("plot", "extrapolation", str(tmp_path / "mine.json"), "--format", "csv")
    (tmp_path / "broken.json").write_text('{"rows": 1}')
    page.locator("input[type=file]").set_input_files(tmp_path / "broken.json")
    page.wait_for_function("() => document.querySelector('.drop .problem').textContent !== ''")
    assert "broken.json" in page.locator(".drop .problem").inner_text()
    assert one.problems == []


def test_results_of_several_seeds_have_means_and_bands(explorer, tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat, a dog\n" * 60)
    sextant("extrapolate", "--file", str(tmp_path / "text.txt"), "--schemes", "none,learned", "--seeds", "3", "--seed", "7", "--steps", "2", "-o", str(tmp_path / "run"),
            *"--train-length 8 --test-lengths 8,16 --stride 4 --scored 64 --width 8 --heads 2 --layers 1 --batch-size 2".split())
    one = explorer()
    page = one.open("view=lengths")
    one.picture()
    page.locator("input[type=file]").set_input_files(tmp_path / "run" / "results.json")
    page.locator("p", has_text="The results of results.json").wait_for()
    assert "3 seeds: mean, standard deviation" in one.picture().text_content()
    shown = page.locator("pre.table").inner_text()
    assert "with 3 seeds" in shown and "×÷" in shown
    assert shown == sextant("plot", "extrapolation", str(tmp_path / "run" / "results.json"), "--token", "character", "--format", "text")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    numbers = pathlib.Path(download.value.path()).read_text()
    assert numbers.startswith("scheme,seed,scoring,length,perplexity\nnone,7,segments,8,") and "\nlearned,9,sliding,16,\n" in numbers
    assert one.problems == []


@pytest.mark.slow
def test_the_data_of_the_page_can_be_made_again(tmp_path):
    (tmp_path / "text.txt").write_text("".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))))
    subprocess.run([sys.executable, ROOT / "scripts" / "make_page_data.py", "./" + PROGRAM.name, tmp_path / "text.txt", "--try", tmp_path / "data"],
                   check=True, capture_output=True, cwd=PROGRAM.parent)
    made = sorted(path.relative_to(tmp_path / "data") for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert made == sorted(path.relative_to(DATA) for path in DATA.rglob("*") if path.suffix in (".json", ".safetensors"))
    assert json.loads(sextant("info", "--json", "--model", str(tmp_path / "data" / "plays")))["config"]["kind"] == "causal"
    assert "alibi" in sextant("plot", "extrapolation", str(tmp_path / "data" / "extrapolation" / "results.json"), "--format", "csv")


def test_the_models_are_a_small_part_of_the_page():
    page = (ROOT / "out" / "explorer.html").stat().st_size
    models = (ROOT / "out" / "explorer" / "models-data.js").stat().st_size
    assert page < 8e6 and page - models < 3.6e6  # with the lesson, and 40 types of published models
