#!/usr/bin/env python3
"""Draws ratios.json, measured times of others over ours, as a bar chart: draw_ratios.py > docs/images/ratios.svg"""

import json
from pathlib import Path

FILE = Path(__file__).with_name("ratios.json")
COLORS = {"PyTorch": "#c44e52", "ONNX Runtime": "#4c72b0"}
NAMES, UNIT, ROW, GAP, TOP, WIDTH = 340, 150, 18, 10, 58, 900
INK, MUTED = "#222", "#666"


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {more}>{words}</text>'


def draw(entries: list[dict]) -> str:
    """Groups of bars, one per task; a bar per rival and machine, from 0, with a line at 1, where both take the same time."""
    parts, y, task = [], TOP, None
    for entry in entries:
        if entry["task"] != task:
            y += GAP
            task = entry["task"]
            parts.append(text(10, y + 13, task, 'font-weight="bold"'))
        for machine, ratio in entry["ratios"].items():
            label = f'{entry["rival"]}, {machine}'
            parts.append(text(NAMES - 8, y + 13, machine, f'text-anchor="end" fill="{MUTED}"'))
            parts.append(f'<rect x="{NAMES}" y="{y + 2}" width="{ratio * UNIT:g}" height="{ROW - 4}" fill="{COLORS[entry["rival"]]}"><title>{task}, {label}: {ratio:.2f}</title></rect>')
            parts.append(text(NAMES + ratio * UNIT + 6, y + 13, f"{ratio:.2f}"))
            y += ROW
    one = NAMES + UNIT
    parts.append(f'<line x1="{one}" x2="{one}" y1="{TOP}" y2="{y + 4}" stroke="{INK}" stroke-dasharray="4 3"/>')
    parts.append(text(one, y + 20, "as fast as Sextant", f'text-anchor="middle" fill="{MUTED}"'))
    legend, x = [], NAMES
    for rival, color in COLORS.items():
        legend.append(f'<rect x="{x}" y="34" width="14" height="14" fill="{color}"/>' + text(x + 20, 46, rival))
        x += 150
    height = y + 32
    head = text(10, 22, "Time that others take, Sextant = 1; two threads, best times", 'font-size="16" font-weight="bold"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="13" fill="{INK}"><title>Time that PyTorch and ONNX Runtime take, over that of Sextant</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n' + "\n".join([head, *legend, *parts]) + "\n</svg>\n"
    )


if __name__ == "__main__":
    print(draw(json.loads(FILE.read_text())), end="")
