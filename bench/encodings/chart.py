"""A picture of several panels with lines in bands of one deviation, in the colours of the program's charts."""

import math
from xml.sax.saxutils import escape

COLORS = ["#0072b2", "#d55e00", "#009e73", "#b8579a", "#8c6d1f", "#56b4e9", "#003f66", "#8a2c00"]
BASELINE, PAPER, INK, MUTED, AXIS, GRID = "#4d4d4d", "#ffffff", "#212934", "#56606d", "#9aa3ad", "#e8ebee"
DARK = {
    **{PAPER: "#14181d", INK: "#e3e7eb", MUTED: "#a5b0bb", AXIS: "#6b7682", GRID: "#2b333c", BASELINE: "#c9c9c9"},
    **{"#0072b2": "#4aa3df", "#d55e00": "#f0813a", "#009e73": "#2cc295", "#b8579a": "#dd86c3", "#8c6d1f": "#c09b47"},
    **{"#56b4e9": "#9bd3f5", "#003f66": "#3386bd", "#8a2c00": "#cf6b40"},
}
COLUMNS, PANEL, HIGH = 2, 440, 250  # panels in a row; width and height of a panel with its margins
LEFT, RIGHT, TOP, BOTTOM, HEAD = 46, 150, 34, 34, 50  # margins inside a panel; the title
NAME = 13  # height of a line's name


def text(x, y, words, size=11, color=INK, anchor="start", more=""):
    return f'<text x="{x:.4g}" y="{y:.4g}" font-size="{size}" fill="{color}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def spread(places, least, low, high):
    """The places moved apart to a distance of `least`, in the same order, between low and high."""
    moved = []
    for place in places:
        moved.append(max(place, moved[-1] + least if moved else low))
    limit = high
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], limit)
        limit = moved[i] - least
    return moved


def path(points):
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def panel(x0, y0, title, lines, axis):
    """`lines`: (name, [(x, low, middle, high)]), the first in the colour of the baseline. `axis`: x and y as functions, and their ticks."""
    place_x, place_y, ticks_x, ticks_y = axis
    left, right, top, bottom = x0 + LEFT, x0 + PANEL - RIGHT, y0 + TOP, y0 + HIGH - BOTTOM

    def at(x, y):
        return left + 8 + place_x(x) * (right - left - 16), min(bottom, max(top, bottom - place_y(y) * (bottom - top)))

    parts = [text(left, y0 + 20, title, 12, more=' font-weight="600"')]
    for value, label in ticks_y:
        y = at(ticks_x[0][0], value)[1]
        parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="{GRID}"/>' + text(left - 6, y + 4, label, color=MUTED, anchor="end"))
    for value, label in ticks_x:
        parts.append(text(at(value, 1)[0], bottom + 16, label, color=MUTED, anchor="middle"))
    parts.append(f'<path d="M{left} {bottom}H{right}" stroke="{AXIS}"/>')
    ends = []
    colored = [(name, points, color) for (name, points), color in zip(lines, [BASELINE, *COLORS], strict=False) if points]
    for _, points, color in colored:
        upper, lower = [at(x, high) for x, _, _, high in points], [at(x, low) for x, low, _, _ in points]
        parts.append(f'<path d="{path(upper + lower[::-1])}Z" fill="{color}" fill-opacity="0.2"/>')
    for name, points, color in colored:
        middle = [at(x, value) for x, _, value, _ in points]
        dashes = ' stroke-dasharray="5 3"' if color == BASELINE else ""
        parts.append(f'<path d="{path(middle)}" fill="none" stroke="{color}" stroke-width="1.6"{dashes}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{color}"/>' for x, y in middle]
        ends.append((*middle[-1][::-1], name if points[-1][0] == ticks_x[-1][0] else f"{name}, to {points[-1][0]}", color))
    ends.sort()
    for (y, x, name, color), named in zip(ends, spread([y for y, *_ in ends], NAME, top, bottom), strict=True):
        begin = f"{x + 4:.1f} {y:.1f}" if x > right - 16 else f"{right - 4} {named:.1f}"  # a line that ends before has no line to its name
        parts.append(f'<path d="M{begin}L{right + 4} {named:.1f}" fill="none" stroke="{color}" stroke-width="0.8"/>')
        parts.append(text(right + 8, named + 4, name))
    return parts


def log_axis(values):
    """A place in 0 .. 1 for each number between the least and the largest, by its logarithm."""
    low, high = math.log(min(values)), math.log(max(values))
    return lambda value: (math.log(value) - low) / (high - low)


def ticks_of(low, high):
    steps = [m * 10**e for e in range(-2, 5) for m in (1, 1.5, 2, 3, 4, 5, 6, 8)]
    return [(step, f"{step:g}") for step in steps if low <= step <= high]


def draw(title, subtitle, panels, xs, ys=None):
    """SVG. `panels`: (title, lines as in panel()). `xs`: ticks of x. `ys`: (low, high) of a logarithmic axis; shares of 0 .. 1 without."""
    place_x = log_axis(xs)
    place_y, ticks_y = (log_axis(ys), ticks_of(*ys)) if ys else (float, [(share / 4, f"{25 * share} %") for share in range(5)])
    axis = (place_x, place_y, [(x, str(x)) for x in xs], ticks_y)
    parts = []
    for number, (name, lines) in enumerate(panels):
        parts += panel(number % COLUMNS * PANEL, HEAD + number // COLUMNS * HIGH, name, lines, axis)
    width, height = COLUMNS * PANEL, HEAD + -(-len(panels) // COLUMNS) * HIGH
    body = "\n".join([f'<rect width="{width}" height="{height}" fill="{PAPER}"/>', text(16, 26, title, 15, more=' font-weight="600"'), text(16, 44, subtitle, color=MUTED), *parts])
    dark = "\n".join(f'svg[role=img] [{name}="{light}"]{{{name}:{color}}}' for light, color in DARK.items() for name in ("fill", "stroke") if f'{name}="{light}"' in body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        "font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif\">"
        f"<title>{escape(title)}</title><desc>{escape(subtitle)}</desc>\n"
        f"<style>@media screen and (prefers-color-scheme:dark){{\n{dark}\n}}</style>\n{body}\n</svg>\n"
    )
