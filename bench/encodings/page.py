#!/usr/bin/env python3
"""Writes the tables of docs/encodings.md and its charts, docs/images/encodings-NAME.svg, from results.json.

    bench/encodings/page.py [--check]       --check changes nothing, and names the files that differ

A part of the page between `<!-- begin NAME -->` and `<!-- end NAME -->` is replaced; the rest is written by hand.
"""

import json
import pathlib
import re
import sys

import cases
import chart
import schemes
import tables

sys.path.insert(0, str(cases.ROOT / "scripts"))

import wrap_documents  # noqa: E402

RESULTS = pathlib.Path(__file__).with_name("results.json")
PAGE = cases.ROOT / "docs" / "encodings.md"
PANELS = {
    "added": ["added"],
    "rotated": ["rotated"],
    "rotary with extensions in its place": ["rotary, extended"],
    "bias by distance, fixed": ["bias by distance, fixed"],
    "bias by distance, learned": ["bias by distance, learned"],
    "bias by query and key; content": ["bias by query and key", "content"],
}


def store(results):
    """Keeps the results, a row in a line, and draws the page and its charts."""
    rows = ",\n".join("  " + json.dumps(row) for row in results["rows"])
    about = json.dumps({name: value for name, value in results.items() if name != "rows"}, indent=1)
    RESULTS.write_text(f'{about[:-2]},\n "rows": [\n{rows}\n ]\n}}\n')
    for path, content in files(json.loads(RESULTS.read_text())).items():
        path.write_text(content)


def picture(numbers, test):
    """The chart of a text or task: all schemes by kind, and in each panel the model without positions."""
    panels = [
        (title, [(scheme, numbers.band(test, scheme)) for scheme in ["none", *(s for s, group in tables.SCHEMES.items() if group in groups)]])
        for title, groups in PANELS.items()
    ]
    panels[2][1].insert(1, ("rotary", numbers.band(test, "rotary")))
    means = f"means of {numbers.seeds()}; bands: one standard deviation on both sides"
    bands = f"lines: {'one seed' if numbers.seeds() == '1 seed' else means}; dashed: no positions"
    if test in cases.TASKS:
        title = f"{test.capitalize()}: letters in the right place, by the number of letters"
        return chart.draw(title, f"trained with 1 to {cases.LONGEST} letters; {bands}", panels, tables.LETTERS)
    values = [y for _, lines in panels for _, points in lines for _, *ys in points for y in ys]
    title = f"{tables.TITLES[test]}: perplexity per character, by the test length"
    return chart.draw(title, f"trained at {tables.LENGTHS[0]} characters; {bands}", panels, tables.LENGTHS, (0.96 * min(values), 1.04 * max(values)))


def measured(results, numbers):
    planned = "" if numbers.seeds() == f"{results['seeds']} seeds" else f" of the {results['seeds']} planned"
    return (
        f"Sextant {results['version']}, {results['date']}; {numbers.seeds()}{planned}. One core of an {results['processor']}, shared with other work: "
        f"{results['processor_hours']:.1f} hours of processor time, {results['hours']:.1f} hours by the clock."
    )


def left_out():
    return tables.table(["scheme", "reason"], [[tables.link(scheme), why] for scheme, why in schemes.LEFT_OUT.items()])


def files(results):
    """{path: content} of the page and its charts."""
    numbers = tables.Numbers(results)
    parts = {"measured": measured(results, numbers), "summary": tables.summary(numbers), "facts": tables.facts(numbers), "left out": left_out()}
    parts |= {test: tables.perplexities(numbers, test) for test in tables.TITLES} | {task: tables.shares(numbers, task) for task in cases.TASKS}
    page = PAGE.read_text()
    for name, content in parts.items():
        place = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        page, count = place.subn(lambda found, content=content: f"{found[1]}\n{content}\n\n{found[2]}", page)
        if count != 1:
            sys.exit(f"encodings: {PAGE.name} must have one part '{name}', has {count}")
    drawn = {cases.ROOT / "docs" / "images" / f"encodings-{test}.svg": picture(numbers, test) for test in [*tables.TITLES, *cases.TASKS]}
    return {PAGE: wrap_documents.wrapped(page), **drawn}


def main():
    made = files(json.loads(RESULTS.read_text()))
    different = [path for path, content in made.items() if not path.exists() or path.read_text() != content]
    for path in different:
        if "--check" in sys.argv:
            print(f"encodings: {path.relative_to(cases.ROOT)} is not what results.json gives; bench/encodings/page.py writes it")
        else:
            path.write_text(made[path])
    return 1 if different and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
