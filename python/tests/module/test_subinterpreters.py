"""Other interpreters of the same process: the module refuses them with words, and goes on in the main one. The program destroys its
interpreter: one with unwritten output at exit hangs Python 3.11 as soon as NumPy is there, without sextant too."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
{first}
try:
    import {module} as interpreters
except ImportError:
    sys.exit(77)
other = interpreters.create()
code = '''
try:
    import sextant
    print("imported")
except ImportError as error:
    print("ImportError:", error)
'''
interpreters.run_string(other, code)
interpreters.destroy(other)
import sextant
print(sextant.sinusoidal(2, 2).shape)
"""


@pytest.mark.parametrize("first", ["", "import sextant"])
def test_sub_interpreters_are_refused_with_words(first):
    module = "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # as on a fresh machine
    program = PROGRAM.format(first=first, module=module)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=buffered)
    if run.returncode == 77:
        pytest.skip("this Python has no module for sub-interpreters")
    assert run.returncode == 0, run.stderr
    said, shape = run.stdout.splitlines()
    assert said.startswith("ImportError: ") and "interpreter" in said, said
    assert shape == "(2, 2)"
