"""Several reports on one page, under a title and with links to each."""

from __future__ import annotations

from collections.abc import Mapping

from unweave.report.markup import tag
from unweave.report.page import document, story


def render_all(title: str, reports: Mapping[str, dict]) -> str:
    """One self-contained HTML page from the facts (see :func:`gather`) of several models, each under a name.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> from unweave.report import gather, render_all
    >>> facts = gather(unweave.PCA(2).fit(np.random.default_rng(0).random((20, 4))))
    >>> page = render_all("Two views", {"first": facts, "second": facts})
    >>> page.count("<article"), page.count("<!doctype")
    (2, 1)
    """
    links = [tag("li", tag("a", name, href=f"#part-{i}")) for i, name in enumerate(reports)]
    head = tag("header", tag("h1", title), tag("ul", *links))
    parts = [
        tag("article", tag("p", name, class_="part"), *story(facts), id=f"part-{i}")
        for i, (name, facts) in enumerate(reports.items())
    ]
    return document(title, [head, *parts])
