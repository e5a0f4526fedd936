"""No topic is missed and none is there twice: merging, splitting, few documents, seed words, and the objective."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import unweave
from tests.explain.topics.corpora import matched, nearest_pair, overlapping, planted
from tests.reference import topics as twin
from unweave import LDA, PLSA, SimplexTopics
from unweave.data.named import NamedTable
from unweave.explain.topics.moves import halved, merged, merging

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 5))
def test_merging_is_its_twin(seed, count, k):
    rng = np.random.default_rng(seed)
    words, documents = rng.gamma(0.5, size=(7, count)), rng.gamma(0.5, size=(5, count))
    into = merging(words, documents, min(k, count))
    found = [set(np.flatnonzero(into == t)) for t in range(into.max() + 1)]
    assert found == twin.merging(words, documents, min(k, count))
    np.testing.assert_allclose(merged(words, into).sum(axis=1), words.sum(axis=1))


def test_seeded_topics_keep_their_places_and_many_copies_become_one(rng):
    copies = np.tile(rng.gamma(1.0, size=(9, 1)), 40)
    assert merging(copies, np.ones((3, 40)), 1).tolist() == [0] * 40
    into = merging(copies, np.ones((3, 40)), 5, fixed=3)
    assert into[:3].tolist() == [0, 1, 2] and len(set(into)) == 5


def test_halves_add_up(dtype, rng):
    documents = rng.gamma(1.0, size=(20, 3)).astype(dtype)
    halves = halved(documents, rng)
    assert halves.dtype == dtype and halves.shape == (20, 6)
    np.testing.assert_allclose(halves[:, :3] + halves[:, 3:], documents, rtol=1e-5)


@pytest.mark.parametrize("make", [LDA, PLSA, SimplexTopics])
@pytest.mark.parametrize("seed", range(20))
def test_no_planted_topic_is_missed(make, seed):
    X, topics = planted(seed=seed // 2)
    assert matched(make(4, random_state=seed).fit(X).topics_, topics) < 0.25
    X, topics = overlapping(seed=seed // 2)
    assert matched(make(8, random_state=seed).fit(sp.csr_array(X, dtype=np.float32)).topics_, topics) < 0.4


def test_none_of_twenty_topics_is_missed():
    for seed in range(3):
        X, topics = overlapping(n=500, words=500, k=20, length=80, seed=seed)
        assert matched(LDA(20, random_state=seed).fit(X).topics_, topics) < 0.5


@pytest.mark.parametrize("inference", ["gibbs", "batch", "online"])
def test_no_inference_misses_a_planted_topic(inference):
    for seed in range(4):
        X, topics = overlapping(seed=seed)
        model = LDA(8, inference=inference, alpha=0.1, eta=0.05, max_iter=60, random_state=seed).fit(X)
        assert matched(model.topics_, topics) < 0.4


def test_a_merged_start_is_split_again(rng):
    """Two topics run together and one there twice: what a bad start leaves behind."""
    from unweave.explain.topics.collapsed import Collapsed, sweep
    from unweave.explain.topics.corpus import Corpus

    X, topics = planted()
    scheme = Collapsed(Corpus(sp.csr_array(X), 4), np.full(4, 0.1), 0.05, (True, True))
    bad = np.array([topics[0] + topics[1], topics[2], topics[3], topics[3]]) / [[2], [1], [1], [1]]
    state = {**scheme.begin(rng), "words": (X.sum() / 4 * bad.T), "documents": np.full((len(X), 4), 15.0)}
    for _ in range(30):
        state, state["value"] = sweep(scheme.corpus, state)
    assert matched(scheme.topics(state), topics) > 0.3
    assert matched(scheme.topics(scheme._repaired(state)), topics) < 0.15


@pytest.mark.parametrize("k", [15, 20])
def test_few_long_documents_have_no_topic_twice(k):
    for seed in range(3):
        X, topics = overlapping(n=20, words=300, k=k, length=2000, seed=seed)
        model = LDA(k, random_state=seed).fit(X)
        assert "few documents" in str(model.plan_)
        assert nearest_pair(model.topics_) > 0.3
        apart = 0.5 * np.abs(model.topics_[:, None] - topics[None]).sum(axis=2).min(axis=0)
        assert apart.mean() < (0.2 if k == 15 else 0.25)
    assert "collapsed" in str(LDA(15, max_iter=5, tol=0).fit(X / 2).plan_)  # draws need whole counts


def test_tiny_tables_have_topics_that_differ():
    for seed in range(5):
        model = LDA(2, random_state=seed).fit(np.array([[3, 0, 0], [0, 4, 1], [0, 1, 5]]))
        assert nearest_pair(model.topics_) > 0.5
    X = np.random.default_rng(0).poisson(2, (3, 3))
    assert LDA(3, random_state=0).fit(X).eta_ < 1  # learned from nothing it would run away, and topics be uniform


MODELS = {
    "collapsed": lambda k: LDA(2, inference="collapsed", max_iter=k, tol=0),
    "gibbs": lambda k: LDA(2, inference="gibbs", max_iter=k),
    "batch": lambda k: LDA(2, inference="batch", max_iter=k, tol=0),
    "online": lambda k: LDA(2, inference="online", max_iter=k),
    "seeded": lambda k: LDA(2, seed_words=[["0"]], max_iter=k, tol=0),
    "plsa": lambda k: PLSA(2, max_iter=k, tol=0),
    "tempered": lambda k: PLSA(2, temper=0.7, max_iter=k, tol=0),
    "simplex": lambda k: SimplexTopics(2, max_iter=k, tol=0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("storage", ["dense", "sparse", "float32"])
def test_the_objective_is_that_of_what_is_returned(name, storage):
    X = planted(n=40, k=2, words=16)[0]
    X[3] = 0 if name != "simplex" else X[3]  # its objective has an empty document at its best code, not at the mean
    table = {"dense": X, "sparse": sp.csr_array(X), "float32": X.astype(np.float32)}[storage]
    for steps in (1, 7):
        model = MODELS[name](steps).fit(table)
        theta, phi = (np.asarray(part, np.float64) for part in (model.codes_, model.components_))
        if name == "simplex":
            expected = 0.5 * np.square(X / X.sum(axis=1, keepdims=True) - theta @ phi).sum()
        else:
            beta = getattr(model, "temper", 1.0)
            p = np.maximum(theta**beta @ phi**beta, 1e-300)
            expected = -(X * np.log(p)).sum() / beta
        assert model.objective_ == pytest.approx(expected, rel=1e-4 if storage == "float32" else 1e-7)


@pytest.mark.parametrize("inference", ["auto", "gibbs", "batch", "online"])
def test_topics_grow_from_their_seed_words(inference):
    X, topics = planted()
    names = [f"w{j}" for j in range(40)]
    table = NamedTable(X, columns=names)
    for order in ([2, 0], [3, 1, 2]):
        best = [[names[j] for j in np.argsort(-topics[t])[:2]] for t in order]
        for seeds in (best, {f"topic {t}": words for t, words in zip(order, best)}):
            model = LDA(4, seed_words=seeds, inference=inference, max_iter=60, random_state=1).fit(table)
            near = 0.5 * np.abs(model.topics_[:, None] - topics[None]).sum(axis=2)
            assert near.argmin(axis=1)[: len(order)].tolist() == order
            assert matched(model.topics_, topics) < 0.3
            assert "seed words" in str(model.plan_)


def test_seeds_tell_two_topics_apart_that_share_their_documents():
    """Without seeds nothing says which of two words that always come together belongs where."""
    X = np.tile([[6, 6, 5, 5]], (30, 1))
    for seed in range(3):
        model = LDA(2, seed_words=[["0"], ["2"]], random_state=seed, max_iter=40, tol=0).fit(X)
        assert model.topics_[0, 0] > 2 * model.topics_[1, 0] and model.topics_[1, 2] > 2 * model.topics_[0, 2]


def test_a_seeded_stream_and_texts(tmp_path):
    X, topics = planted(n=300)
    model = LDA(4, seed_words=[[str(topics[2].argmax())]], alpha=0.2, random_state=0)
    for i in range(0, 300, 100):
        model.partial_fit(X[i : i + 100], n_documents=300)
    assert 0.5 * np.abs(model.topics_[0] - topics[2]).sum() < 0.3
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    assert np.array_equal(again.partial_fit(X[:50]).topics_, model.partial_fit(X[:50]).topics_)
    tokens = [["ape", "bee", "ape"], ["cat", "dog"], ["bee", "bee", "ape"], ["dog", "dog", "cat"]] * 5
    found = LDA(2, vectorizer=unweave.TextTable(), seed_words={"pets": ["dog"]}, random_state=3).fit(tokens)
    assert sorted(found.top_words(2)[0]) == ["cat", "dog"]


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([["0"], ["1"], ["2"]], "names 3 topics, more than n_components=2"),
        ([["zebra"]], "no word of topic 0 occurs in X"),
        ({"sport": ["zebra"]}, "no word of 'sport' occurs in X"),
        (["0", "1"], "list of lists of words"),
        ("game", "list of lists of words"),
        ([], "list of lists of words"),
    ],
)
def test_bad_seeds(seeds, message):
    with pytest.raises(ValueError, match=message):
        LDA(2, seed_words=seeds).fit(np.eye(3))


def test_seeds_that_do_not_occur_are_passed_over_aloud():
    with pytest.warns(UserWarning, match="1 words that do not occur in X, such as 'zebra'"):
        LDA(2, seed_words=[["0", "zebra"]], max_iter=5, tol=0).fit(np.eye(3))
