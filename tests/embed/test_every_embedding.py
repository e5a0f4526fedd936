"""What every model of this room promises: the laws of models, for those that learn from sequences."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

import unweave
from unweave.registry import ESTIMATORS, small_model, small_table, takes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

EMBEDDINGS = [name for name, entry in ESTIMATORS.items() if entry.sequences]
every_embedding = pytest.mark.parametrize("name", EMBEDDINGS)


def answers(fitted, X) -> list[np.ndarray]:
    return [fitted.vectors_.array, np.asarray(fitted.context_vectors_), fitted.transform(X)]


def assert_same(one, other) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@every_embedding
def test_there_is_a_finite_vector_for_each_symbol_and_text(name):
    X = small_table(name)
    fitted = small_model(name).fit(X)
    assert fitted.vectors_.symbols == fitted.vocabulary_.symbols
    for value, n in zip(answers(fitted, X), (len(fitted.vocabulary_), len(fitted.vocabulary_), len(X)), strict=True):
        assert value.shape == (n, 3) and np.isfinite(value).all()
    first = X[0].split()
    mean = np.mean([fitted.vectors_[word] for word in first if word in fitted.vectors_], axis=0)
    np.testing.assert_allclose(fitted.transform(X[:1])[0], mean, rtol=1e-5, atol=1e-7)
    assert not fitted.transform(["unheard-of", ""]).any()


@every_embedding
def test_a_second_fit_and_one_thread_or_two_give_the_same_bits(name, two_threads):
    X, fitted = small_table(name), small_model(name)
    assert_same(*two_threads(lambda: answers(fitted.fit(X), X)))


@every_embedding
def test_threads_do_not_matter_where_there_are_many_pairs(name, two_threads):
    rng = np.random.default_rng(0)
    X = [(rng.zipf(1.3, size=60) % 700).tolist() for _ in range(150)]
    more = {"max_iter": 2} if "max_iter" in takes(name) else {}
    assert_same(*two_threads(lambda: answers(small_model(name, min_count=1, **more).fit(X), X[:5])))


@every_embedding
def test_saved_and_loaded_it_says_the_same(name, tmp_path):
    X = small_table(name)
    fitted = small_model(name).fit(X)
    loaded = unweave.load(fitted.save(tmp_path / "model.unweave"))
    assert type(loaded) is type(fitted)
    assert_same(answers(fitted, X), answers(loaded, X))
    assert_same(answers(fitted, X), answers(pickle.loads(pickle.dumps(fitted)), X))
    assert loaded.vocabulary_.place(X[0].split()[0]) == fitted.vocabulary_.place(X[0].split()[0])


@every_embedding
def test_what_there_is_after_a_fit(name):
    seen = []
    fitted = small_model(name).set_params(callback=lambda progress: seen.append(progress.iteration) and None)
    fitted.fit(small_table(name))
    assert seen and seen[0] == 1 and fitted.n_iter_ == len(seen)
    assert np.isfinite(fitted.objective_) and str(fitted.plan_) and fitted.history_.stopped
    assert not hasattr(clone(fitted), "n_iter_")


@every_embedding
def test_sequences_of_any_symbols(name):
    walks = [[("shop", i % 3), i % 5, "end"] for i in range(60)]
    fitted = small_model(name).fit(walks)
    assert ("shop", 0) in fitted.vectors_ and 4 in fitted.vectors_


@every_embedding
@pytest.mark.parametrize(
    ("X", "words"),
    [([], "empty"), ([""], "no token"), (["a"] * 9, "lower min_count|near each other"), ("text", "list")],
)
def test_a_corpus_of_nothing_is_told_with_the_remedy(name, X, words):
    with pytest.raises(ValueError, match=words):
        small_model(name).fit(X)


@every_embedding
def test_unknown_words_are_told_with_near_spellings(name):
    fitted = small_model(name).fit(small_table(name))
    with pytest.raises(KeyError, match="wrd1") as told:
        fitted.vectors_["wrd1"]
    assert re.search(r"'word\d'", str(told.value))
