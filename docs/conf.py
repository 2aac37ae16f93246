"""The settings of the documentation site: `make docs` builds it into build/docs."""

import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes

import weigh

project = "weigh"
author = "The weigh developers"
copyright = author
version = release = weigh.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "literal"
highlight_language = "none"  # formulas are not Python
smartquotes = False  # a quote in a formula stays as it is
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_typehints = "none"  # the numpydoc sections say the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "download_all_examples": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "weigh"
html_static_path = ["_static"]
html_css_files = ["weigh.css"]
html_show_sourcelink = False
html_copy_source = False
html_search_scorer = str(Path(__file__).with_name("_static") / "scorer.js")
html_sidebars = {page: [] for page in ("index", "start", "command-line", "glossary")}
html_theme_options = {
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _skip_inherited(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn or Python defines: their own references document it."""
    home = getattr(inspect.unwrap(obj) if callable(obj) else obj, "__module__", "") or ""
    return skip or home == "builtins" or home.startswith("sklearn")


def _mark_prose(app: Any, doctree: nodes.document) -> None:
    """Let printed sentences wrap; printed tables, which have runs of spaces, keep their columns."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "text" and not re.search(r"\S {2}|─", block.astext()):
            block["classes"].append("prose")


def setup(app: Any) -> None:
    """Register the hooks with Sphinx."""
    app.connect("doctree-read", _mark_prose)
    app.connect("autodoc-skip-member", _skip_inherited)
