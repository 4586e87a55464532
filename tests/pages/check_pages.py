#!/usr/bin/env python3
"""Opens the report and every kind of chart in headless Chromium and checks what a reader meets.

    tests/pages/check_pages.py build/release/bin/sextant            what must hold on any machine
    tests/pages/check_pages.py build/release/bin/sextant --goldens  and the pictures, as in goldens/
    tests/pages/check_pages.py build/release/bin/sextant --update   write goldens/ again; --only NAME for some

Of reports of 5, 15 and 62 words, in windows of 400, 1000 and 1600 pixels, light and dark: the page is not wider than the window, no text is
smaller than 10 pixels or cut, pictures and controls have names, headings are in order, nothing is fetched, no script fails, and the file is small
enough. Printed on A4, no figure is wider or higher than the paper. Of charts: no text is small or cut, and they say what they show. Pictures may differ from the goldens in one block of 8 x 8 pixels in
a hundred; rows of blocks may drift by a pixel each, as text does between systems. Ends with 77 where there is no Chromium.
"""
import argparse
import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import browser

HERE = pathlib.Path(__file__).parent
GOLDENS = HERE / "goldens"
MOST_BLOCKS = 0.01
WIDTHS = (400, 1000, 1600)
PAPER = (718, 1046)  # CSS pixels of A4 within Chromium's margins of 1 cm
KB = 1000

LONG = ("When the teacher came back to the village after many years , the children who had once sat in the first row "
        "of the school were waiting at the gate with flowers , and each of them told her in a few words what "
        "had become of the others , who lived far away and had sent letters in the evening .")
REPORTS = {  # words, and the most bytes of the page
    "5": ("The cat chased the dog", 500 * KB),
    "15": ("The black cat sat on the couch and the brown dog slept on the rug", 600 * KB),
    "62": (LONG, 1500 * KB),
}
TEXT = "the black cat sat on the couch"
CHARTS = {
    "sinusoids": ["plot", "sinusoids", TEXT],
    "rows": ["plot", "rows"],
    "heatmap": ["plot", "heatmap", "--length", "100", "--width", "512"],
    "heatmap-rotary": ["plot", "heatmap", "--scheme", "rotary", "--length", "32", "--head-dim", "16"],
    "heatmap-bias": ["plot", "heatmap", "--scheme", "alibi"],
    "heatmap-indexed": ["plot", "heatmap", "--scheme", "alibi_2d", "--length", "16", "--heads", "4"],
    "similarity": ["plot", "similarity"],
    "distance": ["plot", "distance"],
    "distance-schemes": ["plot", "distance", "--schemes", "rotary,rotary_yarn,alibi", "--length", "256"],
    "offset-matrix": ["plot", "offset-matrix", "--width", "16"],
    "attend": ["attend", TEXT, "--scheme", "rotary", "--causal"],
    "attend-second": ["attend", "the black cat", "--second", "die schwarze Katze", "--heads", "1"],
    "attend-lines": ["attend", TEXT, "--lines"],
    "attend-long": ["attend", LONG],
    "attend-trained": ["attend", "--model", "shipped", "the third of march nineteen ninety-nine"],
    "recommend": ["recommend", "--users", "users.csv", "--items", "items.csv"],
    "recommend-scores": ["recommend", "--users", "users.csv", "--items", "items.csv", "--show", "scores"],
    "vectors": ["attend", "king boy girl queen", "--vectors", "words.vec"],
    "losses": ["plot", "losses", "run"],
}
PAGES = {  # at the two smaller widths
    "attend": ["attend", TEXT, "--scheme", "rotary"],
    "attend-trained": ["attend", "--model", "shipped", "the third of march nineteen ninety-nine"],
}
BEFORE = ["train", "dates", "--steps", "40", "--validate-every", "10", "--width", "16", "--layers", "1", "-o", "run"]
FILES = {"words.vec": "king 1 1 0\nqueen 1 0 1\nboy 0 1 0\ngirl 0 0 1\n",
         "users.csv": "name,action,romance,comedy\nAnn,1,-0.5,0.2\nBen,-1,1,0.5\n",
         "items.csv": "film,action,romance,comedy\nHeat,1,-0.8,-0.5\nEmma,-0.9,1,0.3\nAlien,0.9,-1,-1\n"}

INTERACTIVE = {"button", "link", "checkbox", "radio", "slider", "tab", "switch", "textbox", "combobox", "listbox", "option", "menuitem",
               "spinbutton", "DisclosureTriangle"}
PICTURES = {"image", "img", "graphics-document", "graphics-object", "graphics-symbol", "SvgRoot"}


FAULTS = ["wide in a window", "1 texts are smaller than 10 px", "cut at the edge", "has no header cell", "has no role", "level 3 follows",
          "image has no name", "button has no name", "it asks for", "a script fails", "wider than the paper", "higher than the paper"]


def tree_complaints(nodes):
    """Of the accessibility tree: what has no name."""
    complaints = []
    for node in nodes:
        if node.get("ignored"):
            continue
        role = node.get("role", {}).get("value", "")
        name = (node.get("name") or {}).get("value", "").strip()
        if role in INTERACTIVE | PICTURES and not name:
            complaints.append(f"a {role} has no name")
        if role == "heading" and not name:
            complaints.append("a heading has no text")
    return complaints


