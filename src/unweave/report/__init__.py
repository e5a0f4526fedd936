"""What a fitted model found, as one HTML page, a matplotlib figure or a notebook card.

Models are known here by their attributes only, so every estimator, old or new, can be reported on. The page is made in
two steps: :func:`gather` collects small facts that fit into JSON (and into a saved model), :func:`render` draws them.
"""

from __future__ import annotations

from unweave.report.album import render_all
from unweave.report.card import card
from unweave.report.facts import gather
from unweave.report.figure import plot
from unweave.report.page import render, write

__all__ = ["gather", "render", "render_all", "write", "plot", "card"]
