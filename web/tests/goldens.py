"""Pictures of the page beside those of web/tests/goldens, compared as tests/pages compares: by blocks of 8 x 8 pixels, with room
for other fonts; and the page's words, each of which counts. SEXTANT_UPDATE_GOLDEN=1 writes them again."""
import base64
import difflib
import os
import pathlib
import re

from conftest import ROOT

GOLDENS = pathlib.Path(__file__).parent / "goldens"
COMPARE = (ROOT / "tests" / "pages" / "compare.js").read_text()
MOST_BLOCKS = 0.01  # as in tests/pages/check_pages.py
FOUND = ROOT / "out" / "page-goldens"


def picture_of(page, scale):
    """The whole page as WebP."""
    session = page.context.new_cdp_session(page)
    size = page.evaluate("() => { const {width, height} = document.documentElement.getBoundingClientRect(); return {width, height}; }")
    data = session.send("Page.captureScreenshot", {"format": "webp", "quality": 45, "captureBeyondViewport": True,
                                                   "clip": {"x": 0, "y": 0, **size, "scale": scale}})
    session.detach()
    return base64.b64decode(data["data"])


def difference(page, first, second):
    """The part of the blocks that differ, or a text that says why they cannot be compared."""
    blank = page.context.new_page()
    try:
        return blank.evaluate(f"([a, b]) => ({COMPARE.strip().rstrip(';')})(a, b)",
                              [base64.b64encode(each).decode() for each in (first, second)])
    finally:
        blank.close()


def check(page, name, scale=0.4):
    path, found = GOLDENS / (name + ".webp"), picture_of(page, scale)
    if os.environ.get("SEXTANT_UPDATE_GOLDEN"):
        if not path.exists() or difference(page, path.read_bytes(), found) != 0:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(found)
        return
    assert path.exists(), f"{name} has no golden picture; SEXTANT_UPDATE_GOLDEN=1 writes it"
    differ = difference(page, path.read_bytes(), found)
    if isinstance(differ, str) or differ > MOST_BLOCKS:
        FOUND.mkdir(parents=True, exist_ok=True)
        (FOUND / (name + ".webp")).write_bytes(found)
        how = differ if isinstance(differ, str) else f"{100 * differ:.1f} % of its blocks differ"
        raise AssertionError(f"{name}: {how}; see {FOUND / name}.webp beside {path}")


# Lists to choose from are left out: a new scheme is no other page.
WORDS = """() => {
  const lists = [...document.querySelectorAll("select")];
  for (const list of lists) list.style.display = "none";
  const words = [document.body.innerText, ...[...document.querySelectorAll("svg text")].map(each => each.textContent)];
  for (const list of lists) list.style.display = "";
  return words.join("\\n");
}"""


def words_of(page):
    """What the page says, words of its pictures too, one piece of text per line. Seconds are how long it took this time."""
    text = page.evaluate(WORDS)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return "\n".join(re.sub(r"[\d.]+ s\b", "# s", line) for line in lines if line) + "\n"


def check_words(page, name):
    path, found = GOLDENS / (name + ".txt"), words_of(page)
    if os.environ.get("SEXTANT_UPDATE_GOLDEN"):
        path.write_text(found)
        return
    assert path.exists(), f"{name} has no golden words; SEXTANT_UPDATE_GOLDEN=1 writes them"
    differ = list(difflib.unified_diff(path.read_text().splitlines(), found.splitlines(), "golden", "now", lineterm="", n=1))
    assert not differ, "\n".join([f"{name} says other words (SEXTANT_UPDATE_GOLDEN=1 writes them again):", *differ[:40]])