def event_complaints(events, url):
    """Of what happened while the page loaded: requests and failures of scripts."""
    for event in events:
        parameters = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            asked = parameters["request"]["url"]
            if asked.split("#")[0] != url and not asked.startswith(("data:", "blob:", "about:")):
                yield f"it asks for {asked[:80]}"
        if event.get("method") == "Runtime.exceptionThrown":
            yield "a script fails: " + parameters["exceptionDetails"].get("text", "")
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            yield "the console says: " + parameters["entry"]["text"]


class Checker:
    def __init__(self, tab, arguments):
        self.tab, self.arguments = tab, arguments
        self.failures, self.checked = [], 0

    def fail(self, name, complaint):
        self.failures.append(name)
        print(f"{name}: {complaint}", flush=True)

    def golden(self, name, scale):
        path = GOLDENS / (name + ".webp")
        found = self.tab.picture(scale)
        if self.arguments.update:
            if path.exists() and self.difference(path.read_bytes(), found) == 0:
                return  # only what a reader could see changes the file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(found)
            return
        if not path.exists():
            return self.fail(name, "has no golden picture; --update writes it")
        differ = self.difference(path.read_bytes(), found)
        if isinstance(differ, str) or differ > MOST_BLOCKS:
            got = pathlib.Path(self.arguments.out) / (name + ".webp")
            got.parent.mkdir(parents=True, exist_ok=True)
            got.write_bytes(found)
            how = differ if isinstance(differ, str) else f"{100 * differ:.1f} % of its blocks differ"
            self.fail(name, f"{how}; see {got} beside {path}")

    def difference(self, first, second):
        self.tab.call("Page.navigate", url="about:blank")
        texts = [json.dumps(base64.b64encode(each).decode()) for each in (first, second)]
        return self.tab.run((HERE / "compare.js").read_text() + f"({texts[0]}, {texts[1]})")

    def complaints(self, path, width, dark, page):
        """What is wrong with a page or picture in such a window; unfolds what is folded."""
        url = path.as_uri()
        self.tab.open(url, width, dark=dark)
        found = list(event_complaints(self.tab.events, url))
        if page:
            found += tree_complaints(self.tab.call("Accessibility.getFullAXTree")["nodes"])
        elif not self.tab.run("!!document.querySelector('svg > title')?.textContent.trim()"):
            found.append("it has no title")
        return list(dict.fromkeys(found + self.tab.run((HERE / "checks.js").read_text())))

    def look(self, name, path, width, dark, scale, page):
        if self.arguments.only not in name:
            return
        self.checked += 1
        for complaint in self.complaints(path, width, dark, page):
            self.fail(name, complaint)
        if self.arguments.goldens or self.arguments.update:
            self.tab.open(path.as_uri(), width, dark=dark)
            self.golden(name, scale)

    def print_complaints(self, path):
        self.tab.open(path.as_uri(), PAPER[0], media="print")
        return self.tab.run((HERE / "paper.js").read_text() + f"({PAPER[0]}, {PAPER[1]})")

    def find_faults(self):
        """The checks themselves: they find every fault of faulty.html."""
        faulty = HERE / "faulty.html"
        found = "\n".join(self.complaints(faulty, 400, False, True) + self.print_complaints(faulty))
        for fault in FAULTS:
            if fault not in found:
                self.fail("faulty.html", f"nobody complains '{fault}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sextant")
    parser.add_argument("--goldens", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default="out/pages")
    arguments = parser.parse_args()
    program = browser.find()
    if not program:
        print("check_pages: no chromium here: skipped (Debian's package is `chromium`)")
        return 77
    sextant = pathlib.Path(arguments.sextant).resolve()
    with tempfile.TemporaryDirectory() as folder, browser.Browser(program) as tab:
        folder = pathlib.Path(folder)
        checker = Checker(tab, arguments)

        def make(command, path):
            subprocess.run([sextant, *command, "-o", path], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        checker.find_faults()
        for name, content in FILES.items():
            (folder / name).write_text(content)
        subprocess.run([sextant, *BEFORE], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for words, (sentence, most) in REPORTS.items():
            path = folder / f"report-{words}.html"
            make(["report", sentence], path)
            if path.stat().st_size > most:
                checker.fail(path.stem, f"must be at most {most} bytes, got {path.stat().st_size}")
            for complaint in checker.print_complaints(path):
                checker.fail(path.stem, complaint)
            for width in WIDTHS:
                for dark in (False, True):
                    name = f"report-{words}-{width}-{'dark' if dark else 'light'}"
                    checker.look(name, path, width, dark, 0.4, True)
        for name, command in PAGES.items():
            path = folder / f"{name}.html"
            make(command, path)
            for width in WIDTHS[:2]:
                checker.look(f"page-{name}-{width}", path, width, False, 0.5, True)
        for name, command in CHARTS.items():
            path = folder / f"{name}.svg"
            make(command, path)
            checker.look("chart-" + name, path, 1200, False, 0.6, False)
        print(f"check_pages: {checker.checked} views, {len(checker.failures)} complaints")
        return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
