"""The command line: `python -m sextant`, and the script `sextant` that comes with the package."""

from __future__ import annotations

import os
import sys

from . import _core


def main() -> int:
    """Runs the command that the process was called with; gives the exit code, as the program does."""
    return _core.run_program([os.fsencode(word) for word in sys.argv])


if __name__ == "__main__":
    sys.exit(main())
