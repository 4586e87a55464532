"""How large, how quick, how steady. Sizes are limits. Times are printed, and asserted with so much room that no busy machine fails."""
import base64
import json
import random
import time

import pytest

from conftest import BENCH, PAGE, sextant_bench

FRAMES = """() => {
  globalThis.frames = [];
  let last = performance.now();
  const next = (now) => { frames.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
STALLS = """() => {
  globalThis.stalls = [];
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) stalls.push(entry.duration); }).observe({type: 'longtask'});
}"""
WORDS = "the black cat sat on a couch and some brown dog slept near an old rug while rain fell over quiet hills".split()


def text_of(words, seed=1):
    numbers = random.Random(seed)
    return " ".join(numbers.choice(WORDS) for _ in range(words))


def test_the_page_is_small():
    assert PAGE.stat().st_size < 8e6  # 3 MB without models: test_models.py


def test_the_first_picture_comes_soon(explorer):
    one = explorer()
    page = one.open("view=positions")
    one.picture()
    print(f"first picture {page.evaluate('() => performance.now()') / 1000:.2f} s after the navigation")
    assert page.evaluate("() => performance.now()") < 20000


def test_frames_while_a_word_of_128_is_dragged(explorer):
    one = explorer(width=1200, height=1000)
    one.open("text=" + text_of(127).replace(" ", "+") + "+.").wait_for_selector(".verdict[data-having]")
    page = one.settled()
    chips = page.locator(".chips button")
    assert chips.count() == 128
    begin, end = chips.nth(3).bounding_box(), chips.nth(60).bounding_box()
    before = page.locator(".verdict").inner_text()
    page.evaluate(FRAMES)
    page.mouse.move(begin["x"] + 5, begin["y"] + 5)
    page.mouse.down()
    for step in range(60):
        part = (step + 1) / 60
        page.mouse.move(begin["x"] + 5 + part * (end["x"] - begin["x"]), begin["y"] + 5 + part * (end["y"] - begin["y"]))
    frames = sorted(page.evaluate("() => frames"))
    page.mouse.up()
    page.wait_for_function("(before) => document.querySelector('.verdict').textContent !== before", arg=before)
    assert "order=" in page.url
    middle, late = frames[len(frames) // 2], frames[int(0.95 * len(frames))]
    print(f"{len(frames)} frames while dragging: {middle:.1f} ms in the middle, 95 % below {late:.1f} ms")
    assert middle < 250


def test_two_thousand_tokens_do_not_stop_the_page(explorer):
    one = explorer()
    page = one.open("view=attention")
    one.picture()
    page.evaluate(STALLS)
    page.locator("textarea").first.fill(text_of(2000))
    page.wait_for_function("() => document.querySelector('pre')?.textContent.length > 8000", timeout=120000)
    page.wait_for_selector(".picture:not([aria-busy]) svg", timeout=120000)
    page.wait_for_timeout(500)
    stalls = page.evaluate("() => stalls")
    print(f"2,000 tokens: {len(stalls)} tasks above 50 ms on the page's thread, the longest {max(stalls, default=0):.0f} ms")
    assert max(stalls, default=0) < 2000
    assert one.problems == []


@pytest.mark.slow
def test_a_long_call_says_so_and_can_be_stopped(explorer):
    one = explorer()
    one.open("view=attention")
    page = one.settled()
    place = page.locator("#view").bounding_box()
    page.evaluate("() => { explorer.engine.run(['train', 'dates', '-o', '/long', '--steps', '2000']).then((answer) => { globalThis.code = answer.code; }); }")
    page.locator(".progress", has_text="Computing").wait_for(timeout=30000)
    assert page.locator("#view").bounding_box() == place, "a pointer stays over what it points at"
    page.get_by_role("button", name="Stop").click()
    page.wait_for_function("() => globalThis.code === 130")
    page.locator("textarea").first.fill("the engine begins anew")
    page.wait_for_function("() => document.querySelector('pre').textContent.includes('begins anew')")
    assert one.problems == []


def test_stale_calls_are_dropped(explorer):
    page = explorer().open("view=order")
    page.wait_for_selector(".verdict[data-having]")
    answers = page.evaluate("""() => Promise.all(Array.from({length: 20}, (_, i) =>
      explorer.engine.run(['encode', '--length', '4', '--width', String(2 * i + 2)], {key: 'same'})))""")
    made = [answer["code"] for answer in answers if not answer.get("stale")]
    assert made.count(0) == len(made) and 1 <= len(made) <= 3
    assert not answers[-1].get("stale")


FRAGMENTS = ["", "lesson=7&answers=0.0.0.0.0.0.0", "text={text}&scheme={scheme}", "view=positions&scheme={scheme}&length={n}", "view=positions&scheme={scheme}&beside1=rotary&plot=distance&length={n}",
             "view=attention&text={text}&scheme={scheme}&step=scores", "view=attention&text={text}&causal=yes&hide=0:0&step=q"]
SCHEMES = ["sinusoidal", "rotary", "alibi", "rotary_yarn", "t5"]


def memory_of(page):
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return metrics["JSHeapUsedSize"] / 1e6, metrics["Nodes"], page.evaluate("() => explorer.engine.memory()") / 1e6


def use_at_random(explorer, seconds):
    one, numbers = explorer(), random.Random(3)
    page, seen, begin = one.open("view=order"), [], time.monotonic()
    page.wait_for_selector(".verdict[data-having]")
    while time.monotonic() - begin < seconds:
        for _ in range(8):
            fragment = numbers.choice(FRAGMENTS).format(text=text_of(numbers.randint(1, 30), numbers.random()).replace(" ", "+"),
                                                        scheme=numbers.choice(SCHEMES), n=numbers.randint(2, 128))
            page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
            page.wait_for_timeout(numbers.choice([20, 150, 400]))
        seen.append(memory_of(page))
    assert one.problems == []
    for heap, nodes, program in (seen[0], seen[len(seen) // 2], seen[-1]):
        print(f"page {heap:.1f} MB and {nodes:.0f} nodes, program {program:.1f} MB")
    half = seen[len(seen) // 2:]
    # Of a leak each part of the time takes as much as the one before: then the second half would add a half.
    early, late = (min(each[0] for each in part) for part in (half[:len(half) // 2 + 1], half[len(half) // 2:]))
    assert late < 1.4 * early + 10
    assert min(each[1] for each in half) < 60000
    assert seen[-1][2] < 400


def test_memory_is_bounded_in_a_moment_of_random_use(explorer):
    use_at_random(explorer, 8)


@pytest.mark.slow
def test_memory_is_bounded_over_ten_minutes_of_random_use(explorer):
    use_at_random(explorer, 600)


def test_attention_is_near_the_peak_of_128_bits(explorer):
    """In the same page, in a worker, in turns with multiply-adds from register to register."""
    page = explorer().open("view=order")
    page.wait_for_selector(".verdict[data-having]")
    glue, wasm = (BENCH.with_suffix(ending).read_bytes() for ending in (".js", ".wasm"))
    found = page.evaluate("""([glue, wasm]) => new Promise((resolve, reject) => {
      const source = glue + `
        onmessage = async ({data}) => {
          const text = atob(data), bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
          let out = '';
          const module = await sextant_bench({wasmBinary: bytes, print: (line) => { out += line; }});
          module.callMain(['25']);
          postMessage(out);
        };`;
      const worker = new Worker(URL.createObjectURL(new Blob([source], {type: 'text/javascript'})));
      worker.onmessage = ({data}) => { worker.terminate(); resolve(data); };
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage(wasm);
    })""", [glue.decode(), base64.b64encode(wasm).decode()])
    here, native = json.loads(found), sextant_bench()
    print(f"attention in the page: {here['attention_gflops']:.1f} of {here['peak_gflops']:.1f} GFLOP/s, {100 * here['share']:.0f} %")
    if native:
        print(f"natively ({native['target']}): {native['attention_gflops']:.1f} of {native['peak_gflops']:.1f} GFLOP/s; "
              f"the page has {100 * here['attention_gflops'] / native['attention_gflops']:.0f} % of that")
    assert here["share"] > 0.1  # 0.7 is the aim, 0.6 is reached on Zen 4
