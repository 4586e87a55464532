"""The tools of docs/site that need neither Sphinx nor Doxygen."""

import inspect
import sys
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

from check_site import complaints  # noqa: E402
from notebook_pages import page as notebook_as_page  # noqa: E402
from cpp_reference import INCLUDE, for_doxygen, headers, purpose  # noqa: E402
from python_reference import add_python_reference, as_restructured_text  # noqa: E402
from scheme_gallery import formula  # noqa: E402
from stage_pages import Stage, page_of  # noqa: E402

GOOD = '<html><body><h1 id="top">One</h1><a href="two.html#part">two</a><a href="https://example.org">elsewhere</a></body></html>'
TWO = '<html><head><link rel="stylesheet" href="style.css"></head><body><p id="part"></p><a href="#part">up</a></body></html>'


def site(folder, page):
    (folder / "one.html").write_text(page)
    (folder / "two.html").write_text(TWO)
    (folder / "style.css").write_text("body { background: url(data:image/png;base64,AA) } /* url(https://example.org/x) */")
    return complaints(folder)


def test_a_site_without_faults_has_no_complaints(tmp_path):
    assert site(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ('<a href="three.html">', "three.html leads nowhere"),
        ('<a href="../one.html">', "../one.html leads nowhere"),
        ('<a href="two.html#gone">', "two.html#gone has no such anchor"),
        ('<a href="#gone">', "#gone has no such anchor"),
        ('<img src="gone.svg">', "gone.svg leads nowhere"),
        ('<script src="https://example.org/a.js"></script>', "fetches https://example.org/a.js"),
        ('<link rel="preload stylesheet" href="//example.org/a.css">', "fetches //example.org/a.css"),
        ('<img srcset="two.html 1x, https://example.org/a.png 2x">', "fetches https://example.org/a.png"),
        ("<style>@import 'https://example.org/a.css'</style>", "fetches https://example.org/a.css"),
        ('<p style="background: url(https://example.org/a.png)">', "fetches https://example.org/a.png"),
    ],
)
def test_each_fault_of_a_site_is_found(tmp_path, fault, complaint):
    assert any(complaint in each for each in site(tmp_path, GOOD.replace("</body>", fault + "</body>")))


def test_a_folder_without_pages_is_no_site(tmp_path):
    assert complaints(tmp_path)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("docs/learn.md", "learn.md"),
        ("docs/README.md", "README.md"),
        ("docs/schemes", "schemes/index.md"),
        ("docs/decisions", "decisions/index.md"),
        ("docs/images/rotary.svg", "images/rotary.svg"),
        ("README.md", "project/README.md"),
        ("examples/notebooks", "notebooks/index.md"),
        ("examples/notebooks/order_lab.ipynb", "notebooks/order_lab.md"),
        ("tests/hostile/README.md", "source/tests/hostile/README.md"),
        ("examples", "source/examples/README.md"),
        ("examples/decode.cc", "source/examples/decode.cc.md"),
        ("include/sextant/attention/attention.h", "cpp/attention/attention.md"),
    ],
)
def test_files_have_their_page(path, page):
    assert page_of(PurePosixPath(path)) == PurePosixPath(page)


def test_links_lead_to_pages_of_the_site_and_code_is_left_alone(tmp_path):
    text = "[a](../examples/decode.cc) [b](../CONTRIBUTING.md#style) [c](https://x.org) [d](#here)\n```cpp\n[](../examples/decode.cc)\n```\n[e](schemes)\n"
    stage = Stage(tmp_path, {PurePosixPath("docs/schemes/README.md"): "its end\n"})
    found = stage.linked(text, PurePosixPath("docs/learn.md"), PurePosixPath("learn.md"))
    assert found == (
        "[a](source/examples/decode.cc.md) [b](project/CONTRIBUTING.md#style) [c](https://x.org) [d](#here)\n"
        "```cpp\n[](../examples/decode.cc)\n```\n[e](schemes/index.md)\n"
    )
    assert (tmp_path / "source/examples/decode.cc.md").exists() and (tmp_path / "schemes/index.md").read_text().endswith("its end\n")


def test_comments_become_those_of_doxygen():
    header = (
        '// What it is for.\n#pragma once\n\nnamespace sextant {\n\n// Above, `code` <q, k>.\nint f(const char* s = "//");  // behind\n'
        "                              // and on\nint g();\n\n}  // namespace sextant\n"
    )
    assert for_doxygen(header).splitlines() == [
        "/// \\file",
        "/// What it is for.",
        "#pragma once",
        "",
        "",
        "",
        "/// Above, <tt>code</tt> \\<q, k\\>.",
        'int f(const char* s = "//");  ///< behind',
        "                              ///< and on",
        "int g();",
        "",
        "",
    ]


def test_every_header_says_what_it_is_for():
    assert all(len(purpose(header)) > 10 for header in headers(INCLUDE))
    assert purpose(INCLUDE / "core" / "dtype.h") not in ("", purpose(INCLUDE / "core" / "error.h"))


def test_every_public_name_of_the_module_has_a_page(tmp_path):
    import sextant

    add_python_reference(Stage(tmp_path, ends={}))
    index = (tmp_path / "python" / "index.md").read_text()
    modules = {name for name in sextant.__all__ if inspect.ismodule(getattr(sextant, name))}
    names = {name for name in sextant.__all__ if not name.startswith("__")} - modules
    names |= {f"{module}.{name}" for module in modules for name in getattr(sextant, module).__all__}
    assert {name for name in names if f"`{name}`" not in index} == set()
    for page in (tmp_path / "python").glob("*.md"):
        assert page.read_text().startswith("# ") and f"({page.name})" in index or page.name == "index.md"


def test_docstrings_keep_formulas_and_ranges():
    lines = ["Turns pairs:", "", "    y = x * 2", "", "Args:", "    base (> 0; None: auto): what a_ is", "    out: *kwargs", ""]
    as_restructured_text(None, "function", "f", None, None, lines)
    text = "\n".join(lines)
    assert ".. code-block:: text\n\n    y = x * 2" in text
    assert "    base: (> 0; None: auto) what a\\_ is\n    out: \\*kwargs" in text


def test_formulas_are_those_of_the_page():
    assert formula("# a\n\nIdea:\n\n    x = 1\n\n    y = 2\n\nMore.\n\n## See it\n\n    z\n") == "x = 1\n\ny = 2"
    assert formula("# a\n\nIdea.\n\n## See it\n\n    z\n") == ""


def test_notebooks_become_pages_with_what_their_cells_show():
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "[a](../../docs/learn.md)"]},
        {"cell_type": "code", "source": ["print(1)\n", "picture"]},
        {"cell_type": "code", "source": ["x = 2"]},
    ]
    picture = '<svg xmlns="http://www.w3.org/2000/svg"><title id="t">A [map] &amp; more</title></svg>'
    shown = [
        {"output_type": "stream", "name": "stdout", "text": "1\n"},
        {"output_type": "execute_result", "data": {"text/plain": "Picture()", "image/svg+xml": picture}},
    ]
    text, pictures = notebook_as_page({"cells": cells}, [shown, []], "lab")
    assert text.split("\n\n") == [
        "# Title\n[a](../../docs/learn.md)",
        "``````python\nprint(1)\npicture\n``````",
        "``````text\n1\n``````",
        "![A map & more](lab-0.svg)",
        "``````python\nx = 2\n``````\n",
    ]
    assert pictures == {"lab-0.svg": picture}
