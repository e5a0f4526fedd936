"""What every estimator promises, whatever it fits."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unweave
from tests.tables import parts
from unweave.penalties import L1, Ridge

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SIX = {
    "Factorization": unweave.Factorization(3, max_iter=20), "PCA": unweave.PCA(3),
    "TruncatedSVD": unweave.TruncatedSVD(3), "NMF": unweave.NMF(3, max_iter=20),
    "KMeans": unweave.KMeans(3, max_iter=20), "MatrixCompletion": unweave.MatrixCompletion(3, ridge=1.0, max_iter=10),
}  # fmt: skip
SENTENCES = {
    "NMF kl": unweave.NMF(3, loss="kl", max_iter=20),
    "lasso": unweave.Factorization(3, codes=L1(0.1), components="l2-ball", max_iter=20),
    "simplex": unweave.Factorization(3, codes="simplex", max_iter=20),
    "one-hot": unweave.Factorization(3, codes="one-hot", max_iter=20),
    "huber": unweave.Factorization(3, loss="huber", max_iter=10),
    "ridge": unweave.Factorization(3, codes=Ridge(0.5), components=Ridge(0.5), max_iter=10),
    "sparse": unweave.Factorization(3, codes="sparse", max_iter=10),
    "semi-NMF": unweave.Factorization(3, codes="nonnegative", max_iter=10),
}
ALL = SIX | SENTENCES
every_estimator = pytest.mark.parametrize("name", ALL)
the_six = pytest.mark.parametrize("name", SIX)


def table(n: int = 60, m: int = 12, dtype=np.float64, seed: int = 0) -> np.ndarray:
    return parts(n, m, seed=seed, dtype=dtype)


def plain(codes) -> np.ndarray:
    return codes.toarray() if sp.issparse(codes) else np.asarray(codes)


def same(a, b) -> bool:
    return np.array_equal(plain(a), plain(b))


@every_estimator
def test_fit_then_transform_is_fit_transform_to_the_bit(name, dtype):
    X = table(dtype=dtype)
    fitted, both = clone(ALL[name]).fit(X), clone(ALL[name]).fit_transform(X)
    assert same(fitted.transform(X), both)
    if fitted.codes_ is not None and name != "KMeans":
        assert same(fitted.codes_, both)


@every_estimator
def test_fitting_again_gives_the_same_bits(name):
    X = table()
    model = clone(ALL[name]).fit(X)
    first = model.components_.copy(), model.objective_, plain(model.transform(X))
    model.fit(X)
    assert same(first[0], model.components_) and first[1] == model.objective_ and same(first[2], model.transform(X))


@every_estimator
def test_rows_do_not_depend_on_their_neighbours_at_transform(name):
    X = table()
    model = clone(ALL[name]).fit(X)
    codes, order = plain(model.transform(X)), np.random.default_rng(1).permutation(len(X))
    for rows in (order, order[:7], order[:1]):
        np.testing.assert_allclose(plain(model.transform(X[rows])), codes[rows], rtol=1e-6, atol=1e-6)


def big(kind: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if kind == "sparse":
        return sp.random_array((3000, 200), density=0.05, rng=rng, format="csr")
    X = table(3000, 60)
    if kind == "nan":
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("kind", ["dense", "sparse", "nan"])
@every_estimator
def test_one_thread_and_two_give_the_same_bits(name, kind, two_threads):
    if (name, kind) == ("NMF kl", "nan"):
        pytest.skip("too slow here; its sums over blocks are tested in test_objectives.py")
    X, model = big(kind), clone(ALL[name]).set_params(max_iter=4)
    if kind == "nan":
        model.set_params(missing="nan")

    def fit():
        fitted = clone(model).fit(X)
        return fitted.components_, fitted.objective_, plain(fitted.transform(X[:500]))

    one, two = two_threads(fit)
    assert same(one[0], two[0]) and one[1] == two[1] and same(one[2], two[2])


@every_estimator
def test_the_type_of_the_data_is_kept(name, dtype):
    X = table(dtype=dtype)
    model = clone(ALL[name]).fit(X)
    assert model.components_.dtype == dtype and model.transform(X).dtype == dtype
    codes = model.codes_ if name == "KMeans" else model.transform(X)
    assert model.inverse_transform(codes).dtype == dtype
    assert isinstance(model.objective_, float)


@every_estimator
def test_what_there_is_after_a_fit(name):
    X = table()
    model = clone(ALL[name]).fit(X)
    assert model.n_iter_ == len(model.history_.objective) == len(model.history_.change) == len(model.history_.seconds)
    assert isinstance(model.history_.stopped, str) and model.history_.stopped
    assert str(model.plan_) and len(str(model.certificate_)) > 10
    assert model.certificate_.kind in ("duality", "eckart-young", "kkt", "none")
    assert model.certificate_.lower_bound <= model.objective_ * (1 + 1e-9)
    assert np.isfinite(model.score(X))
    assert model.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@the_six
def test_frames_keep_their_names(name, library):
    X = table()
    names = [f"column {j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names) if library == "pandas" else pl.DataFrame(X, schema=names)
    model, bare = clone(SIX[name]).fit(frame), clone(SIX[name]).fit(X)
    assert list(model.feature_names_in_) == names
    assert same(model.components_, bare.components_) and same(model.transform(frame), bare.transform(X))
    out = model.get_feature_names_out()
    assert len(out) == model.transform(frame).shape[1] and out[0] == f"{type(model).__name__.lower()}0"
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[names[::-1]])


@the_six
def test_set_output_gives_a_frame(name):
    frame = pd.DataFrame(table())
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    codes = clone(SIX[name]).set_output(transform="pandas").fit(frame).transform(frame)
    assert isinstance(codes, pd.DataFrame) and len(codes) == len(frame)


@the_six
def test_a_memory_mapped_table_is_a_table(name, tmp_path):
    X = table()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert same(clone(SIX[name]).fit(mapped).components_, clone(SIX[name]).fit(X).components_)


@the_six
@pytest.mark.parametrize("form", ["list", "fortran", "integers", "read-only", "csc", "csr matrix", "coo"])
def test_other_forms_of_a_table_are_tables(name, form):
    X = np.round(10 * table(30, 6)) + 1
    other = {
        "list": X.tolist(), "fortran": np.asfortranarray(X), "integers": X.astype(int), "read-only": X.copy(),
        "csc": sp.csc_array(X), "csr matrix": sp.csr_matrix(X), "coo": sp.coo_array(X),
    }[form]  # fmt: skip
    if form == "read-only":
        other.setflags(write=False)
    model = clone(SIX[name]).fit(other)
    assert model.objective_ == pytest.approx(clone(SIX[name]).fit(X).objective_, rel=0.3, abs=1e-6)
    assert np.isfinite(model.components_).all()


@every_estimator
def test_a_clone_is_unfitted_and_a_pickle_is_not(name):
    X = table()
    model = clone(ALL[name]).fit(X)
    copy = pickle.loads(pickle.dumps(model))
    assert same(copy.transform(X), model.transform(X)) and copy.objective_ == model.objective_
    assert not hasattr(clone(model), "components_")
    assert clone(model).get_params().keys() == model.get_params().keys()


@the_six
def test_the_data_are_left_as_they_were(name):
    X = table()
    kept = X.copy()
    clone(SIX[name]).fit(X).transform(X)
    assert np.array_equal(X, kept)


@the_six
def test_grid_search_and_pipelines_run(name):
    X = table(40)
    key = "n_clusters" if name == "KMeans" else "n_components"
    search = GridSearchCV(clone(SIX[name]), {key: [1, 2, 3]}, cv=2, error_score="raise").fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    if name != "NMF":
        pipeline = make_pipeline(StandardScaler(), clone(SIX[name]))
        assert len(pipeline.fit_transform(X)) == len(X)


def test_more_components_score_higher():
    X = table()
    scores = [unweave.PCA(k).fit(X).score(X) for k in (1, 2, 4)]
    assert scores == sorted(scores) and scores[-1] <= 0


def test_partial_fit_of_pca_is_fit():
    X = table(200)
    model = unweave.PCA(3)
    for start in range(0, 200, 50):
        model.partial_fit(X[start : start + 50])
    whole = unweave.PCA(3).fit(X)
    for name in ("components_", "mean_", "explained_variance_", "singular_values_"):
        np.testing.assert_allclose(getattr(model, name), getattr(whole, name), rtol=1e-6, atol=1e-6)
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-6)


# PCA has a test of its own. With ridge, blocks fed again weigh more against it than in one fit.
@pytest.mark.parametrize("name", [name for name in ALL if name not in ("PCA", "ridge")])
def test_partial_fit_approaches_fit(name):
    X = table(240)
    model, whole = clone(ALL[name]), clone(ALL[name]).fit(X)
    first = None
    for _ in range(6):
        for start in range(0, 240, 60):
            model.partial_fit(X[start : start + 60])
            first = first if first is not None else model.score(X)
    assert np.isfinite(model.components_).all() and np.isfinite(model.objective_)
    spread = abs(whole.score(X) - clone(ALL[name]).set_params(**_one(name)).fit(X).score(X))
    assert model.score(X) >= whole.score(X) - max(0.3 * spread, 0.1 * abs(whole.score(X)))
    assert model.score(X) >= first - 1e-6 * abs(first)


def _one(name: str) -> dict:
    return {"n_clusters": 1} if name == "KMeans" else {"n_components": 1}


def test_blocks_are_the_whole_table():
    X = table(200)
    blocks = [X[:70], X[70:71], X[71:]]
    for model in (unweave.PCA(3), unweave.TruncatedSVD(3), unweave.Factorization(3)):
        one, two = clone(model).fit(X), clone(model).fit(blocks)
        assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)
        assert two.codes_ is None
        np.testing.assert_allclose(np.abs(two.transform(X)), np.abs(one.transform(X)), atol=1e-6)


@pytest.mark.parametrize("name", ["Factorization", "PCA", "TruncatedSVD", "NMF", "KMeans", "MatrixCompletion"])
def test_partly_observed_rows_are_transformed_too(name):
    X = table()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    model = clone(SIX[name]).set_params(missing="nan").fit(X)
    codes = plain(model.transform(X))
    assert np.isfinite(codes).all() and np.isfinite(model.components_).all()


@the_six
def test_a_callback_sees_the_fit_and_can_stop_it(name):
    seen = []

    def stop(progress):
        seen.append(progress)
        return np.bool_(progress.iteration >= 2)

    model = clone(SIX[name]).set_params(callback=stop, tol=0).fit(table())
    assert 1 <= model.n_iter_ <= 2 and len(seen) == model.n_iter_
    assert all(np.isfinite([p.objective, p.change, p.seconds]).all() for p in seen)


# -- tables of mixed kinds ---------------------------------------------------------------------------------------------

KINDS = {"age": "huber", "smokes": "logistic", "colour": "categorical", "grade": "ordinal"}


def people(library: str = "pandas", n: int = 80):
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal(n)
    columns = {
        "age": 40 + 12 * hidden + rng.standard_normal(n),
        "smokes": (hidden + 0.5 * rng.standard_normal(n) > 0).astype(float),
        "colour": np.array(["blue", "green", "red"], dtype=object)[np.clip(np.digitize(hidden, [-0.5, 0.5]), 0, 2)],
        "grade": np.array(["a", "b", "c", "d"], dtype=object)[np.digitize(hidden, [-1, 0, 1])],
    }
    for j, name in enumerate(columns):
        columns[name][j + 1 :: 9] = None if columns[name].dtype == object else np.nan
    if library == "pandas":
        return pd.DataFrame(columns)
    return pl.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)


@pytest.fixture(scope="module", params=["pandas", "polars"])
def mixed(request):
    frame = people(request.param)
    return frame, unweave.Factorization(2, loss=KINDS, missing="nan", max_iter=25).fit(frame)


def test_a_frame_of_mixed_kinds_comes_back_in_data_units(mixed):
    frame, model = mixed
    back = model.inverse_transform(model.transform(frame))
    assert type(back) is type(frame) and list(back.columns) == list(KINDS)
    smokes = np.asarray(back["smokes"], dtype=float)
    assert smokes.min() >= 0 and smokes.max() <= 1
    assert set(back["colour"]) <= {"blue", "green", "red"} and set(back["grade"]) <= {"a", "b", "c", "d"}
    age, seen = np.asarray(frame["age"], dtype=float), np.asarray(back["age"], dtype=float)
    assert np.nanmean(np.abs(age - seen)) < 0.5 * np.nanstd(age)
    known = np.array([c is not None and c == c for c in frame["colour"]])
    assert np.mean(np.asarray(back["colour"])[known] == np.asarray(frame["colour"])[known]) > 0.8


def test_the_linear_prediction_of_mixed_kinds_is_the_product_and_the_offset(mixed):
    frame, model = mixed
    codes = model.transform(frame)
    linear = model.inverse_transform(codes, linear=True)
    assert linear.shape == (len(frame), 1 + 1 + 3 + 3)
    np.testing.assert_allclose(linear, codes @ model.components_ + model.offset_, atol=1e-9)
    assert np.isfinite(linear).all() and np.isfinite(model.objective_) and np.isfinite(model.score(frame))


def test_mixed_kinds_fit_and_transform_agree(mixed):
    frame, model = mixed
    assert same(clone(model).fit_transform(frame), model.transform(frame))
    assert list(model.feature_names_in_) == list(KINDS)
    copy = pickle.loads(pickle.dumps(model))
    assert same(copy.transform(frame), model.transform(frame))


def test_a_level_that_fit_did_not_see_is_refused():
    frame = people()
    model = unweave.Factorization(2, loss=KINDS, missing="nan", max_iter=5).fit(frame)
    other = frame.copy()
    other.loc[0, "colour"] = "purple"
    with pytest.raises(ValueError, match=r"colour.*purple"):
        model.transform(other)


def test_a_list_of_losses_does_what_a_dict_does():
    frame = people()[["age", "smokes"]].dropna()
    one = unweave.Factorization(1, loss={"age": "huber", "smokes": "logistic"}, max_iter=20).fit(frame)
    two = unweave.Factorization(1, loss=["huber", "logistic"], max_iter=20).fit(frame.to_numpy())
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-9)
    back = two.inverse_transform(two.codes_)
    assert back[:, 1].min() >= 0 and back[:, 1].max() <= 1


def test_weights_of_entries_hold_in_fit_and_in_transform(rng):
    X, W = rng.random((40, 7)), rng.integers(0, 3, (40, 7)).astype(float)
    model = unweave.Factorization(2, loss="weighted", max_iter=50).fit(X, weights=W)
    residual = X - model.inverse_transform(model.codes_)
    assert model.objective_ == pytest.approx(0.5 * (W * residual**2).sum(), rel=1e-9)
    np.testing.assert_array_equal(model.transform(X, weights=W), model.codes_)
    even = model.transform(X)
    assert np.isfinite(even).all() and not np.array_equal(even, model.codes_)
    by_column = unweave.Factorization(2, loss=unweave.losses.Weighted(np.arange(1.0, 8.0)), max_iter=50).fit(X)
    residual = X - by_column.inverse_transform(by_column.codes_)
    assert by_column.objective_ == pytest.approx(0.5 * (np.arange(1.0, 8.0) * residual**2).sum(), rel=1e-9)
