"""Bad input: an error that names the argument and says what to do, or a finite answer. Never NaN, a hang or a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

import unweave
from unweave.penalties import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")

SIX = {
    "Factorization": unweave.Factorization(2, max_iter=15),
    "PCA": unweave.PCA(2),
    "TruncatedSVD": unweave.TruncatedSVD(2),
    "NMF": unweave.NMF(2, max_iter=15),
    "KMeans": unweave.KMeans(2, max_iter=15),
    "MatrixCompletion": unweave.MatrixCompletion(2, max_iter=10),
}
the_six = pytest.mark.parametrize("name", SIX)
SIZE = {name: "n_clusters" if name == "KMeans" else "n_components" for name in SIX}


def table(n: int = 12, m: int = 5) -> np.ndarray:
    return np.random.default_rng(0).random((n, m)) + 0.1


def make(name: str, **params):
    return clone(SIX[name]).set_params(**params)


def all_finite(model, X) -> bool:
    codes = model.transform(X)
    codes = codes.data if sp.issparse(codes) else codes
    return bool(np.isfinite(model.components_).all() and np.isfinite(codes).all() and np.isfinite(model.objective_))


def answers_or_refuses(model, X) -> str:
    """The message of the error, or "" after a finite answer."""
    try:
        model.fit(X)
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
        return str(error)
    assert all_finite(model, X)
    return ""


@the_six
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
def test_values_that_are_not_finite_are_refused(name, value, form):
    X = table()
    X[3, 2] = value
    X = {"dense": X, "sparse": sp.csr_array(X), "float32": X.astype(np.float32)}[form]
    if name == "MatrixCompletion" and np.isnan(value):
        assert all_finite(make(name).fit(X), X)
        return
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity).*(missing|replace)"):
        make(name).fit(X)


@the_six
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused_at_transform(name, value):
    X = table()
    model = make(name).fit(X)
    X[3, 2] = value
    if name == "MatrixCompletion" and np.isnan(value):
        assert np.isfinite(model.transform(X)).all()
        return
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
        model.transform(X)


@the_six
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty_tables_are_refused(name, shape):
    with pytest.raises(ValueError, match=r"0 (sample|feature)"):
        make(name).fit(np.zeros(shape))


@the_six
@pytest.mark.parametrize("X", [np.ones(5), np.ones((2, 2, 2)), 3.0, None, "text", {}], ids=lambda x: str(type(x)))
def test_what_is_not_a_table_is_refused(name, X):
    with pytest.raises((ValueError, TypeError)):
        make(name).fit(X)


@the_six
@pytest.mark.parametrize("shape", [(1, 5), (12, 1), (1, 1)])
@pytest.mark.parametrize("k", [1, 2])
def test_one_row_and_one_column(name, shape, k):
    message = answers_or_refuses(make(name, **{SIZE[name]: k}), table(*shape))
    assert not message or SIZE[name] in message or "sample" in message


@the_six
@pytest.mark.parametrize(
    "X", [np.zeros((8, 4)), np.ones((8, 4)), np.full((8, 4), 1e-12), np.tile([1.0, 2, 3, 0], (8, 1))]
)
def test_constant_tables_have_a_finite_answer(name, X):
    assert answers_or_refuses(make(name), X) == ""


@the_six
def test_a_constant_column_has_a_finite_answer(name):
    X = table()
    X[:, 1], X[:, 3] = 0, 7
    assert answers_or_refuses(make(name), X) == ""


@the_six
def test_more_components_than_rank_have_a_finite_answer(name):
    X = np.outer(np.arange(1.0, 13), [1.0, 2, 3, 4, 5])
    model = make(name, **{SIZE[name]: 4})
    assert answers_or_refuses(model, X) == ""


@the_six
@pytest.mark.parametrize("form", ["row", "column", "both"])
def test_a_row_or_column_with_nothing_observed_has_a_finite_answer(name, form):
    X = table()
    if form != "column":
        X[4] = np.nan
    if form != "row":
        X[:, 2] = np.nan
    assert answers_or_refuses(make(name, missing="nan"), X) == ""


@the_six
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_table_with_nothing_observed_is_refused(name, form):
    X = np.full((6, 4), np.nan) if form == "dense" else sp.csr_array((6, 4))
    with pytest.raises(ValueError, match="no observed entry"):
        make(name, missing="nan" if form == "dense" else "zeros").fit(X)


@pytest.mark.parametrize("form", ["dense", "sparse", "blocks"])
@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_negative_values_are_refused_by_nmf(form, loss):
    X = table()
    X[2, 1] = -0.5
    data = {"dense": X, "sparse": sp.csr_array(X), "blocks": [X[:6], X[6:]]}[form]
    with pytest.raises(ValueError, match=r"[Nn]egative|at least 0"):
        unweave.NMF(2, loss=loss).fit(data)
    model = unweave.NMF(2, loss=loss, max_iter=10).fit(np.abs(X))
    with pytest.raises(ValueError, match=r"[Nn]egative|at least 0"):
        model.transform(X)


@pytest.mark.parametrize("loss, value", [("kl", -1.0), ("logistic", 2.0), ("hinge", 0.5)])
def test_values_outside_the_domain_of_a_loss_are_refused(loss, value):
    X = (table() > 0.5).astype(float)
    X[1, 1] = value
    side = "nonnegative" if loss == "kl" else "free"
    with pytest.raises(ValueError, match=f"loss='{loss}'"):
        unweave.Factorization(2, loss=loss, codes=side, components=side).fit(X)


def test_kl_with_factors_that_may_be_negative_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="nonnegative"):
        unweave.Factorization(2, loss="kl").fit(table())


@the_six
def test_a_frame_with_text_names_the_columns(name):
    frame = pd.DataFrame({"size": [1.0, 2, 3], "colour": ["red", "blue", "red"]})
    with pytest.raises(ValueError, match="colour"):
        make(name).fit(frame)


@the_six
@pytest.mark.parametrize("X", [np.array([["a", "b"], ["c", "d"]]), np.array([[object(), 1], [2, 3]], dtype=object),
                               np.array([[1 + 2j, 3], [4, 5]])], ids=["text", "object", "complex"])  # fmt: skip
def test_arrays_of_other_things_are_refused(name, X):
    with pytest.raises((ValueError, TypeError)):
        make(name).fit(X)


@the_six
def test_an_object_array_of_numbers_is_a_table(name):
    assert answers_or_refuses(make(name), table().astype(object)) == ""


@the_six
def test_other_columns_at_transform_are_refused(name):
    model = make(name).fit(table())
    for columns in (4, 6):
        with pytest.raises(ValueError, match=f"{columns} features"):
            model.transform(table(3, columns))
    frame = pd.DataFrame(table(), columns=list("abcde"))
    with pytest.raises(ValueError, match="feature names"):
        make(name).fit(frame).transform(frame.rename(columns={"a": "z"}))


@the_six
@pytest.mark.parametrize("value", [0, -1, 1.5, True, 10**9, "two", np.nan, [2]])
def test_a_wrong_number_of_components_is_named(name, value):
    with pytest.raises((ValueError, TypeError), match=SIZE[name]):
        make(name, **{SIZE[name]: value}).fit(table())


@the_six
@pytest.mark.parametrize("params", [
    {"tol": -1}, {"tol": np.nan}, {"tol": "small"}, {"tol": None}, {"max_iter": 0}, {"max_iter": 2.5},
    {"max_iter": "many"}, {"max_iter": True}, {"random_state": "seed"}, {"random_state": -1}, {"random_state": 1.5},
    {"callback": 3}, {"callback": "stop"}, {"missing": "none"}, {"missing": 3}, {"missing": np.ones(4)},
    {"init": "nowhere"}, {"init": np.ones((1, 1))}, {"init": np.full((2, 5), np.nan)}, {"init": 7},
], ids=str)  # fmt: skip
def test_a_wrong_setting_is_named(name, params):
    (key,) = params
    if key == "init" and name in ("PCA", "TruncatedSVD"):
        params = {**params, "missing": "nan"}
    X = table()
    X[0, 0] = np.nan if "missing" in params and key == "init" else X[0, 0]
    with pytest.raises((ValueError, TypeError), match=key):
        make(name, **params).fit(X)


@pytest.mark.parametrize("name", [name for name in SIX if name != "KMeans"])
@pytest.mark.parametrize("solver", ["magic", "", None, 3])
def test_a_wrong_solver_is_named(name, solver):
    with pytest.raises((ValueError, TypeError), match="solver"):
        make(name, solver=solver).fit(table())


@pytest.mark.parametrize("solver", ["svd", "power", "nearest", "mirror", "pursuit", "flip", "reweighted"])
def test_a_solver_that_cannot_do_the_problem_says_why(solver):
    with pytest.raises(ValueError, match=rf"solver='{solver}' cannot do this problem: .* needs? "):
        unweave.Factorization(2, codes="nonnegative", solver=solver).fit(table())


@pytest.mark.parametrize("side", ["codes", "components"])
@pytest.mark.parametrize(
    "value", ["positive", "ridgee", 3, None, ["l1", "ridge"], ["l1"], "fixed", Fixed(np.ones((3, 3)))]
)
def test_a_wrong_penalty_is_named(side, value):
    with pytest.raises((ValueError, TypeError), match=side):
        unweave.Factorization(2, **{side: value}).fit(table())


@pytest.mark.parametrize("loss", ["square", 3, None, [], ["squared"], {"x": "squared"}, ["squared"] * 4 + ["magic"]])
def test_a_wrong_loss_is_named(loss):
    with pytest.raises((ValueError, TypeError), match="loss"):
        unweave.Factorization(2, loss=loss).fit(table())


@pytest.mark.parametrize("params", [{"alpha_W": -1}, {"alpha_W": "x"}, {"alpha_H": np.nan}, {"l1_ratio": 1.5}], ids=str)
def test_a_wrong_strength_of_nmf_is_named(params):
    with pytest.raises((ValueError, TypeError), match=next(iter(params))):
        unweave.NMF(2, **params).fit(table())


@pytest.mark.parametrize("ridge", [-1, np.nan, "some", None, True])
def test_a_wrong_ridge_of_matrix_completion_is_named(ridge):
    with pytest.raises((ValueError, TypeError), match="ridge"):
        unweave.MatrixCompletion(2, ridge=ridge).fit(table())


@pytest.mark.parametrize("weights", [np.ones((2, 2)), -np.ones((12, 5)), np.full((12, 5), np.nan), None])
def test_wrong_weights_are_named(weights):
    with pytest.raises(ValueError, match="weights"):
        unweave.Factorization(2, loss="weighted").fit(table(), weights=weights)


@pytest.mark.parametrize("weights", [np.ones(3), -np.ones(12), np.zeros(12), np.full(12, np.nan)])
def test_wrong_sample_weights_are_named(weights):
    with pytest.raises(ValueError, match=r"(?i)sample.?weight"):
        unweave.KMeans(2).fit(table(), sample_weight=weights)


@the_six
@pytest.mark.parametrize("damage", ["column out of range", "negative column", "row ends fall"])
def test_a_damaged_sparse_matrix_is_refused(name, damage):
    X = sp.csr_array(table())
    if damage == "row ends fall":
        X.indptr[3] = 50
    else:
        X.indices[7] = 99 if damage == "column out of range" else -3
    with pytest.raises(ValueError, match=r"(?i)index|indices|damaged|indptr"):
        make(name).fit(X)


@pytest.mark.parametrize("name", ["Factorization", "PCA", "TruncatedSVD", "NMF"])
def test_blocks_that_do_not_fit_together_are_refused(name):
    with pytest.raises(ValueError, match="block 1"):
        make(name).fit([table(4, 5), table(4, 6)])


@the_six
def test_codes_of_another_width_are_refused(name):
    with pytest.raises(ValueError, match="U must have"):
        make(name).fit(table()).inverse_transform(np.ones((3, 9)))


OPTIONS = {
    "Factorization": {
        "loss": st.sampled_from(["squared", "huber", "absolute"]),
        "codes": st.sampled_from(["free", "nonnegative", "simplex", "one-hot", "ridge", "l1", "sparse", "orthonormal"]),
        "components": st.sampled_from(["free", "nonnegative", "l2-ball", "orthonormal", "unit-norm", "ridge"]),
    },
    "PCA": {"whiten": st.booleans(), "solver": st.sampled_from(["auto", "power"])},
    "TruncatedSVD": {"solver": st.sampled_from(["auto", "power"])},
    "NMF": {"loss": st.sampled_from(["squared", "kl"]), "alpha_W": st.sampled_from([0.0, 0.1])},
    "KMeans": {"init": st.sampled_from(["k-means++", "random", "farthest"])},
    "MatrixCompletion": {"ridge": st.sampled_from([0.0, 1.0, "auto"])},
}
VALUES = st.sampled_from([0.0, 1.0, -1.0, 3.5, 1e-300, 1e-30, 1e30, 1e150, 1e300, np.nan, np.inf, 2.0, 2.0, 0.5, 7.0])
TABLES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=VALUES)


@the_six
@settings(deadline=None, max_examples=60, derandomize=True)
@given(data=st.data())
def test_any_small_table_gives_an_error_in_words_or_a_finite_answer(name, data):
    X = data.draw(TABLES)
    X = X.astype(data.draw(st.sampled_from([np.float64, np.float32]))) if np.nanmax(np.abs(X)) < 1e38 else X
    params = {key: data.draw(options, label=key) for key, options in OPTIONS[name].items()}
    missing = data.draw(st.sampled_from(["nan", None]), label="missing")
    k = data.draw(st.integers(1, 3), label="k")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers_or_refuses(make(name, missing=missing, max_iter=8, **{SIZE[name]: k}, **params), X)


@pytest.mark.parametrize(
    "loss, codes, components, said",
    [
        ("ordinal", "simplex", "hull", r"components='hull' are mixtures .* loss='ordinal' .* choose other comp"),
        ("categorical", "free", "cone", r"components='cone' are mixtures .* loss='categorical' .* choose other"),
        ("squared", "sparse", "l1", r"components='l1' beside codes='sparse' has no minimum.* or bound the codes"),
        ("squared", "ridge", "sparse", r"codes='ridge' beside components='sparse' .* or bound the components"),
        ("itakura-saito", "free", "free", r"codes='free' .* loss='itakura-saito': .* not negative: use 'nonnegative'"),
        ("kl", "nonnegative", "free", r"components='free' .* loss='kl': .* not negative: use 'nonnegative'"),
    ],
)
def test_a_sentence_that_cannot_be_names_what_does_not_go_together_and_a_way_out(loss, codes, components, said):
    X = np.random.default_rng(0).integers(1, 6, size=(18, 9)).astype(float)
    with pytest.raises(ValueError, match=said):
        unweave.Factorization(2, loss=loss, codes=codes, components=components).fit(X)
