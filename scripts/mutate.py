#!/usr/bin/env python3
"""Breaks the code in one place at a time and says which test notices: scripts/mutate.py [--list FILE] [--only TEXT] [--build FOLDER | --check]

Every line of the list (tests/mutations.txt) is `file | what is broken | old text | new text | test program`. After the name of a
program of C++ tests there may be a filter of tests that run before all of them. The old text must stand in the file exactly once. The tree must have no uncommitted changes; every file is put back. Programs of one process end at the
first test that fails. Prints a Markdown table; exit code 1 when a mutation survives, that is, when its test program passes, and when it
does not compile. ranks_tests run as three processes of MPI, files of Python by pytest; both need a folder that
has them: scripts/mutate.py --only src/ranks --build build/ranks, scripts/mutate.py --only python/ --build build/release
--check only looks whether every old text is there.
Tests of the explorer need the page made anew: scripts/mutate.py --only explorer --build build/web, after make test-page
"""
import argparse
import pathlib
import re
import signal
import subprocess
import sys

MPIRUN = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMP_NUM_THREADS=1", "mpirun", "--oversubscribe", "--bind-to", "none", "-n", "3"]
ROOT = pathlib.Path(__file__).resolve().parent.parent


class DoesNotCompile(Exception):
    """A mutant that no test can see."""


def mutations(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 5:
            sys.exit(f"{path}:{number}: must have five parts, got {len(parts)}")
        yield parts


def run(command, **more):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **more)


def command_of(build, program):
    """What is built for a test program, and how it is started."""
    if program.startswith("web/"):
        return ["sextant_app"], [ROOT / "build/page/bin/python", "-m", "pytest", "-q", "-x", "-rf", "--tb=no", "-p", "no:cacheprovider", "-m", "not slow", program]
    if program.endswith(".py"):
        python = ROOT / "build/venv/bin/python"
        paths = [f"PYTHONPATH={ROOT / build}/python", f"SEXTANT_PROGRAM={ROOT / build}/bin/sextant"]
        return ["sextant_python", "sextant_app"], ["env", *paths, python, "-m", "pytest", "-q", "-x", "-rf", "--tb=no", "-p", "no:cacheprovider", program]
    words = ["--gtest_brief=1", "--gtest_color=no"]
    if program == "ranks_tests":
        return [program], [*MPIRUN, f"{build}/tests/ranks/{program}", *words]
    return [program], [f"{build}/tests/{program}", *words, "--gtest_fail_fast"]


def tests_that_fail(build, program):
    """The names of the failed tests, or how the program ended without one."""
    program, _, first = program.partition(" ")
    targets, command = command_of(build, program)
    if run(["ninja", "-C", build, *targets]).returncode != 0:
        raise DoesNotCompile
    if program.startswith("web/"):
        run([sys.executable, "web/build_page.py", f"{build}/bin", "out/explorer"], check=True)
    limit = "300" if program == "ranks_tests" else "900"
    ran = run(["timeout", limit, *command, *([f"--gtest_filter={first}"] if first else [])])
    if first and ran.returncode == 0:
        ran = run(["timeout", limit, *command])
    if ran.returncode == 124:
        return ["does not end"]
    failed = list(dict.fromkeys(re.findall(r"^(?:\[  FAILED  \]|FAILED \S+?::) ?([\w/.]+)", ran.stdout, re.M)))
    if ran.returncode != 0 and not failed:
        return [f"ended with {ran.returncode}"]
    return failed


def check(path):
    """Whether each old text stands in its file once: code moves, and the list must follow."""
    lost = 0
    for file, what, old, _, _ in mutations(path):
        count = (ROOT / file).read_text().count(old) if (ROOT / file).exists() else 0
        if count != 1:
            lost += 1
            print(f"mutate: {file}, {what}: must have the old text once, has it {count} times", file=sys.stderr)
    return 1 if lost else 0


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--list", type=pathlib.Path, default=ROOT / "tests/mutations.txt", help="the mutations")
    words.add_argument("--only", default="", help="those whose line contains this text")
    words.add_argument("--build", default="build/dev", help="a configured build folder")
    words.add_argument("--check", action="store_true", help="only look whether the places to break are there")
    given = words.parse_args()
    if given.check:
        return check(given.list)
    if run(["git", "status", "--porcelain", "--untracked-files=no"]).stdout:
        sys.exit("mutate: the tree has uncommitted changes")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # puts the file back
    survived = 0
    print("| file | mutation | caught by |\n|---|---|---|")
    for file, what, old, new, program in mutations(given.list):
        if given.only not in " | ".join([file, what]):
            continue
        path = ROOT / file
        text = path.read_text()
        if text.count(old) != 1:
            sys.exit(f"mutate: {file} has {text.count(old)} times: {old}")
        try:
            path.write_text(text.replace(old, new))
            failed = tests_that_fail(given.build, program)
            caught = ", ".join(failed[:2]) or "**nothing**"
        except DoesNotCompile:
            failed, caught = [], "**does not compile**"
        finally:
            path.write_text(text)
        survived += not failed
        print(f"| {file} | {what} | {caught} |", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
