"""From a raw table to a prediction: the choice is honest, nothing leaks, and what is saved says the same."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import unweave
from unweave import RepresentationClassifier, RepresentationRegressor
from unweave.predict.learned.columns import as_table, choose_columns
from unweave.predict.learned.pipe import Candidate, fit_pipe, prepare_rows
from unweave.report.prediction_page import name_places


@pytest.fixture(scope="module")
def houses() -> pandas.DataFrame:
    """Rows with an id, words, numbers with holes, dates, free text and a column that never changes."""
    rng, n = np.random.default_rng(0), 160
    town, size = rng.choice(["Bern", "Ulm", "Wien"], n), rng.gamma(5, 20, n)
    frame = pandas.DataFrame({
        "id": 1000 + 7 * rng.permutation(n), "town": town, "size": size,
        "sold": pandas.to_datetime("2023-01-01") + pandas.to_timedelta(rng.integers(0, 360, n), unit="D"),
        "garden": rng.random(n) < 0.5, "country": "here",
        "notes": [f"a note that says nothing about house number {i}" for i in range(n)],
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.15, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    frame["price"] = 3 * size + 100 * (town == "Wien") + 20 * frame["garden"] + rng.normal(0, 5, n)
    return frame


def quick(kind=RepresentationClassifier, **more):
    return kind(**{"predictor": "linear", "random_state": 0, **more})


def test_raw_columns_of_all_sorts_are_read_and_what_cannot_tell_is_left_out(houses):
    model = quick(RepresentationRegressor, predictor=["linear", "boosting"]).fit(houses, "price")
    assert model.error_ < 0.6 * model.baseline_error_
    assert [name for name, rise in model.importance(2)] == ["size", "town"]
    told = dict(model.importance(99))
    assert told["id"] == told["country"] == told["notes"] == 0
    said = " ".join(model.notes_)
    assert "'id'" in said and "'country'" in said and "'notes'" in said
    assert np.isfinite(model.predict(houses.drop(columns="price"))).all()


def test_pandas_and_polars_frames_and_named_tables_say_the_same(houses):
    rest = houses.drop(columns=["price", "sold"])
    one = quick(RepresentationRegressor).fit(rest, houses["price"])
    table = polars.from_dict({name: [None if v is None or v != v else v for v in rest[name]] for name in rest})
    two = quick(RepresentationRegressor).fit(table, houses["price"].to_numpy())
    three = quick(RepresentationRegressor).fit(unweave.NamedTable(table, columns=table.columns), houses["price"])
    np.testing.assert_allclose(one.predict(rest), two.predict(table), rtol=1e-12)
    np.testing.assert_array_equal(two.predict(table), three.predict(table))


@pytest.mark.parametrize("predictor", ["linear", "vectors", "boosting", "forest"])
def test_every_predictor_learns_classes_and_numbers(predictor):
    X, y = load_iris(return_X_y=True)
    model = quick(predictor=predictor).fit(X[::2], y[::2])
    assert model.predictor_ == predictor and model.score(X[1::2], y[1::2]) > 0.9
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    X, y = load_diabetes(return_X_y=True)
    model = quick(RepresentationRegressor, predictor=predictor).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.2 and model.error_ < 0.95 * model.baseline_error_


@pytest.mark.parametrize("representation", ["none", "pca", "kmeans", "nmf", unweave.ICA(4), unweave.PCA(3)])
def test_every_representation_can_be_asked_for(representation, tmp_path):
    X, y = load_wine(return_X_y=True)
    model = quick(representation=representation).fit(X, y)
    assert model.score(X, y) > 0.85
    loaded = unweave.load(model.save(tmp_path / "m.unweave"))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_holes_are_filled_by_a_model_of_the_table_where_that_is_asked_for(tmp_path):
    X, y = load_wine(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = quick(representation=["none", "imputer"], predictor="linear").fit(X, y)
    assert len(model.tried_) == 4 and model.error_ < 0.15
    np.testing.assert_array_equal(unweave.load(model.save(tmp_path / "m.unweave")).predict(X), model.predict(X))


def test_sparse_tables_stay_sparse(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = sp.random_array((200, 400), density=0.03, rng=0, format="csr")
    X = sp.hstack([sp.csr_array((y * (rng.random(200) < 0.9))[:, None].astype(float)), X[:, 1:]]).tocsr()
    model = RepresentationClassifier(random_state=0).fit(X, y)
    assert model.error_ < 0.3 < model.baseline_error_ and model.importances_.argmax() == 0
    np.testing.assert_array_equal(unweave.load(model.save(tmp_path / "m.unweave")).predict(X), model.predict(X))
    assert quick(predictor="forest").fit(X, y).representation_ == "svd"
    with pytest.raises(ValueError, match="sparse"):
        quick(predictor="forest", representation="none").fit(X, y)


def test_the_short_list_finds_what_suits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    bent = RepresentationClassifier(random_state=0).fit(X, (X**2).sum(axis=1) > 3.4)
    assert bent.predictor_ != "linear" and bent.error_ < 0.12
    straight = RepresentationRegressor(random_state=0).fit(X, X @ [1.0, -2, 0, 3] + 0.1 * rng.normal(size=300))
    assert straight.predictor_ == "linear" and straight.error_ < 0.12


def test_nothing_is_learned_from_noise():
    """If anything of the judging rows leaked into a fit or into the choice, many columns of noise would look useful."""
    rng, errors = np.random.default_rng(0), []
    for seed in range(6):
        X, y = rng.normal(size=(60, 200)), rng.permutation(np.arange(60) % 2)
        errors.append(RepresentationClassifier(predictor=["linear", "vectors"], random_state=seed).fit(X, y).error_)
    assert np.mean(errors) > 0.5 - 2.5 * 0.5 / np.sqrt(60 * len(errors))


def test_what_is_learned_of_columns_is_of_the_rows_of_the_fit_alone(houses):
    table = as_table(houses.drop(columns="price"))
    columns = choose_columns(table, None, None)
    first = unweave.NamedTable(table.X[:80], columns=table.columns)
    rows = prepare_rows(columns, first, houses["price"].to_numpy()[:80], 0)
    known = table.X["size"][:80].to_numpy()
    where = [part.name for part in rows.reader.parts].index("size")
    at = int(np.flatnonzero(rows.reader.owner == where)[0])
    assert rows.standard.middle[at] == pytest.approx(np.nanmean(known))
    pipe = fit_pipe(Candidate("pca", "linear", 1.0), rows, 0)
    assert np.isfinite(pipe.answers(pipe.numbers(table))).all()


def test_saved_and_loaded_it_says_the_same_of_a_frame(houses, tmp_path):
    rest = houses.drop(columns="price")
    model = RepresentationRegressor(random_state=0).fit(rest, houses["price"])
    loaded = unweave.load(model.save(tmp_path / "m.unweave"))
    np.testing.assert_array_equal(loaded.predict(rest), model.predict(rest))
    assert loaded.importance() == model.importance() and loaded.verdict() == model.verdict()
    np.testing.assert_array_equal(loaded.held_out_.answers, model.held_out_.answers)


def test_damaged_files_are_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = quick(predictor="boosting").fit(X, y)
    trees = model._pipe.predictor.trees
    trees.left = trees.left + 10_000
    with pytest.raises(unweave.persist.DamagedFileError, match="leads nowhere"):
        unweave.load(model.save(tmp_path / "m.unweave"))


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(two_threads):
    X, y = load_breast_cancer(return_X_y=True)
    model = RepresentationClassifier(predictor=["vectors", "boosting"], random_state=0)
    one, two = two_threads(lambda: clone(model).fit(X[:200], y[:200]).predict_proba(X))
    np.testing.assert_array_equal(one, two)


def test_a_callback_ends_the_search_and_the_best_so_far_is_taken():
    X, y = load_iris(return_X_y=True)
    seen = []
    model = RepresentationClassifier(random_state=0, callback=lambda p: seen.append(p.objective) or len(seen) == 2)
    model.fit(X, y)
    assert len(model.tried_) == 2 and model.history_.stopped != "all were tried"
    assert model.score(X, y) > 0.9
    assert len(RepresentationClassifier(max_iter=3, random_state=0).fit(X, y).tried_) == 3


def test_a_checkpoint_goes_on_where_it_was(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "search.checkpoint"

    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    whole = quick(predictor="auto").fit(X, y)
    part = quick(predictor="auto", checkpoint=path, callback=stop)
    part.fit(X, y)
    assert path.exists() and part.history_.stopped == "interrupted"
    again = quick(predictor="auto", checkpoint=path).fit(X, y)
    assert again.chosen_ == whole.chosen_ and len(again.tried_) == len(whole.tried_)


def test_a_long_table_is_sampled_first_and_the_best_few_are_judged_on_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    model = quick(predictor=["linear", "vectors"]).fit(X, X[:, 0] > 0)
    assert len(model.held_out_.rows) == 3000 and 1 <= len(model.tried_) <= 3
    assert model.error_ < 0.05


def test_classes_may_be_anything_and_some_may_be_rare():
    X, y = load_iris(return_X_y=True)
    for names in (np.array([True, False, False]), np.array([1.0, 2.0, 7.0]), np.array(["a", "b", "c"], dtype=object)):
        model = quick().fit(X, names[y])
        assert set(model.predict(X).tolist()) <= set(names.tolist())
    rare = np.where(np.arange(150) == 3, "alone", np.array(["a", "b", "c"])[y])
    model = quick(predictor="vectors").fit(X, rare)
    assert model.predict_proba(X).shape == (150, 4) and np.isfinite(model.held_out_.answers).all()


def test_rows_without_a_target_are_left_out_with_a_warning():
    X, y = load_diabetes(return_X_y=True)
    y = y.copy()
    y[::7] = np.nan
    with pytest.warns(UserWarning, match="target is unknown"):
        model = quick(RepresentationRegressor).fit(X, y)
    assert not np.isin(np.arange(0, len(y), 7), model.held_out_.rows).any()


def test_new_levels_are_no_level_and_said_so(houses):
    model = quick(RepresentationRegressor).fit(houses[["town", "size"]], houses["price"])
    new = pandas.DataFrame({"town": ["Atlantis", "Wien", None], "size": [80.0, 80.0, np.nan]})
    with pytest.warns(UserWarning, match="Atlantis"):
        found = model.predict(new)
    assert np.isfinite(found).all()


def test_columns_of_a_file_are_found_by_name(houses):
    rest = houses[["town", "size", "garden"]]
    model = quick(RepresentationRegressor).fit(rest, houses["price"])
    turned = as_table(rest[["garden", "size", "town"]])
    np.testing.assert_array_equal(model.predict(turned), model.predict(rest))
    with pytest.raises(ValueError, match=r"lacks columns.*'size'"):
        model.predict(as_table(rest[["garden", "town"]]))


BAD = [
    (lambda X, y: quick().fit(X, np.zeros(len(X))), "one class only"),
    (lambda X, y: quick().fit(X, np.arange(len(X))), "hardly any comes twice"),
    (lambda X, y: quick().fit(X, np.full(len(X), np.nan)), "no known value"),
    (lambda X, y: quick().fit(X, "kind"), "X has no names"),
    (lambda X, y: quick().fit(pandas.DataFrame(X, columns=list("abcd")), "e"), "the columns are"),
    (lambda X, y: quick().fit(pandas.DataFrame(X, columns=["price", "b", "c", "d"]), "prise"), "did you mean 'price'"),
    (lambda X, y: quick().fit(np.ones_like(X), y), "no column that varies"),
    (lambda X, y: quick().fit(pandas.DataFrame({"id": np.arange(150)}), y), "no column to predict from"),
    (lambda X, y: quick(predictor="magic").fit(X, y), "predictor='magic' is not known"),
    (lambda X, y: quick(representation=[]).fit(X, y), "empty list"),
    (lambda X, y: quick(RepresentationRegressor).fit(X, ["a"] * 150), "y holds words"),
    (lambda X, y: quick(RepresentationRegressor).fit(X, np.ones(150)), "nothing to predict"),
    (lambda X, y: quick(RepresentationRegressor).fit(X, np.full(150, np.inf)), "infinity"),
    (lambda X, y: quick(kinds={"a": "number"}).fit(X, y), "kinds names columns"),
    (lambda X, y: quick(ignore=["z"]).fit(pandas.DataFrame(X, columns=list("abcd")), y), "no column 'z'"),
]


@pytest.mark.parametrize("fit, words", BAD, ids=[words for _, words in BAD])
def test_bad_input_is_refused_in_words(fit, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        fit(X, y)


def test_a_page_and_a_picture_are_made(tmp_path, houses):
    X, y = load_wine(return_X_y=True)
    model = quick().fit(X, y)
    page = model.report(tmp_path / "wine.html").read_text(encoding="utf-8")
    for words in ("What is taken for what", "Is it sure rightly", "What it relies on", "</html>"):
        assert words in page
    assert model.plot().axes and "rows that it had not seen" in model._repr_html_()
    model = quick(RepresentationRegressor).fit(houses, "price")
    assert "Predicted and true" in model.report(tmp_path / "price.html").read_text(encoding="utf-8")
    assert model.plot().axes


@pytest.mark.parametrize(("upper", "lower"), [(40, 200), (100, 101), (100, 119), (100, 121), (248, 250), (250, 250)])
def test_names_of_curves_never_meet(upper, lower):
    """Curves of rows held out and of the fit end together where the model is good: their names were on each other."""
    first, second = name_places(upper, lower, foot=252)
    assert abs(first - second) >= 12 and max(first, second) < 252 and min(first, second) > 10
    assert first <= second
