"""The explorer in headless Chromium, and the command line beside it."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "out" / "explorer.html"
PROGRAM = ROOT / "build" / "release" / "bin" / "sextant"
BENCH = ROOT / "build" / "web" / "bench" / "browser"  # and its .js and .wasm
VIEWS = ["", "lesson=7", "view=order", "view=positions", "view=positions&plot=difference&beside1=sinusoidal&p1.exponent=doubled", "view=attention",
         "view=attention&scheme=rotary&step=rotated_q", "view=attention&step=tokens", "view=model", "view=model&model=plays&max-tokens=12",
         "view=train", "view=lengths", "view=documents"]
READY = ".stage .question, .picture:not([aria-busy]) svg, .tokens, button.start"  # one of them stands in each view
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out of CI, `make check-all` runs it")
    for needed in (PAGE, PROGRAM, CHROMIUM, BENCH.with_suffix(".js")):
        if needed is None or not pathlib.Path(needed).exists():
            pytest.exit(f"needs {needed or 'chromium'}: run `make test-page`", returncode=1)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


class Explorer:
    """A page of the explorer; what it asks the network for and what it complains of are kept."""

    def __init__(self, browser, page_file=PAGE, width=1000, height=900, scheme="light", **more):
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True, **more)
        self.page = self.context.new_page()
        self.requests, self.problems = [], []
        self.file = page_file.as_uri()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(said.text))

    def open(self, fragment=""):
        self.page.goto("about:blank")
        self.page.goto(self.file + ("#" + fragment if fragment else ""))
        self.page.wait_for_selector("html[data-view]", timeout=30000)
        return self.page

    def show(self, fragment):
        """Another address in the page that is open, as a link in it does: without loading it again."""
        if not self.requests:
            return self.open(fragment)
        self.page.mouse.move(0, 0)
        self.page.evaluate("""async (fragment) => {
          const go = (to) => new Promise((resolve) => {
            addEventListener('hashchange', resolve, {once: true});
            location.hash = to;
          });
          if (new URL('#' + fragment, location).hash === location.hash) await go(fragment + '&again');
          delete document.documentElement.dataset.view;
          await go(fragment);
        }""", fragment)
        self.page.wait_for_selector("html[data-view]", timeout=30000)
        return self.page

    def settled(self):
        """The page once it computes nothing and has not changed for 0.4 seconds: a busy machine takes longer than any fixed time."""
        self.page.evaluate("""async () => {
          let running = null, last = '', since = performance.now();
          explorer.engine.watch((call) => { running = call; });
          for (;;) {
            const busy = document.querySelectorAll('[aria-busy]').length;
            const now = [document.querySelectorAll('*').length, document.documentElement.scrollHeight, busy, running?.id].join();
            if (now !== last) [last, since] = [now, performance.now()];
            if (busy === 0 && running === null && performance.now() - since > 400) return;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }""")
        return self.page

    def picture(self):
        """The SVG that the view shows, drawn anew."""
        self.page.wait_for_selector(".picture:not([aria-busy]) svg", timeout=30000)
        return self.page.locator(".picture svg").first

    def close(self):
        self.context.close()


@pytest.fixture
def explorer(browser):
    made = []

    def make(**options):
        made.append(Explorer(browser, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def shared(browser):
    """One explorer for the tests of a file that leave it as it was."""
    one = Explorer(browser)
    yield one
    one.close()


def sextant(*arguments):
    """What the native command line prints."""
    environment = {**os.environ, "SEXTANT_TARGET": "SSSE3"}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True, env=environment).stdout


def same_picture(shown, svg):
    """Whether the page shows the program's SVG: its texts and its shapes in order. Images are stored in the one and compressed in the other."""
    parse = """(svg) => { const root = svg instanceof Element ? svg : new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
      return [...root.querySelectorAll('*:not(.cursor)')].map((one) => [one.tagName, one.children.length === 0 ? one.textContent : '',
        ...['x', 'y', 'd', 'points', 'fill', 'width', 'opacity'].map((name) => one.getAttribute(name))].join('|')); }"""
    found, expected = shown.evaluate(parse), shown.page.evaluate(parse, svg)
    assert len(expected) > 5
    assert found == expected


def sextant_bench():
    """What the native program of bench/browser.cc measures with vectors of 128 bits; None where it is not built."""
    program = ROOT / "build" / "release" / "bench" / "browser"
    if not program.exists():
        return None
    environment = {**os.environ, "SEXTANT_TARGET": "SSSE3"}
    return json.loads(subprocess.run([program, "25"], capture_output=True, text=True, check=True, env=environment).stdout)


def sextant_json(*arguments):
    command, *rest = arguments
    return json.loads(sextant(command, "--json", *rest))
