"""TableImputer: types stay, holes go, and what is filled is better than the mean."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.imputer import condition_slowly
from unweave import TableImputer
from unweave.complete.imputer.columns import EncodedTable, TableLayout, learn_column
from unweave.complete.imputer.gaussian import condition
from unweave.complete.imputer.joint import JointFit, Spec, fit_quietly
from unweave.complete.imputer.search import make_folds
from unweave.data.mixed import read_columns

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def mixed(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Six columns of five kinds that follow one hidden number."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    size = np.array(["small", "medium", "large"])[np.digitize(z, [-0.5, 0.5])]
    return pd.DataFrame(
        {
            "real": 3 * z + 0.3 * rng.normal(size=n),
            "count": pd.array(np.rint(10 + 3 * z).astype(int), dtype="Int64"),
            "flag": pd.array(z + 0.2 * rng.normal(size=n) > 0, dtype="boolean"),
            "size": pd.Categorical(size, categories=["small", "medium", "large"], ordered=True),
            "word": pd.Series(np.where(z > 0, "plus", "minus"), dtype=object),
            "skew": np.exp(z),
        }
    )


def holed(frame: pd.DataFrame, share: float = 0.2, seed: int = 5) -> tuple[pd.DataFrame, np.ndarray]:
    holes = np.random.default_rng(seed).random(frame.shape) < share
    return frame.mask(holes).astype(frame.dtypes.to_dict()), holes


def as_polars(frame: pd.DataFrame) -> pl.DataFrame:
    types = {"real": pl.Float32, "count": pl.Int16, "flag": pl.Boolean, "size": pl.Enum(["small", "medium", "large"])}
    types |= {"word": pl.Categorical, "skew": pl.Float64}
    lists = {c: [None if pd.isna(v) else v for v in frame[c].astype(object)] for c in frame.columns}
    return pl.DataFrame({c: pl.Series(c, lists[c], dtype=types[c], strict=False) for c in lists})


def encoded(table) -> EncodedTable:
    """A table as a fit writes it."""
    read = read_columns(table)
    return TableLayout([learn_column(one, None) for one in read]).encode(read)


@parametrize_with_checks([TableImputer()])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rank", ["auto", 2])
def test_types_stay_and_observed_cells_are_not_touched(rank):
    table, holes = holed(mixed())
    filled = TableImputer(rank).fit_transform(table)
    assert list(filled.columns) == list(table.columns)
    assert (filled.dtypes == table.dtypes).all() and filled.index.equals(table.index)
    assert not filled.isna().any().any()
    for j, name in enumerate(table.columns):
        assert (filled[name][~holes[:, j]] == table[name][~holes[:, j]]).all()
        if name in ("real", "count", "skew"):
            assert table[name].min() <= filled[name].min() and filled[name].max() <= table[name].max()


def test_polars_comes_back_as_polars_with_the_same_schema():
    table = as_polars(holed(mixed())[0])
    imputer = TableImputer().fit(table)
    filled = imputer.transform(table)
    assert isinstance(filled, pl.DataFrame) and filled.schema == table.schema
    assert sum(filled.null_count().row(0)) == 0
    known = table["word"].is_not_null()
    # as text: older versions of polars do not compare categories of two frames
    assert filled["word"].filter(known).cast(pl.String).equals(table["word"].filter(known).cast(pl.String))
    assert isinstance(imputer.uncertainty(table), pl.DataFrame)


@pytest.mark.parametrize("rank", ["auto", 2])
def test_fills_are_far_better_than_mean_and_mode(rank):
    truth = mixed(400)
    table, holes = holed(truth)
    filled = TableImputer(rank).fit_transform(table)
    for j, name in enumerate(truth.columns):
        own = holes[:, j]
        if name in ("real", "count", "skew"):
            found = np.sqrt(np.mean((filled[name][own].astype(float) - truth[name][own].astype(float)) ** 2))
            assert found < 0.6 * truth[name].astype(float).std()
        else:
            mode = table[name].mode()[0]
            assert (filled[name][own] != truth[name][own]).mean() < 0.5 * (truth[name][own] != mode).mean()


def test_noise_gets_the_mean_and_the_mode(rng):
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", "y"], 300, p=[0.8, 0.2])})
    table, holes = holed(X)
    imputer = TableImputer().fit(table)
    filled = imputer.transform(table)
    assert imputer.weights_.sum(axis=1).max() < 0.6
    assert filled["a"][holes[:, 0]].std() < 0.25
    assert (filled["b"][holes[:, 1]] == "x").all()


def test_clusters_are_found_that_no_linear_model_sees(rng):
    side = rng.integers(0, 4, 600)
    X = np.column_stack([[0, 1, 0, 1], [0, 1, 1, 0], [5, 9, 1, 5]])[side] + 0.05 * rng.normal(size=(600, 3))
    table = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    table[np.isnan(table).sum(axis=1) > 1] = X[np.isnan(table).sum(axis=1) > 1]
    own = np.isnan(table[:, 2])
    filled = TableImputer().fit_transform(table)
    assert np.sqrt(np.mean((filled[own, 2] - X[own, 2]) ** 2)) < 0.3


def test_uncertainty_is_calibrated_for_numbers_and_levels():
    truth = mixed(1000)
    table, holes = holed(truth)
    imputer = TableImputer().fit(table)
    filled, doubt = imputer.transform(table), imputer.uncertainty(table)
    np.testing.assert_array_equal(doubt.isna().to_numpy(), ~holes)
    np.testing.assert_allclose(imputer.uncertainty_, doubt.to_numpy())
    scaled = ((filled["real"] - truth["real"]) / doubt["real"])[holes[:, 0]]
    assert 0.6 < scaled.std() < 1.6
    own = holes[:, 4]
    assert abs(doubt["word"][own].mean() - (filled["word"] == truth["word"])[own].mean()) < 0.12
    assert ((doubt["word"][own] > 0.49) & (doubt["word"][own] <= 1)).all()


@pytest.mark.parametrize("rank", ["auto", 2])
def test_imputations_differ_by_about_the_uncertainty(rank):
    truth = mixed(500)
    table, holes = holed(truth)
    imputer = TableImputer(rank).fit(table)
    drawn = imputer.imputations(table, 12)
    assert len(drawn) == 12 and all((one.dtypes == table.dtypes).all() for one in drawn)
    assert not any(one.isna().any().any() for one in drawn)
    own = holes[:, 0]
    spread = np.std([one["real"][own] for one in drawn], axis=0)
    ratio = np.sqrt(np.mean(spread**2) / np.mean(imputer.uncertainty(table)["real"][own] ** 2))
    assert 0.7 < ratio < 1.5
    again = imputer.imputations(table, 4)
    pd.testing.assert_frame_equal(again[3], drawn[3])
    assert len(imputer.imputations(table)) == 5


def test_draws_of_one_row_go_together(rng):
    """Two holes of one row: the drawn values are as correlated as the columns are given the third."""
    z = rng.normal(size=1000)
    X = np.column_stack([z + 0.1 * rng.normal(size=1000), z + 0.1 * rng.normal(size=1000), rng.normal(size=1000)])
    X[:100, :2] = np.nan
    drawn = TableImputer().fit(X).imputations(X, 1)[0][:100]
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] > 0.8


def test_pipeline_set_output_and_names():
    table, _ = holed(mixed())
    numeric = table[["real", "skew"]]
    scaled = make_pipeline(TableImputer(), StandardScaler()).fit_transform(numeric)
    assert np.isfinite(scaled).all()
    imputer = TableImputer().fit(table)
    assert list(imputer.get_feature_names_out()) == list(table.columns)
    out = TableImputer().set_output(transform="pandas").fit_transform(numeric.to_numpy())
    assert isinstance(out, pd.DataFrame)


def test_one_thread_and_two_agree_to_the_bit(two_threads):
    table, _ = holed(mixed(900))
    for rank in ("auto", 2):
        one, two = two_threads(lambda rank=rank: TableImputer(rank).fit(table).transform(table))
        pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_condition_agrees_with_its_slow_twin(rng):
    A = rng.normal(size=(8, 5))
    precision = np.linalg.inv(A.T @ A / 8 + 0.1 * np.eye(5))
    X, mean = rng.normal(size=(40, 5)), rng.normal(size=5)
    seen = rng.random((40, 5)) < 0.6
    seen[0], seen[1] = False, True
    _, shift, variance, total, values = condition(np.where(seen, X, 0), seen, mean, precision, adds=True)
    want = condition_slowly(X, seen, mean, np.linalg.inv(precision))
    np.testing.assert_allclose(shift, want[0], atol=1e-10)
    np.testing.assert_allclose(variance, want[1], atol=1e-10)
    np.testing.assert_allclose(total, want[2], atol=1e-9)
    half_log = 0.5 * np.linalg.slogdet(np.linalg.inv(precision))[1]
    np.testing.assert_allclose(values + half_log, want[3], atol=1e-9)


@pytest.mark.parametrize("spec", [Spec("gaussian", 5, 1.0), Spec("groups", 4), Spec("low-rank", 2, 1.0)], ids=str)
def test_em_lowers_its_objective(spec, rng):
    joint = JointFit([spec], encoded(holed(mixed(150))[0]))
    state, values = joint.begin(rng), []
    for _ in range(15):
        before = {name: np.copy(value) for name, value in state.items()}
        after, value = joint.step(state)
        for name, kept in before.items():
            np.testing.assert_array_equal(state[name], kept)
        state = after
        values.append(value)
    # Priors and parameter expansion allow a hair's rise, no more.
    assert (np.diff(values) < 2e-3 * abs(values[0])).all() and values[-1] < values[0]


def test_gaussian_of_a_full_table_is_the_sample_covariance(rng):
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3))
    table = encoded(X)
    model = fit_quietly(Spec("gaussian", 3, 0.0), table, rng, 5, 0.0)
    np.testing.assert_allclose(model.covariance, np.cov(table.answers.T, bias=True) + 1e-5 * np.eye(3), atol=1e-9)


def test_holes_made_with_the_same_seed_still_leave_cells_to_hold_out():
    seen = np.random.default_rng(0).random((50, 4)) >= 0.2
    layout = encoded(np.random.default_rng(1).normal(size=(50, 4))).layout
    folds = make_folds(EncodedTable(layout, np.zeros((50, 4)), seen), np.random.default_rng(0))
    assert all(fold.held.sum() > 10 and (fold.held <= seen).all() for fold in folds)


def test_huber_is_not_moved_by_wild_values(rng):
    z = rng.normal(size=300)
    frame = pd.DataFrame({"a": z, "b": 2 * z + 0.1 * rng.normal(size=300), "c": -z + 0.1 * rng.normal(size=300)})
    truth = frame.copy()
    frame.loc[::20, "b"] = 1e4
    frame.loc[1::4, "b"] = np.nan
    imputer = TableImputer(1, loss={"b": "huber"}).fit(frame)
    own = np.arange(1, 300, 4)
    found = np.sqrt(np.mean((imputer.transform(frame)["b"][own] - truth["b"][own]) ** 2))
    assert found < 0.5 * truth["b"].std()  # squared loss is off by hundreds
    assert imputer.components_.shape == (1, 3)


def test_callback_checkpoint_and_history(tmp_path):
    table, _ = holed(mixed())
    seen = []
    imputer = TableImputer(callback=lambda p: seen.append(p.iteration) or p.iteration == 3, tol=0).fit(table)
    assert seen == [1, 2, 3] and imputer.n_iter_ == 3 and len(imputer.history_) == 3
    path = tmp_path / "fit.ckpt"
    whole = TableImputer(max_iter=6, tol=0).fit(table)

    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        TableImputer(max_iter=6, tol=0, checkpoint=path, callback=stop).fit(table)
    resumed = TableImputer(max_iter=6, tol=0, checkpoint=path).fit(table)
    pd.testing.assert_frame_equal(resumed.transform(table), whole.transform(table))
    assert not path.exists()


# -- odd and bad tables ------------------------------------------------------------------------------------------------


def test_columns_without_a_value_constants_and_single_rows():
    frame = pd.DataFrame({"none": [np.nan] * 30, "same": [7.0] * 29 + [np.nan], "x": np.arange(30.0)})
    with pytest.warns(UserWarning, match="'none'"):
        filled = TableImputer().fit_transform(frame)
    assert (filled["none"] == 0).all() and (filled["same"] == 7).all()
    one = pd.DataFrame({"a": [1.5], "b": ["x"]})
    pd.testing.assert_frame_equal(TableImputer().fit_transform(one), one)
    with pytest.raises(ValueError, match="'t' has no observed value"):
        TableImputer().fit(pd.DataFrame({"t": pd.Series([None, None], dtype=object), "a": [1.0, 2.0]}))


def test_numbers_that_are_all_zero_or_one_stay_so(rng):
    z = rng.normal(size=200)
    X = np.column_stack([z, z > 0]).astype(float)
    X[:40, 1] = np.nan
    assert set(TableImputer().fit_transform(X)[:, 1]) == {0.0, 1.0}


def test_new_levels_are_left_alone_with_a_warning():
    table, _ = holed(mixed())
    imputer = TableImputer().fit(table)
    new = table.head(5).copy()
    new["word"] = ["strange", None, "plus", "minus", None]
    with pytest.warns(UserWarning, match="not there in fit"):
        filled = imputer.transform(new)
    assert filled["word"][0] == "strange" and filled["word"].notna().all()


def test_a_column_with_many_levels_is_filled_with_frequent_ones():
    words = [f"w{i}" for i in range(300)] + ["common"] * 100 + [None] * 10
    frame = pd.DataFrame({"w": pd.Series(words, dtype=object), "x": np.arange(410.0)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filled = TableImputer().fit_transform(frame)
    assert filled["w"].notna().all() and (filled["w"][:300] == words[:300]).all()


def test_a_column_of_holes_at_transform_is_filled_in_its_own_kind():
    table, _ = holed(mixed())
    imputer = TableImputer().fit(table)
    new = table.head(6).copy()
    new["word"], new["real"] = np.nan, None
    filled = imputer.transform(new)
    assert set(filled["word"]) <= {"plus", "minus"} and filled["real"].notna().all()


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        (pd.DataFrame({"a": []}), ValueError, "empty"),
        (pd.DataFrame(index=[0, 1]), ValueError, "empty"),
        (pd.DataFrame([[1.0, 2.0]] * 3, columns=["a", "a"]), ValueError, "more than one column"),
        (pd.DataFrame({"a": [1.0, np.inf]}), ValueError, "infinite"),
        (pd.DataFrame({"d": pd.to_datetime(["2020-01-01", None])}), TypeError, "'d' has the type"),
        (pd.DataFrame({"c": [1 + 2j, 3.0]}), TypeError, "'c' has the type"),
        (pd.DataFrame({"l": [[1], [2]]}), TypeError, "hashed"),
        (pl.DataFrame({"l": [[1], [2]]}), TypeError, "'l' has the type"),
        (pl.DataFrame({"a": [1.0]}).lazy(), TypeError, "collect"),
    ],
)
def test_tables_that_cannot_be_filled_say_why(table, error, words):
    with pytest.raises(error, match=words):
        TableImputer().fit(table)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": "many"}, "n_components"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 99}, "n_components"),
        ({"ridge": "strong"}, "ridge"),
        ({"ridge": -1.0}, "ridge"),
        ({"loss": "squared"}, "loss"),
        ({"loss": {"nowhere": "squared"}}, "nowhere"),
        ({"loss": {"word": "squared"}}, "'word' is not numeric"),
        ({"loss": {"size": "logistic"}}, "'size' has 3 levels"),
        ({"loss": {"real": "cubic"}}, "cubic"),
        ({"n_imputations": 0}, "n_imputations"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises((ValueError, TypeError), match=words):
        TableImputer(**parameters).fit(holed(mixed(60))[0])


def test_other_columns_at_transform_raise():
    table, _ = holed(mixed(60))
    with pytest.raises(NotFittedError):
        TableImputer().transform(table)
    imputer = TableImputer().fit(table)
    with pytest.raises(ValueError, match="feature names"):
        imputer.transform(table.rename(columns={"real": "other"}))
    with pytest.raises(ValueError, match="was numeric in fit"):
        imputer.transform(table.assign(real="text"))
    assert clone(imputer).get_params() == imputer.get_params()


@given(
    rows=st.integers(1, 12),
    seed=st.integers(0, 1000),
    share=st.floats(0, 1),
    scale=st.sampled_from([1e-200, 1e-8, 1.0, 1e12, 1e150]),
)
def test_any_small_table_is_filled_without_nan(rows, seed, share, scale):
    frame = mixed(rows, seed)
    frame["real"] *= scale
    table = holed(frame, share, seed)[0]
    table["word"] = table["word"].fillna("plus") if table["word"].isna().all() else table["word"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer = TableImputer(max_iter=10).fit(table)
        filled = imputer.transform(table)
        draws = imputer.imputations(table, 1)
    assert not filled.isna().any().any() and not draws[0].isna().any().any()
    doubt = imputer.uncertainty_[table.isna().to_numpy()]
    assert np.isfinite(doubt).all()
