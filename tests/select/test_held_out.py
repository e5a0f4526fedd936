"""What is hidden stays hidden: errors at entries, blocks and words are those of predictions, and ranks are found."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.data.named import NamedTable
from unweave.explain.topics.measures import document_completion, halves
from unweave.select import BiCrossValidation, Completion, HeldOut, choose, held_out_entries
from unweave.select.trial import Trial

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
    assert choose(unweave.KMeans(missing="nan"), X, [1, 2]).by == "held-out"
    complete = np.nan_to_num(X)
    assert unweave.KMeans("auto", missing="nan", random_state=0).fit(complete).choice_.by == "groups"


def noisy_low_rank(rng, n=90, m=30, k=4, noise=0.5):
    L = rng.standard_normal((n, k)) @ rng.standard_normal((k, m))
    return L + noise * L.std() * rng.standard_normal(L.shape)


def plainly(X, k, folds, seed, centred):
    """B·D_k⁺·C by LAPACK, one block after the other."""
    rng = np.random.default_rng(seed)
    parts = [np.array_split(rng.permutation(n), folds) for n in X.shape]
    errors = []
    for rows, columns in product(*parts):
        keep, others = (np.setdiff1d(np.arange(n), out) for n, out in zip(X.shape, (rows, columns)))
        Y = X - X[keep].mean(axis=0) if centred else X
        U, s, Vt = np.linalg.svd(Y[np.ix_(keep, others)], full_matrices=False)
        inverse = Vt[:k].T @ np.diag(1 / s[:k]) @ U[:, :k].T
        guess = Y[np.ix_(rows, others)] @ inverse @ Y[np.ix_(keep, columns)]
        errors.append(np.sqrt(np.square(Y[np.ix_(rows, columns)] - guess).mean()))
    return np.array(errors)


@pytest.mark.parametrize("kind", [unweave.PCA, unweave.TruncatedSVD])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_are_those_of_plain_algebra(rng, kind, make, dtype):
    X = np.where(rng.random((90, 30)) < 0.5, noisy_low_rank(rng) + 2, 0).astype(dtype)
    known = BiCrossValidation(4).ready(kind(), make(X), 6, 3)
    for k in (1, 3, 6):
        want = plainly(X.astype(np.float64), k, 4, 3, kind is unweave.PCA)
        np.testing.assert_allclose(known.errors[:, k - 1], want, rtol=1e-8 if dtype == np.float64 else 2e-4)
        found = BiCrossValidation(4).values(Trial(kind(), "n_components", k), make(X), 3)
        np.testing.assert_allclose(found, want, rtol=1e-8 if dtype == np.float64 else 2e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 4])
def test_the_rank_is_found_at_hidden_blocks(seed, k):
    X = noisy_low_rank(np.random.default_rng(seed), k=k)
    assert choose(unweave.TruncatedSVD(), X, range(1, 9)).best == k
    found = choose(unweave.PCA(), X + 7, range(1, 9))
    assert (found.best, found.by, len(found.errors)) == (k, "bi-cross-validation", 8)


def test_directions_without_spread_are_no_trouble(rng):
    X = np.column_stack([noisy_low_rank(rng), np.zeros((90, 3)), np.full((90, 2), 5.0)])
    choice = choose(unweave.PCA(), X, range(1, 30))
    assert np.isfinite(list(choice.scores.values())).all() and choice.best == 4
    constant = choose(unweave.PCA(), np.ones((20, 6)), range(1, 4))
    assert constant.best == 1 and set(constant.scores.values()) == {0.0}


def test_more_than_a_part_of_the_table_has_is_skipped(rng):
    choice = choose(unweave.TruncatedSVD(), noisy_low_rank(rng, 20, 10, 2), range(1, 15))
    assert max(choice.scores) == 8 and set(choice.skipped) == set(range(9, 15))
    assert "blocks are hidden" in choice.skipped[9]


def test_blocks_that_cannot_be_hidden_are_refused(rng):
    X = noisy_low_rank(rng)
    with pytest.raises(TypeError, match="KMeans is no singular value decomposition: choose by 'groups'"):
        choose(unweave.KMeans(), X, [1, 2], by="bi-cross-validation")
    with pytest.raises(ValueError, match="complete table only: choose by 'held-out'"):
        holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
        choose(unweave.PCA(missing="nan"), holes, [1, 2], by="bi-cross-validation")
    with pytest.raises(ValueError, match="too small"):
        choose(unweave.PCA(), X[:2], [1])
    with pytest.raises(ValueError, match="n_folds"):
        BiCrossValidation(1)


def documents(rng, n=200, m=120, k=4, length=60):
    topics, shares = rng.dirichlet(np.full(m, 0.05), k), rng.dirichlet(np.full(k, 2 / k), n)
    return sp.csr_array(np.array([rng.multinomial(length, p / p.sum()) for p in shares @ topics]).astype(float))


def test_the_score_is_the_perplexity_of_documents_that_were_not_fitted(rng):
    X = documents(rng)
    found = Completion(n_repeats=1).values(Trial(unweave.PLSA(), "n_components", 3), X, 5)
    draw = np.random.default_rng(5)
    order = draw.permutation(200)
    model = unweave.PLSA(3).fit(X[order[40:]])
    parts = halves(X[order[:40]], int(draw.integers(2**31)))
    assert found.tolist() == [document_completion(model.topics_, *parts)]


@pytest.mark.parametrize("kind", [unweave.LDA, unweave.PLSA, unweave.SimplexTopics])
def test_the_number_of_topics_is_found(kind, rng):
    choice = choose(kind(), documents(rng), [1, 2, 3, 4, 5, 8], by=Completion(n_repeats=1))
    assert choice.best == 4 and choice.by == "completion"


def test_too_many_topics_cost(rng):
    scores = choose(unweave.PLSA(), documents(rng), [1, 4, 40]).scores
    assert scores[4] < scores[40] and scores[4] < scores[1]


def test_dense_sparse_and_frames_are_alike(rng):
    pandas = pytest.importorskip("pandas")
    X = documents(rng, 60)
    want = choose(unweave.PLSA(), X, [1, 2]).scores
    for same in (X.toarray(), pandas.DataFrame(X.toarray())):
        assert choose(unweave.PLSA(), same, [1, 2]).scores == want


def test_documents_that_cannot_be_completed_are_refused(rng):
    with pytest.raises(TypeError, match="PCA has no topics to complete documents by: choose by 'bi-cross-validation'"):
        choose(unweave.PCA(), np.ones((9, 9)), [1], by="completion")
    with pytest.raises(ValueError, match="share"):
        Completion(share=1.0)
    with pytest.raises(ValueError, match="n_repeats"):
        Completion(n_repeats=0)
    with pytest.raises(ValueError, match="whole counts"):
        choose(unweave.LDA(), documents(rng) * 0.5, [1, 2])
