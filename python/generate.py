"""Writes what the Python package says of the library into its sources: _schemes.py, _calls.py, and the operator's options in the
functions that take them. It asks the built module, so that every name, default, range and meaning stands once, in the library:

  PYTHONPATH=build/release/python build/venv/bin/python python/generate.py [--check]

`cmake --build --preset release --target python_sources` runs it; with --check it writes nothing and says which files are out of date,
as the tests do."""

from __future__ import annotations

import importlib.machinery
import sys
from pathlib import Path
from typing import Any

import generate_calls
import generate_options
import generate_schemes

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "sextant"


def sources(core: Any) -> dict[Path, str]:
    """The text of every file that is made or has parts that are, by the module `_core`."""
    texts = {PACKAGE / "_schemes.py": generate_schemes.source(core.schemes(), ROOT / "docs" / "schemes"),
             PACKAGE / "_calls.py": generate_calls.source(core.calls())}
    for name, without in generate_options.FILES.items():
        texts[PACKAGE / name] = generate_options.with_options((PACKAGE / name).read_text(), without)
    return texts


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print(__doc__, file=sys.stderr)
        return 2
    # Of the build, not beside this file, and not imported: its sources may be what is out of date.
    package = importlib.machinery.PathFinder.find_spec("sextant", sys.path[1:])
    if package is None or not package.submodule_search_locations:
        print("generate.py: PYTHONPATH must have the folder of the built module, build/release/python", file=sys.stderr)
        return 2
    sys.path.insert(0, package.submodule_search_locations[0])
    import _core

    outdated = {path: text for path, text in sources(_core).items() if not path.exists() or path.read_text() != text}
    for path, text in outdated.items():
        print(("out of date: " if check else "wrote ") + str(path.relative_to(ROOT)))
        if not check:
            path.write_text(text)
    return 1 if check and outdated else 0


if __name__ == "__main__":
    sys.exit(main())
