"""Report: what a fitted model found, as one HTML page, a matplotlib figure or a notebook card.

Models are known here by their attributes only, so every estimator, old or new, can be reported on. The page is made in
two steps. :func:`gather` (``facts.py``) looks at the model and its table (``view.py``) and collects small facts that
fit into JSON and into a saved model: the answer in words (``answer.py``), components (``factors.py``), the table
(``table_facts.py``), single rows (``row_facts.py``), the number of components and what goes with labels, times and
order (``choice_facts.py``), and how good the model is (``held_out.py``). :func:`render` (``page.py``) draws facts:
``panels.py``, ``number_panels.py``, ``row_panels.py``, ``state_panels.py`` and ``tensors.py`` have the sections,
``how.py`` what is folded away, ``svg.py`` the charts, ``png.py`` the pictures; ``words.py``, ``numbers.py`` and
``labels.py`` have sentences, numbers and names, ``style.py`` and ``script.py`` what a browser adds. Everything goes
through ``markup.py``, which escapes what came from outside. ``figure.py`` is for matplotlib, ``notebook.py`` the card,
``topic_map.py`` and ``topic_page.py`` are the map of a model of topics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.report.facts import gather
    from unweave.report.figure import plot
    from unweave.report.notebook import card
    from unweave.report.page import render, render_all, write

__all__ = ["gather", "render", "render_all", "write", "plot", "card"]

# Drawing facts needs nothing of what looking at a model needs, so each name is imported when it is asked for.
_HOMES = {
    "gather": "facts",
    "render": "page",
    "render_all": "page",
    "write": "page",
    "plot": "figure",
    "card": "notebook",
}


__getattr__, __dir__ = lazily(__name__, _HOMES)
