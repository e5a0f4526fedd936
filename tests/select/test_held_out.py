"""Held-out entries: what is hidden stays hidden, errors are those of the predictions, ranks are found."""

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.data.named import NamedTable
from unweave.select import HeldOut, choose, held_out_entries

RIDGE = {"codes": "ridge", "components": "ridge"}


def low_rank(rng, n=80, m=20, k=3, noise=0.1):
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, m)) + noise * rng.standard_normal((n, m))


class Spy(unweave.Factorization):
    """Keeps the table that it was fitted to."""

    seen: list = []

    def fit(self, X, y=None):
        Spy.seen.append(X)
        return super().fit(X)


def test_hidden_entries_are_not_seen_and_the_error_is_theirs(rng):
    X = low_rank(rng)
    Spy.seen.clear()
    errors = held_out_entries(Spy(2, **RIDGE), X, share=0.2, n_repeats=2, random_state=1)
    for table, error in zip(Spy.seen, errors):
        hidden = np.isnan(table)
        assert 0.15 < hidden.mean() < 0.25
        model = unweave.Factorization(2, missing="nan", **RIDGE).fit(table)
        guess = model.inverse_transform(model.codes_)
        assert error == pytest.approx(np.sqrt(np.square(guess - X)[hidden].mean()))
    assert (np.isnan(Spy.seen[0]) != np.isnan(Spy.seen[1])).any()


def test_stored_entries_of_a_sparse_table_are_hidden(rng):
    X = sp.csr_array(np.where(rng.random((80, 20)) < 0.6, low_rank(rng), 0))
    Spy.seen.clear()
    errors = held_out_entries(Spy(2, missing="zeros", **RIDGE), X, n_repeats=1)
    table = Spy.seen[0]
    assert sp.issparse(table) and 0.85 * X.nnz < table.nnz < 0.95 * X.nnz
    hidden = (X != 0).toarray() & ~(table != 0).toarray()
    model = unweave.Factorization(2, missing="zeros", **RIDGE).fit(table)
    gaps = (model.inverse_transform(model.codes_) - X.toarray())[hidden]
    assert errors[0] == pytest.approx(np.sqrt(np.square(gaps).mean()))


@pytest.mark.parametrize(
    "model", [unweave.PCA(3), unweave.TruncatedSVD(3), unweave.KMeans(3), unweave.MatrixCompletion(3)], ids=repr
)
def test_every_model_that_takes_holes(rng, model):
    X = low_rank(rng)
    errors = held_out_entries(model, X, n_repeats=2)
    assert errors.shape == (2,) and (errors < 1.3 * X.std()).all()
    assert not hasattr(model, "components_")


def test_holes_stay_holes_and_a_table_from_a_file_says_what_they_look_like(rng):
    X = low_rank(rng)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = unweave.Factorization(3, **RIDGE)
    named = held_out_entries(model, NamedTable(X, missing="nan"))
    np.testing.assert_array_equal(named, held_out_entries(model.set_params(missing="nan"), X))
    assert (named < 0.5).all()


def test_zeros_that_are_data_are_hidden_too(rng):
    X = np.abs(low_rank(rng))
    X[X < 0.5] = 0
    sparse = held_out_entries(unweave.NMF(2), sp.csr_array(X))
    np.testing.assert_allclose(sparse, held_out_entries(unweave.NMF(2), X), rtol=1e-6)


def test_the_rank_is_found(rng):
    choice = choose(unweave.Factorization(**RIDGE), low_rank(rng), range(1, 7), by="held-out")
    assert choice.best == 3


def test_float32_goes_in_as_float32(rng):
    Spy.seen.clear()
    held_out_entries(Spy(2, **RIDGE), low_rank(rng).astype(np.float32), n_repeats=1)
    assert Spy.seen[0].dtype == np.float32


def test_what_is_refused(rng):
    from sklearn.decomposition import PCA

    X = low_rank(rng)
    with pytest.raises(TypeError, match="does not take missing entries"):
        held_out_entries(PCA(2), X)
    with pytest.raises(ValueError, match="share"):
        HeldOut(share=1.0)
    with pytest.raises(ValueError, match="too few"):
        held_out_entries(unweave.Factorization(1), np.ones((1, 2)), share=0.01)
    with pytest.raises(ValueError, match="NaN"):
        held_out_entries(unweave.Factorization(1), np.where(X > 0, X, np.nan))
    with pytest.raises(ValueError, match="too many"):
        held_out_entries(unweave.Factorization(1), sp.csr_array((10_000, 10_000)))


@pytest.mark.parametrize("k", [1, 3, 6])
def test_groups_of_a_table_with_holes_are_counted_by_hidden_entries(k):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 0.6, size=(60, 8)) for centre in 3 * rng.normal(size=(k, 8))])
    X[rng.random(X.shape) < 0.1] = np.nan
    model = unweave.KMeans("auto", missing="nan", random_state=0).fit(X)
    assert model.choice_.best == k and model.choice_.by == "held-out"
    assert choose(unweave.KMeans(missing="nan"), X, range(1, 8)).by == "held-out"
    complete = np.nan_to_num(X)
    assert unweave.KMeans("auto", missing="nan", random_state=0).fit(complete).choice_.by == "groups"
