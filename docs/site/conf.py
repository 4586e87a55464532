"""Sphinx's settings for the documentation site; build_site.py runs it."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from python_reference import as_restructured_text, without_core  # noqa: E402

project = "Sextant"
author = "the authors of Sextant"
copyright = author
version = release = (Path(__file__).parents[2] / "version.txt").read_text().strip()
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_design", "breathe"]
root_doc = "index"
nitpicky = False

# Pages.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

# The C++ reference.
breathe_projects = {"sextant": os.environ["SEXTANT_DOXYGEN"]}
breathe_default_project = "sextant"
cpp_maximum_signature_line_length = 90

# The Python reference.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 90
default_role = "code"
napoleon_custom_sections = ["Source", ("Options", "params_style")]
napoleon_use_rtype = False

# The look. Nothing is fetched: the theme's fonts are those of the system.
html_theme = "furo"
html_title = f"Sextant {version}"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def setup(app):
    app.connect("autodoc-process-docstring", as_restructured_text, priority=100)
    app.connect("autodoc-process-signature", without_core)
