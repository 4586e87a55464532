"""The C++ reference: what Doxygen reads of the public headers, and a page for each of them.

The headers' comments are plain `//`. Doxygen gets copies in which they are `///` and `///<`, without the namespace that everything is in.
"""

from __future__ import annotations

import re
from pathlib import Path

from stage_pages import ORPHAN, ROOT, Stage, contents

CODE = re.compile(r"""^((?:[^"'/]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|'|/(?!/))*)//(.*)$""")  # before a comment, and the comment
INCLUDE = ROOT / "include" / "sextant"
PUBLIC = "innerclass define enum typedef var func public-type public-attrib public-static-attrib public-func public-static-func user-defined"


def escaped(text: str) -> str:
    """Plain text as Doxygen's: nothing in it is a command, a tag or a link, and `code` is code."""
    text = re.sub(r'([\\@<>#%&$"])', r"\\\1", text)
    text = re.sub(r"`([^`]*)`", r"<tt>\1</tt>", text)
    return re.sub(r"^(\s*)([-+*]|\d+\.)(?= )", r"\1<span>\2</span>", text.replace("::", r"\::"))  # no list


def for_doxygen(text: str) -> str:
    """A header with comments that Doxygen reads."""
    result = []
    column = -1  # of the comment behind the code of the line before, which a line of comment alone may go on with
    for number, line in enumerate(text.splitlines()):
        if re.match(r"namespace sextant \{|\}  // namespace sextant$", line):
            result.append("")
            continue
        line = re.sub(r"^(\s+[\w:<>]+ \w+)(?: = )?(\{\..*\});", r"\1;  // Default: \2.", line)  # Sphinx reads no designated initialisers
        found = CODE.match(line)
        if not found:
            result.append(line)
            column = -1
            continue
        code, comment = found.groups()
        if code.strip():
            column = len(code)
        elif len(code) != column:
            column = -1
        mark = "///<" if column >= 0 else "///"
        if number == 0:
            result.append("/// \\file")
        verbatim = "<br>&nbsp;&nbsp;" if column < 0 and comment.startswith("   ") else ""
        result.append(f"{code}{mark}{verbatim}{escaped(comment)}")
    return "\n".join(result) + "\n"


def as_markdown(text: str) -> str:
    """Plain text in which `code` is code."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\*_<>\[\]#|])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def comment_of(header: Path) -> list[str]:
    """The lines of the comment that a header begins with, which say what it is for."""
    return [line.removeprefix("//").removeprefix(" ") for line in re.match(r"(?://.*\n)+", header.read_text())[0].splitlines()]


def purpose(header: Path) -> str:
    """The first sentence of that comment."""
    return as_markdown(re.split(r"(?<! al)(?<=[\w)\]\"])\.(?: |$)", " ".join(comment_of(header)))[0])


def introduction(header: Path) -> str:
    """All of that comment; what is indented is code."""
    lines = []
    for line in comment_of(header):
        code = line.startswith("  ")
        if lines and code != lines[-1].startswith("  "):
            lines.append("")
        lines.append("  " + line if code else as_markdown(line))
    return "\n".join(lines)


def headers(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.h") if not path.stem.endswith("-inl"))


def flat(header: Path) -> str:
    """The name of a header's copy: Doxygen 1.9 and breathe tell files apart by their last name only."""
    return "-".join(header.relative_to(INCLUDE).parts)


def write_headers(folder: Path) -> None:
    """The copies for Doxygen."""
    folder.mkdir(parents=True, exist_ok=True)
    for header in headers(INCLUDE):
        (folder / flat(header)).write_text(for_doxygen(header.read_text()))


def include_line(name: str) -> str:
    return f'```cpp\n#include "sextant/{name}"\n```\n\n'


def header_page(header: Path) -> str:
    name = header.relative_to(INCLUDE).as_posix()
    return f"{ORPHAN}# {name}\n\n{introduction(header)}\n\n{include_line(name)}```{{doxygenfile}} {flat(header)}\n:sections: {PUBLIC}\n```\n"


def table(rows: list[tuple[str, str, str]], what: str) -> str:
    """Of (page, name, purpose)."""
    return "\n".join([f"| {what} | purpose |", "|---|---|", *(f"| [{name}]({page}.md) | {purpose} |" for page, name, purpose in rows), ""])


def add_component(stage: Stage, umbrella: Path) -> None:
    folder = umbrella.with_suffix("")
    if not folder.is_dir():
        stage.write(f"cpp/{umbrella.stem}.md", header_page(umbrella).removeprefix(ORPHAN))
        return
    rows = []
    for header in headers(folder):
        page = header.relative_to(INCLUDE).with_suffix("").as_posix()
        stage.write(f"cpp/{page}.md", header_page(header))
        rows.append((page, header.relative_to(folder).as_posix(), purpose(header)))
    stage.write(f"cpp/{umbrella.stem}.md",
                f"# {umbrella.stem}\n\n{include_line(umbrella.name)}{purpose(umbrella)}. That header includes all of these:\n\n{table(rows, 'header')}")


def add_cpp_reference(stage: Stage) -> None:
    components = [path for path in sorted(INCLUDE.glob("*.h")) if path.stem != "sextant"]
    for umbrella in components:
        add_component(stage, umbrella)
    intro = ("Everything is in the namespace `sextant`. A component is a folder of headers, a header that includes all of them, and a library to "
             "link: `sextant::attention` with its dependencies; `sextant::sextant` is all. [Install and link](../install.md).")
    stage.write("cpp/index.md", f"# C++ reference\n\n{include_line('sextant.h')}{intro}\n\n"
                + table([(path.stem, path.stem, purpose(path)) for path in components], "component") + contents(path.stem for path in components))
