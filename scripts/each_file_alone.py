#!/usr/bin/env python3
"""Reads every source file of a build by itself: that each includes what it uses, and has no warning of clang.

    scripts/each_file_alone.py BUILD [PART-OF-A-PATH]

BUILD is a folder configured for clang, without precompiled headers and SEXTANT_UNITY, whose embedded headers are made. No code is made,
which takes a third of the time of compiling. A part of a path chooses files.
"""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

OUTPUTS = ("-o", "-MF", "-MT")


def reading(command):
    """The command that reads the file of `command` and writes nothing."""
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in OUTPUTS:
            next(words)
        elif word not in ("-c", "-MD"):
            kept.append(word)
    compiler = next(i for i, word in enumerate(kept) if os.path.basename(word).startswith(("clang", "c++", "g++")))
    return [*kept[compiler:], "-fsyntax-only"]


def main():
    build, part = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
        entries = [entry for entry in json.load(file) if "/CMakeFiles/" not in entry["file"] and part in entry["file"]]

    def problems(entry):
        run = subprocess.run(reading(entry["command"]), cwd=entry["directory"], capture_output=True, text=True)
        return run.stdout + run.stderr if run.returncode else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [text for text in pool.map(problems, entries) if text]
    print("".join(failed), end="", file=sys.stderr)
    print(f"{len(entries)} files, {len(failed)} with errors")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
