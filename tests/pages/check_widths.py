#!/usr/bin/env python3
"""Opens reports in headless Chromium in narrow and wide windows: nothing scrolls sideways, and the text of pictures can be read.

    tests/pages/check_widths.py build/release/bin/sextant            a few widths, for `make pages`
    tests/pages/check_widths.py build/release/bin/sextant --sweep    every 40 pixels from 320 to 1400

Text of pictures is at least 9 pixels high from 390 pixels on, and 8 below. Ends with 77 where there is no Chromium.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import browser

HERE = pathlib.Path(__file__).parent
WIDTHS = (320, 390, 600, 768, 1024, 1280)
TEXTS = {6: "The cat chased the dog", 15: "The black cat sat on the couch and the brown dog slept on the rug"}
PHONE, READ, READ_BELOW = 390, 9, 8  # pixels
FAULTY = """<!DOCTYPE html><meta charset=utf-8><title>faults</title><details><div style="overflow-x: auto; width: 200px">
<div style="width: 400px">wide</div></div></details><div style="width: 2000px">page</div>
<svg viewBox="0 0 100 20" width="100"><title>small</title><text y="10" font-size="5">small</text></svg>"""
FAULTS = ("the page is", "400 wide in a box of 200", "text of 5.0 px")


def complaints(tab, path, width):
    tab.open(path.as_uri(), width)
    least = READ if width >= PHONE else READ_BELOW
    return tab.run((HERE / "widths.js").read_text() + f"({least})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sextant")
    parser.add_argument("--sweep", action="store_true")
    arguments = parser.parse_args()
    program = browser.find()
    if not program:
        print("check_widths: no chromium here: skipped (Debian's package is `chromium`)")
        return 77
    failures = 0
    with tempfile.TemporaryDirectory() as folder, browser.Browser(program) as tab:
        folder = pathlib.Path(folder)
        (folder / "faulty.html").write_text(FAULTY)
        found = "\n".join(complaints(tab, folder / "faulty.html", 390))
        for fault in FAULTS:
            if fault not in found:
                failures += 1
                print(f"faults: nobody complains '{fault}'")
        for words, text in TEXTS.items():
            path = folder / f"report-{words}.html"
            subprocess.run([pathlib.Path(arguments.sextant).resolve(), "report", text, "-o", path], check=True, stdout=subprocess.DEVNULL)
            for width in range(320, 1401, 40) if arguments.sweep else WIDTHS:
                for complaint in complaints(tab, path, width):
                    failures += 1
                    print(f"{words} words, window of {width}: {complaint}", flush=True)
    print(f"check_widths: {failures} complaints")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
