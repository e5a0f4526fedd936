"""CP: planted components are found, however the tensor is stored, and what a fit promises holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from tests.reference.tensors import model as tensor_of
from unweave import CP, SparseTensor, factor_match
from unweave.penalties import L1, Smooth

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "tensors"


def planted(shape=(14, 11, 9), k=3, noise=0.01, seed=0, positive=False):
    rng = np.random.default_rng(seed)
    F = [rng.random((n, k)) ** 3 if positive else rng.standard_normal((n, k)) for n in shape]
    X = tensor_of(F)
    return X + noise * X.std() * rng.standard_normal(shape), F


def with_holes(X, share=0.3, seed=5):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def listed(X) -> SparseTensor:
    coords = np.argwhere(~np.isnan(X))
    return SparseTensor(coords, X[tuple(coords.T)], X.shape)


@pytest.mark.parametrize("shape", [(14, 11, 9), (8, 7, 6, 5), (40, 30, 25), (5, 4, 4, 3, 3)])
def test_planted_components_are_found(shape, dtype):
    X, F = planted(shape)
    fitted = CP(3, random_state=0).fit(X.astype(dtype))
    assert factor_match(fitted, F).score > 0.999
    assert fitted.explained_share_ > 0.999
    assert all(one.dtype == dtype for one in (*fitted.factors_, fitted.weights_, fitted.codes_))
    for one in fitted.factors_:
        np.testing.assert_allclose(np.linalg.norm(one, axis=0), 1, rtol=1e-5)
    assert (np.diff(fitted.weights_) <= 0).all()
    np.testing.assert_allclose(
        fitted.reconstruct(), tensor_of([fitted.codes_, *fitted.factors_[1:]]), rtol=1e-3, atol=1e-3
    )
    assert fitted.certificate_.kind == "kkt" and fitted.certificate_.gap < 1e-3


def test_arrays_lists_and_other_storages_agree():
    X, _ = planted()
    holes = with_holes(X)
    start = [np.random.default_rng(1).standard_normal((n, 3)) for n in X.shape]
    dense = CP(3, missing="nan", init=start).fit(holes)
    coords = CP(3, missing="zeros", init=start).fit(listed(holes))
    masked = CP(3, missing=np.isnan(holes), init=start).fit(X)
    for other in (coords, masked):
        np.testing.assert_allclose(other.factors_[1], dense.factors_[1], atol=1e-5)
        assert other.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    zeros = np.nan_to_num(holes)
    as_data = CP(3, init=start, max_iter=60).fit(listed(holes)), CP(3, init=start, max_iter=60).fit(zeros)
    assert as_data[0].objective_ == pytest.approx(as_data[1].objective_, rel=1e-6)
    assert as_data[0].core_consistency(listed(holes)) == pytest.approx(as_data[1].core_consistency(zeros), abs=1e-3)


def test_holes_are_filled_better_than_by_the_means():
    X, F = planted(noise=0.05)
    holes = with_holes(X, 0.4)
    for table, missing in ((holes, "nan"), (listed(holes), "zeros")):
        fitted = CP(3, missing=missing, random_state=0).fit(table)
        hidden = np.isnan(holes)
        error = np.sqrt(np.mean((fitted.reconstruct() - X)[hidden] ** 2))
        assert error < 0.1 * np.nanstd(holes)
        np.testing.assert_allclose(fitted.predict_entries(np.argwhere(hidden)), fitted.reconstruct()[hidden], rtol=1e-9)
        assert factor_match(fitted, F).score > 0.99


@pytest.mark.parametrize("factors", ["free", "nonnegative", L1(0.05), ["free", Smooth(0.5), "free"]])
@pytest.mark.parametrize("missing", [None, "nan"])
def test_codes_are_what_transform_gives_and_new_slices_stand_alone(factors, missing):
    X, _ = planted(positive=True)
    X = X if missing is None else with_holes(X, 0.2)
    fitted = CP(2, factors=factors, missing=missing, random_state=0, max_iter=60).fit(X)
    if not (isinstance(factors, list)):  # a side kept in a ball is solved together, new slices one by one
        np.testing.assert_allclose(fitted.transform(X), fitted.codes_, rtol=1e-6, atol=1e-8 * fitted.weights_.max())
    some = fitted.transform(X[3:6])
    np.testing.assert_allclose(some, fitted.transform(X)[3:6], rtol=1e-6, atol=1e-9 * fitted.weights_.max())
    assert np.isfinite(fitted.score(X))
    np.testing.assert_array_equal(clone(fitted).fit_transform(X), fitted.transform(X))
    fall = np.diff(fitted.history_.objective)
    assert (fall <= 1e-9 * np.abs(fitted.history_.objective[:-1])).all()


def test_penalties_do_what_they_say():
    X, _ = planted(positive=True, noise=0.3)
    nonnegative = CP(3, factors="nonnegative", random_state=0).fit(X)
    assert all((F >= 0).all() for F in nonnegative.factors_)
    lasso = CP(3, factors=["free", L1(0.2), "free"], random_state=0, max_iter=100).fit(X)
    assert (lasso.factors_[1] == 0).mean() > (CP(3, random_state=0).fit(X).factors_[1] == 0).mean()
    orthonormal = CP(3, factors=["orthonormal", "free", "free"], random_state=0).fit(X)
    np.testing.assert_allclose(orthonormal.factors_[0].T @ orthonormal.factors_[0], np.eye(3), atol=1e-8)
    rough, smooth = (
        CP(3, factors=["free", "free", penalty], random_state=0, max_iter=100).fit(X)
        for penalty in ("free", Smooth(50.0))
    )
    bent = [np.square(np.diff(one.factors_[2], 2, axis=0)).sum() for one in (rough, smooth)]
    assert bent[1] < 0.2 * bent[0]
    assert "runs away" in " ".join(smooth.plan_.reasons) or "run away" in " ".join(smooth.plan_.reasons)
    ridge = CP(3, ridge=5.0, random_state=0).fit(X)
    assert ridge.weights_.sum() < CP(3, random_state=0).fit(X).weights_.sum()


@pytest.mark.parametrize("factor", [1e-6, 7.0, 1e8])
def test_scaled_data_have_scaled_weights(factor):
    X, _ = planted()
    one, other = CP(3, random_state=0).fit(X), CP(3, random_state=0).fit(factor * X)
    np.testing.assert_allclose(other.weights_, factor * one.weights_, rtol=1e-5)
    for a, b in zip(one.factors_, other.factors_, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_sides_in_another_order_give_factors_in_that_order():
    X, _ = planted()
    one, other = CP(3, random_state=0).fit(X), CP(3, random_state=0).fit(X.transpose(2, 0, 1))
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-5)
    match = factor_match([other.factors_[1], other.factors_[2], other.factors_[0]], one)
    assert match.score > 1 - 1e-8 and match.order.tolist() == [0, 1, 2]


def test_a_swamp_is_run_through():
    """Columns that are nearly alike on every side: plain rounds creep for thousands of iterations."""
    rng = np.random.default_rng(3)
    lean = np.linalg.cholesky(0.95 + 0.05 * np.eye(3)).T
    F = [rng.standard_normal((20, 3)) @ lean for _ in range(3)]
    fitted = CP(3, random_state=0, tol=1e-12, max_iter=2000).fit(tensor_of(F))
    assert fitted.explained_share_ > 1 - 1e-8 and factor_match(fitted, F).score > 0.99


@pytest.mark.parametrize("kind", ["dense", "holes", "list"])
def test_one_thread_or_two_agree_to_the_bit(kind, two_threads):
    X, _ = planted((30, 25, 20))
    X = X if kind == "dense" else with_holes(X)
    X, missing = (listed(X), "zeros") if kind == "list" else (X, "nan" if kind == "holes" else None)
    one, two = two_threads(lambda: CP(3, missing=missing, random_state=0, max_iter=20).fit(X))
    for a, b in zip(one.factors_, two.factors_, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_number_is_chosen():
    X, _ = planted(noise=0.05)
    whole = CP("auto", random_state=0).fit(X)
    assert whole.choice_.best == 3 and whole.choice_.by == "core consistency" and whole.core_consistency(X) > 90
    holes = CP("auto", missing="nan", random_state=0).fit(with_holes(X))
    assert holes.choice_.best == 3 and holes.choice_.by == "held-out entries"
    assert CP(5, random_state=0).fit(X).core_consistency(X) < 50


@pytest.mark.parametrize(
    "what", ["zero", "an empty slice", "constant", "one slice", "more than any side", "huge", "tiny"]
)
def test_odd_tensors_give_finite_answers(what):
    X, _ = planted((5, 4, 3))
    k = 7 if what == "more than any side" else 2
    if what == "zero":
        X = np.zeros_like(X)
    elif what == "an empty slice":
        X[2] = 0
        X[:, 1] = np.nan
    elif what == "constant":
        X = np.ones_like(X)
    elif what == "one slice":
        X = X[:1]
    elif what in ("huge", "tiny"):
        X = X * (1e90 if what == "huge" else 1e-90)
    for factors in ("free", "nonnegative"):
        fitted = CP(k, factors=factors, missing="nan", random_state=0, max_iter=30).fit(X)
        assert all(np.isfinite(F).all() for F in (*fitted.factors_, fitted.weights_, fitted.transform(X)))
        assert np.isfinite(fitted.objective_) and np.isfinite(fitted.reconstruct()).all()
    if what == "an empty slice":
        assert np.isfinite(fitted.codes_[2]).all()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (CP(100), "n_components=100 is more than"),
        (CP(0), "n_components"),
        (CP(2, factors=["free", "free"]), "list of 3"),
        (CP(2, factors="hull"), "says nothing of one side"),
        (CP(2, factors="smoth"), "Did you mean 'smooth'"),
        (CP(2, init="svd"), "init='svd'"),
        (CP(2, init=[np.ones((4, 2))] * 3), r"init\[0\]"),
        (CP(2, ridge=-1), "ridge"),
        (CP(2, n_starts=0), "n_starts"),
        (CP(2, solver="svd"), "solver='svd' is not known for tensors"),
        (CP(2, solver="pursuit"), "cannot do this problem"),
        (CP(6, factors=["free", "orthonormal", "free"]), "orthonormal side"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(model, said):
    with pytest.raises(ValueError, match=said):
        model.fit(planted((5, 4, 3))[0])


def test_new_slices_of_another_shape_and_codes_of_another_width_are_refused():
    X, _ = planted()
    fitted = CP(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="every side but the first"):
        fitted.transform(X[:, :5])
    with pytest.raises(ValueError, match="must have 2 columns"):
        fitted.inverse_transform(np.ones((3, 4)))
    with pytest.raises(ValueError, match="inside of the shape"):
        fitted.predict_entries([[0, 0, 99]])


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    X, _ = planted(noise=0.3)
    options = {"random_state": 0, "tol": 1e-13, "factors": "nonnegative", "init": "random"}
    whole = CP(4, max_iter=25, **options).fit(X)

    def stop(progress):
        if progress.iteration == 9:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        CP(4, max_iter=25, checkpoint=tmp_path / "c", callback=stop, **options).fit(X)
    resumed = CP(4, max_iter=25, checkpoint=tmp_path / "c", **options).fit(X)
    np.testing.assert_allclose(resumed.history_.objective, whole.history_.objective, rtol=1e-12)


def test_matches_count_pairs_once_and_say_what_is_wrong():
    known = [np.eye(4)[:, :3], np.eye(5)[:, :3]]
    match = factor_match([F[:, [2, 0]] for F in known], known)
    assert match.score == pytest.approx(2 / 3) and match.order.tolist() == [1, -1, 0]
    with pytest.raises(ValueError, match="must agree"):
        factor_match([np.eye(3)], known)
    with pytest.raises(ValueError, match="same number of components"):
        factor_match([np.eye(3), np.ones((3, 2))], known)


def test_a_page_a_card_and_a_picture_show_the_sides(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, _ = planted((30, 6, 8))
    fitted = CP(2, random_state=0).fit(X)
    page = fitted.report(tmp_path / "page.html", X).read_text(encoding="utf-8")
    assert page.count("<svg") >= 6 and "30 × 6 × 8" in page and "could not be made" not in page
    assert "2 components" in fitted._repr_html_()
    assert len(fitted.plot().axes) == 6
    pyplot.close("all")


# -- measured tensors --------------------------------------------------------------------------------------------------

measured = pytest.mark.skipif(not SHARED.exists(), reason="the measured tensors are not here")


@measured
@pytest.mark.parametrize("factors", ["free", "nonnegative"])
def test_fluorescence_of_amino_acids_gives_the_three_that_were_mixed(factors):
    with np.load(SHARED / "amino_acid_fluorescence.npz") as file:
        X, Y = file["X"], file["Y"]
    fitted = CP("auto", factors=factors, random_state=0).fit(X)
    assert fitted.n_components_ == 3
    alike = np.abs(np.corrcoef(fitted.codes_.T, Y.T)[:3, 3:])
    assert sorted(alike.argmax(axis=0)) == [0, 1, 2] and alike.max(axis=0).min() > 0.99


@measured
def test_kinetics_with_holes_are_completed_better_than_by_the_means():
    with np.load(SHARED / "Kinetic.npz") as file, np.load(SHARED / "Kinetic_missing.npz") as mask:
        X, unknown = file["X"], mask["X"]
    hidden = (np.random.default_rng(0).random(X.shape) < 0.1) & ~unknown
    holes = np.where(unknown | hidden, np.float32(np.nan), X)
    fitted = CP(3, factors="nonnegative", missing="nan", random_state=0, max_iter=30).fit(holes)
    means = sum(np.nanmean(holes, axis=tuple({0, 1, 2, 3} - {d}), keepdims=True) for d in range(4)) - 3 * np.nanmean(
        holes
    )

    def error(guess):
        return float(np.sqrt(np.mean(np.square(np.broadcast_to(guess, X.shape)[hidden] - X[hidden]))))

    assert error(fitted.reconstruct()) < 0.3 * error(means)
