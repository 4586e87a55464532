"""Refuses sub-interpreters before the compiled part is loaded: its tables, caches and types are the process's. Python itself refuses
only interpreters that ask for it, from 3.12 on."""

from __future__ import annotations

import importlib
import sys


def is_main() -> bool:
    try:
        interpreters = importlib.import_module("_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")
    except ImportError:
        return True  # a Python that cannot tell, and makes none
    return bool(interpreters.get_current() == interpreters.get_main())


if not is_main():
    raise ImportError("sextant works in the main interpreter alone, and this is a sub-interpreter")
