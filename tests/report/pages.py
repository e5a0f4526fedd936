"""What tests of reports share: models to report on, and a strict reader of pages."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import scipy.sparse as sp

import unweave
from unweave.data.named import NamedTable
from unweave.report.script import SCRIPT

VOID = {"img", "meta", "br", "input"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "div", "p"),
    *("h1", "h2", "h3", "small", "b", "bdi", "span", "code", "pre", "ul", "li", "dl", "dt", "dd", "figure", "img"),
    *("figcaption", "table", "thead", "tbody", "tr", "th", "td", "svg", "path", "line", "rect", "circle", "text", "g"),
    *("details", "summary", "input", "output", "button", "ol", "script"),
}
NASTY = [
    "</script><img src=x onerror=alert(1)>",
    '"><svg/onload=alert(1)>',
    "'><b>bold</b>",
    "</style></title></pre></svg><script>alert(1)</script>",
    "nul\x00inside",
    "\u202egnp.exe",
    "&lt;img&gt; &#60;",
    "\ud800 half a pair",
    "x" * 10_000,
    "{{7*7}} ${7*7} <!-- -->",
    "",
    "line\nbreak\r\ttab\x85\u2028end",
]


class Reader(HTMLParser):
    """Checks nesting, tags and attributes while it reads; keeps the outline and the text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.outline: list[tuple] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, f"unexpected <{tag}>"
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        for name, value in attrs:
            assert not name.startswith("on"), f"<{tag} {name}>"
            assert name not in ("href", "xlink:href", "srcset", "action", "srcdoc"), f"<{tag} {name}>"
            if name == "src":
                assert value.startswith("data:image/png;base64,"), value[:40]
        self.outline.append((tag, tuple(names)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        raise AssertionError(f"<{tag}/> closes itself")

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> does not close what is open"

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            assert data == SCRIPT, "a script that is not ours"
        elif not self.open or self.open[-1] != "style":
            self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError("a page has no comments")


def read(page: str) -> Reader:
    """The page, parsed; every check of :class:`Reader` has passed."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    page.encode("utf-8")
    assert "://" not in page and "url(" not in page and "@import" not in page
    return reader


def blobs(n=60, m=6, k=3):
    rng = np.random.default_rng(1)
    return rng.normal(size=(k, m))[rng.integers(k, size=n)] * 4 + rng.normal(size=(n, m)) + 20


def topics(columns=None, rows=None):
    rng = np.random.default_rng(2)
    counts = rng.poisson(rng.gamma(0.4, 1, (40, 3)) @ rng.gamma(0.4, 2, (3, 30))).astype(float)
    columns = columns or [f"word{j}" for j in range(30)]
    return NamedTable(sp.csr_array(counts), rows=rows, columns=columns, kind="counts", source="words.txt")


def ratings():
    rng = np.random.default_rng(3)
    known = rng.random((60, 25)) < 0.4
    values = 3 + rng.normal(size=(60, 2)) @ rng.normal(size=(2, 25))
    X = sp.csr_array((values[known], np.nonzero(known)), shape=known.shape)
    return NamedTable(X, columns=[f"film {j}" for j in range(25)], missing="zeros", kind="ratings")


def pictures():
    from sklearn.datasets import load_digits

    return NamedTable(load_digits().data[:200], kind="images", image=(8, 8))


def holed(X, share=0.1):
    hole = np.random.default_rng(4).random(X.shape) < share
    return np.where(hole, np.nan, X)


def cases():
    """(name, model, data) for every estimator on dense, sparse, missing and named tables."""
    X = blobs()
    named = NamedTable(X, columns=list("abcdef"), rows=[f"row {i}" for i in range(len(X))], source="blobs.csv")
    rng = np.random.default_rng(0)
    sparse = sp.csr_array(np.where(rng.random((80, 30)) < 0.2, rng.random((80, 30)), 0))
    few = {"max_iter": 15, "tol": 1e-3}
    yield "factorization", unweave.Factorization(2, codes="nonnegative", **few), X
    yield "factorization-sparse", unweave.Factorization(2, **few), sparse
    yield "factorization-huber-missing", unweave.Factorization(2, loss="huber", missing="nan", **few), holed(X)
    yield "factorization-one-hot", unweave.Factorization(3, codes="one-hot", **few), named
    yield "pca", unweave.PCA(3), named
    yield "pca-all", unweave.PCA(), X
    yield "pca-share-sparse", unweave.PCA(0.5), sparse
    yield "pca-missing", unweave.PCA(2, missing="nan", **few), holed(X)
    yield "pca-blocks", unweave.PCA(2), [X[:30], X[30:]]
    yield "svd", unweave.TruncatedSVD(3), sparse
    yield "svd-missing", unweave.TruncatedSVD(2, missing="nan", **few), holed(X)
    yield "nmf", unweave.NMF(3, **few), named
    yield "nmf-sparse-kl", unweave.NMF(3, loss="kl", **few), topics()
    yield "nmf-images", unweave.NMF(5, **few), pictures()
    yield "nmf-mask", unweave.NMF(2, missing=np.random.default_rng(5).random(X.shape) < 0.1, **few), X
    yield "kmeans", unweave.KMeans(3), named
    yield "kmeans-sparse", unweave.KMeans(4), sparse
    yield "kmeans-missing", unweave.KMeans(3, missing="nan"), holed(X)
    yield "completion", unweave.MatrixCompletion(2, **few), ratings()
    yield "completion-dense", unweave.MatrixCompletion(2, ridge=1.0, **few), holed(X, 0.3)
