"""OrthonormalBasis keeps the coefficients that lose least, and says what is lost."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave import OrthonormalBasis

KINDS = ["dct", "fourier", "haar"]


@pytest.fixture
def X(rng):
    t = np.linspace(0, 1, 12)
    return np.cos(np.outer(rng.random(30) * 6, t)) + 0.1 * rng.normal(size=(30, 12)) + 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_lost_is_what_is_left_out_and_nothing_smaller_can_be(kind, X):
    model = OrthonormalBasis(kind, keep=4).fit(X)
    again = model.inverse_transform(model.transform(X))
    assert model.objective_ == pytest.approx(0.5 * np.square(X - again).sum())
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(X - again))
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T, atol=1e-12)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)
    basis = OrthonormalBasis(kind).fit(X).components_
    least = min(np.square(X - X @ basis[list(c)].T @ basis[list(c)]).sum() for c in combinations(range(12), 4))
    assert 2 * model.objective_ == pytest.approx(least)
    assert (np.diff(model.energy_ratio_) <= 0).all(), "most energy first"


def test_all_are_kept_unless_told_and_nothing_is_lost(X):
    model = OrthonormalBasis("dct").fit(X)
    assert model.n_components_ == 12 and model.objective_ < 1e-20
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X)
    assert model.energy_ratio_.sum() == pytest.approx(1)


def test_keep_is_a_count_a_share_or_a_threshold(X):
    full = OrthonormalBasis("dct").fit(X)
    for share in (0.5, 0.9, 0.99):
        model = OrthonormalBasis("dct", keep=share).fit(X)
        k = model.n_components_
        assert model.energy_ratio_.sum() >= share > full.energy_ratio_[: k - 1].sum()
        assert 2 * model.objective_ <= (1 - share) * np.square(X).sum() + 1e-9
    root_mean_square = np.sqrt(full.energies_[full.kept_] / len(X))
    threshold = float(root_mean_square[4])
    assert OrthonormalBasis("dct", threshold=threshold * (1 - 1e-12)).fit(X).n_components_ == 5


def test_each_row_may_keep_its_own(X):
    shared, own = (OrthonormalBasis("haar", keep=3, per_row=each).fit(X) for each in (False, True))
    codes = own.transform(X)
    assert sp.issparse(codes) and (np.diff(codes.indptr) == 3).all() and own.numbers_per_row_ == 3
    assert own.objective_ < shared.objective_
    assert own.objective_ == pytest.approx(0.5 * np.square(X - own.inverse_transform(codes)).sum())
    C = OrthonormalBasis("haar").fit(X)
    every = np.abs(X @ C.components_.T)
    assert 2 * own.objective_ == pytest.approx(np.sort(every**2, axis=1)[:, :-3].sum())
    by_size = OrthonormalBasis("haar", threshold=0.4, per_row=True).fit(X)
    assert by_size.transform(X).nnz == (every >= 0.4).sum() == round(by_size.numbers_per_row_ * len(X))
    by_share = OrthonormalBasis("haar", keep=0.9, per_row=True).fit(X)
    left = np.square(X - by_share.inverse_transform(by_share.transform(X))).sum(axis=1)
    assert (left <= 0.1 * np.square(X).sum(axis=1) + 1e-9).all()
    with pytest.raises(ValueError, match="U must have 12 columns"):
        own.inverse_transform(np.ones((2, 3)))


@pytest.mark.parametrize("per_row", [False, True])
def test_blocks_streams_and_sparse_tables_say_the_same(per_row, X):
    def make():
        return OrthonormalBasis("fourier", keep=3, per_row=per_row)

    whole, blocks, stream = make().fit(X), make().fit([X[:7], X[7:8], X[8:]]), make()
    for part in (X[:11], X[11:]):
        stream.partial_fit(part)
    zeros = np.where(X > 0.8, X, 0)
    for one, other in ((blocks, whole), (stream, whole), (make().fit(sp.csr_array(zeros)), make().fit(zeros))):
        np.testing.assert_array_equal(one.kept_, other.kept_)
        assert one.objective_ == pytest.approx(other.objective_) and one.n_samples_ == 30
        assert one.numbers_per_row_ == other.numbers_per_row_
    codes = whole.transform([X[:7], X[7:]])
    np.testing.assert_allclose(codes.toarray() if per_row else codes, whole.transform(X).toarray() if per_row else
                               whole.transform(X), atol=1e-12)  # fmt: skip
    stream.fit(X[:5])
    assert stream.n_samples_ == 5, "a new fit forgets"


def test_scale_order_and_repeated_rows_change_nothing_that_they_should_not(X):
    model = OrthonormalBasis("dct", keep=0.9).fit(X)
    for Y, factor in ((3 * X, 9), (X[::-1], 1), (np.repeat(X, 2, axis=0), 2)):
        other = OrthonormalBasis("dct", keep=0.9).fit(Y)
        np.testing.assert_array_equal(other.kept_, model.kept_)
        assert other.objective_ == pytest.approx(factor * model.objective_)


def test_the_best_learned_basis_is_a_bound(X):
    model = OrthonormalBasis("haar", keep=3).fit(X)
    certificate = model.certify(X)
    best = unweave.TruncatedSVD(3).fit(X).objective_
    assert certificate.kind == "eckart-young" and certificate.lower_bound == pytest.approx(best)
    assert best <= model.objective_
    assert OrthonormalBasis("haar", keep=3, per_row=True).fit(X).certify(X).kind == "none"


def test_pictures_know_their_shape(rng):
    photo = rng.random((9, 14))
    cut = unweave.NamedTable(unweave.patches(photo, 4), kind="images", image=(4, 4))
    model = OrthonormalBasis("dct", keep=5).fit(cut)
    assert model.shape_ == (4, 4)
    same = OrthonormalBasis("dct", keep=5, shape=(4, 4)).fit(cut.X)
    np.testing.assert_array_equal(same.components_, model.components_)
    assert OrthonormalBasis("dct", shape=(8, 2)).fit(cut).shape_ == (8, 2), "what is asked for counts"


def test_saved_models_hold_no_basis(X, tmp_path):
    model = OrthonormalBasis("dct", keep=2).fit(np.tile(X, (1, 40)))
    path = model.save(tmp_path / "basis.unweave")
    assert path.stat().st_size < 16_000, "480 energies, and no waves"
    np.testing.assert_array_equal(unweave.load(path).components_, model.components_)


@pytest.mark.parametrize(
    "given, error, said",
    [
        ({"keep": 0}, ValueError, "keep must be at least 1"),
        ({"keep": 13}, ValueError, "keep=13 is more than the 12"),
        ({"keep": 1.0}, ValueError, "keep=1.0 must be a whole number"),
        ({"keep": np.nan}, ValueError, "keep=nan"),
        ({"keep": True}, TypeError, "keep must be a whole number"),
        ({"keep": "some"}, TypeError, "keep must be a whole number"),
        ({"keep": 3, "threshold": 1}, ValueError, "give one of them"),
        ({"threshold": -1}, ValueError, "threshold must be"),
        ({"threshold": 1e9}, ValueError, "leaves nothing: the largest coefficient"),
        ({"shape": (3, 5)}, ValueError, "has 15 numbers, but a row of X has 12"),
        ({"shape": 12}, TypeError, "shape must be"),
        ({"shape": (1, 1, 3, 4)}, ValueError, "shape must be"),
        ({"kind": "hear"}, ValueError, "hear"),
        ({"kind": "haar", "levels": -1}, ValueError, "levels"),
        ({"kind": "haar", "levels": 1.5}, TypeError, "levels"),
    ],
)
def test_a_wrong_setting_is_named(given, error, said, X):
    with pytest.raises(error, match=said):
        OrthonormalBasis(**given).fit(X)


def test_rows_of_zeros_have_an_answer():
    for per_row in (False, True):
        model = OrthonormalBasis("dct", keep=0.9, per_row=per_row).fit(np.zeros((4, 6)))
        assert model.objective_ == 0 and np.isfinite(model.energy_ratio_).all()
        codes = model.transform(np.zeros((2, 6)))
        assert not (codes.toarray() if per_row else codes).any()
    assert not OrthonormalBasis("dct", threshold=5, per_row=True).fit(np.ones((3, 4))).transform(np.ones((1, 4))).nnz


@pytest.mark.parametrize("how", [{"keep": 3}, {"keep": 0.9}, {"threshold": 0.5}, {"keep": 2, "per_row": True}])
def test_weights_count_rows_more_than_once(rng, how):
    X, weights = rng.normal(size=(40, 8)).cumsum(axis=1), rng.integers(0, 4, 40).astype(float)
    more = unweave.OrthonormalBasis("dct", **how).fit(np.repeat(X, weights.astype(int), axis=0))
    model = unweave.OrthonormalBasis("dct", **how).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.kept_, more.kept_)
    np.testing.assert_allclose(model.energies_, more.energies_)
    np.testing.assert_allclose([model.objective_, model.numbers_per_row_], [more.objective_, more.numbers_per_row_])
    assert model.n_samples_ == 40
    stream = unweave.OrthonormalBasis("dct", **how)
    for part in (slice(15), slice(15, 40)):
        stream.partial_fit(X[part], sample_weight=weights[part])
    blocks = unweave.OrthonormalBasis("dct", **how).fit([X[:15], X[15:]], sample_weight=weights)
    for other in (stream, blocks):
        np.testing.assert_allclose([other.objective_, other.n_samples_], [model.objective_, 40])
    if "per_row" not in how:
        bound = more.certify(np.repeat(X, weights.astype(int), axis=0)).lower_bound
        np.testing.assert_allclose(model.certify(X, sample_weight=weights).lower_bound, bound, rtol=1e-6)
