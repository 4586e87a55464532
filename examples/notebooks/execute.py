"""Runs notebooks from the first cell to the last in IPython, the part of Jupyter that runs cells; each notebook runs in a separate process.

    execute.py NOTEBOOK ...      says how long each took; exits with 1 if a cell fails
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


class CellError(Exception):
    """A cell that fails, with its traceback."""


def run_here(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of code, as a notebook file has them."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    shown: list[dict[str, Any]] = []

    class Hook(DisplayHook):
        """Takes the value of a cell's last line."""

        def __call__(self, value: Any = None) -> None:
            if value is not None:
                data, _ = self.compute_format_data(value)
                shown.append({"output_type": "execute_result", "data": data})

    class Shell(InteractiveShell):
        displayhook_class = Hook
        display_pub_class = CapturingDisplayPublisher

    shell = Shell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    results = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        shown.clear()
        shell.display_pub.outputs.clear()
        with capture_output(display=False) as captured:
            done = shell.run_cell("".join(cell["source"]), store_history=False)
        if not done.success or captured.stderr:  # an error, or a warning
            told = re.sub(r"\x1b\[[0-9;]*m", "", captured.stdout + captured.stderr)
            raise CellError(f"cell {cell['id']}:\n{told}")
        streams = [{"output_type": "stream", "name": "stdout", "text": captured.stdout}] if captured.stdout else []
        displayed = [{"output_type": "display_data", "data": each["data"]} for each in shell.display_pub.outputs]
        results.append([*streams, *displayed, *(dict(each) for each in shown)])
    return results


def execute(notebook: Path) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of code. The notebook runs in another process, in an empty folder, with nothing of the user's.

    The results that are stored in the repository are where they are for a notebook in its own folder: ../../bench.
    """
    with tempfile.TemporaryDirectory() as empty:
        (Path(empty) / "bench").symlink_to(Path(__file__).resolve().parents[2] / "bench")
        folder = Path(empty) / "examples" / "notebooks"
        folder.mkdir(parents=True)
        environment = {**os.environ, "IPYTHONDIR": empty}
        command = [sys.executable, str(Path(__file__).resolve()), "--outputs", str(notebook.resolve())]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise CellError(f"{notebook.name}, {done.stderr.strip()}")
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> int:
    if sys.argv[1] == "--outputs":
        try:
            outputs = run_here(json.loads(Path(sys.argv[2]).read_text()))
        except CellError as error:
            print(error, file=sys.stderr)
            return 1
        json.dump(outputs, sys.stdout)
        return 0
    failed = 0
    for path in map(Path, sys.argv[1:]):
        start = time.perf_counter()
        try:
            execute(path)
        except CellError as error:
            failed = 1
            print(error, file=sys.stderr)
        print(f"{path}: {time.perf_counter() - start:.1f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
