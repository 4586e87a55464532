"""Runs the README's lines of Python and compares what they print with what it says. A program of its own, for a clean
environment that has no pytest."""

import contextlib
import io
import re
import sys
from pathlib import Path


def check(page: Path) -> None:
    pairs = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)
    assert pairs, f"{page} has no lines of Python"
    for program, wanted in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, str(page), "exec"), {})
        assert printed.getvalue() == wanted, printed.getvalue()


if __name__ == "__main__":
    check(Path(sys.argv[1]))
