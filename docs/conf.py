"""Set up the documentation site: `make docs` builds docs/_build from these pages, the docstrings and the gallery."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]
# Two workers share two cores in the gallery: BLAS threads of their own would only fight.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["MPLBACKEND"] = "Agg"

import unweave  # noqa: E402

project = "unweave"
author = "the unweave developers"
project_copyright = "the unweave developers"
version = release = unweave.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "api_pages",
    "offline",
]
exclude_patterns = ["_build", "_ext", "gallery/**/*.zip", "gallery/README.rst"]
templates_path = ["_templates"]
default_role = "code"  # docstrings write `n_clusters` for a name
language = "en"
nitpicky = False

# Pages are read on the web and as plain files: headings get the anchors that GitHub gives them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

# What is copied from an example is what one types: without prompts and answers.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Members are listed by api_pages, which leaves out what scikit-learn defines.
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False

JOBS = ("compress", "complete", "group", "explain", "embed", "recommend", "predict")
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r".*\.py$",
    "subsection_order": [f"../examples/gallery/{job}" for job in JOBS],
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1000,  # our own test says what is slow
    "write_computation_times": False,
    "plot_gallery": "True",
    "image_srcset": [],
    "capture_repr": (),  # examples print what they want to say
    "reset_modules": ("matplotlib", "time_limit.limit"),
    "reset_modules_order": "both",
    "thumbnail_size": (320, 224),
}

html_theme = "pydata_sphinx_theme"
html_title = "unweave"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "back_to_top_button": False,
}
html_sidebars = {"index": [], "tutorial": []}
htmlhelp_basename = "unweave"
