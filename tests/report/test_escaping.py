"""Names from outside never become markup, neither through a model nor through facts that somebody else made."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave
from tests.report.pages import NASTY, blobs, read, topics
from unweave import report
from unweave.data.named import NamedTable
from unweave.report.markup import plain

X = blobs()
MODELS = {
    "nmf": unweave.NMF(2, max_iter=10, tol=1e-2).fit(X),
    "kmeans": unweave.KMeans(2).fit(X),
    "pca": unweave.PCA(2).fit(X),
}


def page_of(model, columns, rows, word):
    table = NamedTable(X, columns=columns, rows=rows, source=word)
    return report.render(report.gather(model, table, code=f"x = 1\n{word}", asked=f"asked {word}"))


PLAIN = {
    name: read(page_of(model, list("abcdef"), [f"r{i}" for i in range(len(X))], "word")).outline
    for name, model in MODELS.items()
}
TEXT = st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=40))


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(columns=st.lists(TEXT, min_size=6, max_size=6), rows=st.lists(TEXT, min_size=3, max_size=3), word=TEXT)
def test_names_change_the_text_of_a_page_and_nothing_else(name, columns, rows, word):
    page = page_of(MODELS[name], columns, [rows[i % 3] for i in range(len(X))], word)
    assert read(page).outline == PLAIN[name]


@pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
def test_nasty_names_in_topics_labels_parameters_and_frames(nasty):
    pandas = pytest.importorskip("pandas")
    table = topics(columns=[f"{nasty}{j}" for j in range(30)], rows=[nasty] * 40)
    read(report.render(report.gather(unweave.NMF(2, max_iter=5, tol=0.1).fit(table), table)))
    labelled = NamedTable(X, columns=[nasty] * 6, labels=np.array([nasty, "b"] * 30))
    assert "<b>bold" not in report.render(report.gather(unweave.PCA(2).fit(labelled), labelled))
    read(report.render(report.gather(unweave.PCA(2).fit(labelled), labelled)))
    frame = pandas.DataFrame({"number": X[:, 0], "kind": ["<i>", "<u>"] * 30})
    frame.columns = pandas.Index([nasty, "kind"], dtype=object)  # pandas' own kind of text refuses half a character
    loss = {f"{nasty}": "squared", "kind": "categorical"}
    model = unweave.Factorization(1, loss=loss, codes="ridge", components="ridge", missing="nan", max_iter=5, tol=0.1)
    read(report.render(report.gather(model.fit(frame), frame)))
    read(report.card(model))
    read(report.card(unweave.NMF(2, solver=nasty)))


def leaves(value, path=()):
    if isinstance(value, dict | list):
        yield path
        for key, item in value.items() if isinstance(value, dict) else enumerate(value[:3]):
            yield from leaves(item, (*path, key))
    else:
        yield path


def facts_of(model, table):
    return json.loads(json.dumps(report.gather(model, table)))


FACTS = {name: facts_of(model, X) for name, model in MODELS.items()}
BESIDE = topics(rows=[f"text {i}" for i in range(40)]).with_(labels=np.arange(40) % 3, times=np.arange(40) + 1980.0)
FACTS["states"] = facts_of(unweave.HiddenMarkov(2, random_state=0).fit(X), X)
FACTS["topics"] = facts_of(unweave.LDA("auto", random_state=0).fit(BESIDE), BESIDE)
assert set(FACTS["topics"]) >= {"answer", "rows", "choice", "by_label", "over_time"} and "sequence" in FACTS["states"]
PATHS = [(name, path) for name, facts in FACTS.items() for path in leaves(facts) if path]
ODD = st.one_of(
    st.sampled_from(NASTY),
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.lists(st.sampled_from(NASTY), max_size=2),
    st.dictionaries(st.sampled_from(["size", "levels", "share"]), st.sampled_from(NASTY), max_size=2),
)


@settings(max_examples=300, deadline=None)
@given(where=st.sampled_from(PATHS), value=ODD)
def test_facts_from_a_stranger_are_refused_or_drawn_safely(where, value):
    name, path = where
    facts = copy.deepcopy(FACTS[name])
    spot = facts
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    try:
        page = report.render(facts)
    except ValueError:
        return
    read(page)


@given(st.text(st.characters(), max_size=300), st.integers(1, 50))
def test_plain_text_is_one_printable_line(text, longest):
    out = plain(text, longest)
    assert len(out) <= longest and all(c.isprintable() or c == "\xa0" for c in out)
    out.encode("utf-8")
