"""Structure in data that every computer has, on one page: parts of digits, topics of docstrings, groups of imports.

    python examples/demo.py            # the page goes to demo-out/index.html
    python examples/demo.py FOLDER     # or elsewhere

No network is needed. Every fit prints its plan (what was chosen and why) and its certificate (how good it is).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import unweave
from unweave import report
from unweave.data.installed import docstrings, imports
from unweave.data.named import NamedTable
from unweave.data.readers.source import Options
from unweave.data.readers.text import count_words


def digits() -> tuple[NamedTable, object]:
    """Parts: 1797 pictures of handwritten digits, each a sum of sixteen non-negative parts."""
    data = load_digits()
    table = NamedTable(data.data, rows=[f"a {d}" for d in data.target], kind="images", image=(8, 8), source="digits")
    return table, unweave.NMF(16, random_state=0)


def topics() -> tuple[NamedTable, object]:
    """Topics: the docstrings of the installed scientific packages, as word counts under the Kullback–Leibler loss."""
    names, texts = docstrings()
    table = count_words(texts, names, Options(min_documents=10, max_words=4000))
    return table.with_(source="docstrings of numpy, scipy and scikit-learn"), unweave.NMF(12, loss="kl", random_state=0)


def groups() -> tuple[NamedTable, object]:
    """Groups: which installed package imports which module, a real table of zeros and ones."""
    return imports(), unweave.KMeans(8, random_state=0)


JOBS = {"Parts of digits": digits, "Topics of docstrings": topics, "Groups of packages by what they import": groups}


def main(folder: Path) -> Path:
    """Fit the three models and write the page; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {}
    for title, job in JOBS.items():
        print(f"\n{title}\n{'-' * len(title)}")
        table, model = job()
        began = time.perf_counter()
        model.fit(table)
        print(f"{table.shape[0]:,} rows × {table.shape[1]:,} columns, fitted in {time.perf_counter() - began:.2f} s")
        print(model.plan_)
        print(f"Certificate: {model.certificate_}")
        for line in highlights(model, table):
            print(line)
        pages[title] = report.gather(model, table)
    page = folder / "index.html"
    page.write_text(report.render_all("unweave: three tables and what they are made of", pages), encoding="utf-8")
    print(f"\nThe page: {page.resolve()}")
    return page


def highlights(model, table: NamedTable) -> list[str]:
    """A few lines that say what was found."""
    if table.kind == "images":
        return [f"{len(model.components_)} parts rebuild the pictures; they are drawn on the page."]
    if hasattr(model, "labels_"):
        return [f"  group {g + 1}: {', '.join(_members(model, table, g))}" for g in range(len(model.components_))]
    columns = np.asarray(table.columns)
    return [f"  topic {i + 1}: {' '.join(columns[np.argsort(-z)[:8]])}" for i, z in enumerate(model.components_)]


def _members(model, table: NamedTable, group: int, most: int = 6) -> list[str]:
    rows = [table.rows[i] for i in np.flatnonzero(model.labels_ == group)]
    return rows[:most] + ([f"… {len(rows) - most} more"] if len(rows) > most else [])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-out"))
