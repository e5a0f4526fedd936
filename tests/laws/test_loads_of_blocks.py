"""How often a fit asks for the blocks of a table, and that the same step comes of one block and of ten."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.solve.in_blocks import AheadInBlocks

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

PIECES = 5
# The first block is asked for beyond that, to tell what kind of thing X is, its columns and its type: its number of
# reads does not grow with the iterations.
DOORS = 5


class Counting:
    """Blocks that count how often each was asked for."""

    def __init__(self, blocks: list):
        self.blocks, self.asked = blocks, Counter()

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, i):
        block = self.blocks[i]  # past the end this raises, as it must
        self.asked[i] += 1
        return block

    def most(self) -> int:
        """Reads of the block that was read most often, but for the first."""
        return max(self.asked[i] for i in range(1, len(self)))


def cut(X, pieces: int = PIECES) -> list:
    edges = np.linspace(0, X.shape[0], pieces + 1).astype(int)
    return [X[a:b] for a, b in pairwise(edges)]


def counts(n: int = 150, m: int = 14) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(1.0, 1.0, (n, 3)) @ rng.gamma(1.0, 1.0, (3, m))).astype(float)


def holes() -> np.ndarray:
    return np.where(np.random.default_rng(1).random((150, 14)) < 0.2, np.nan, counts())


def bits() -> np.ndarray:
    return (counts() > 1).astype(float)


def pairs() -> sp.csr_array:
    X = sp.random_array((150, 40), density=0.2, rng=np.random.default_rng(1), format="csr")
    X.data = np.ceil(5 * X.data)
    return X


def sparse_counts() -> sp.csr_array:
    return sp.csr_array(counts())


def factorization(loss: str, data):
    return lambda **more: unweave.Factorization(2, loss=loss, codes="ridge", components="ridge", **more), data


CASES = {
    "PCA": (lambda **more: unweave.PCA(3, **more), counts),
    "TruncatedSVD": (lambda **more: unweave.TruncatedSVD(3, **more), sparse_counts),
    "NMF": (lambda **more: unweave.NMF(3, **more), counts),
    "NMF, KL": (lambda **more: unweave.NMF(3, loss="kl", **more), sparse_counts),
    "SemiNMF": (lambda **more: unweave.SemiNMF(3, **more), counts),
    "SoftClustering": (lambda **more: unweave.SoftClustering(3, **more), counts),
    "KMeans": (lambda **more: unweave.KMeans(3, **more), counts),
    "KMeans, holes": (lambda **more: unweave.KMeans(3, missing="nan", **more), holes),
    "GaussianMixture": (lambda **more: unweave.GaussianMixture(3, **more), counts),
    "GaussianMixture, holes": (lambda **more: unweave.GaussianMixture(3, missing="nan", **more), holes),
    "BernoulliMixture": (lambda **more: unweave.BernoulliMixture(3, **more), bits),
    "LDA": (lambda **more: unweave.LDA(3, **more), sparse_counts),
    "LDA, online": (lambda **more: unweave.LDA(3, inference="online", **more), sparse_counts),
    "MatrixCompletion": (lambda **more: unweave.MatrixCompletion(3, **more), pairs),
    "MatrixCompletion, arrays": (lambda **more: unweave.MatrixCompletion(3, ridge=0.5, **more), holes),
    "ImplicitALS": (lambda **more: unweave.ImplicitALS(3, **more), pairs),
    "holes": (lambda **more: unweave.Factorization(2, codes="ridge", components="ridge", missing="nan", **more), holes),
    "huber": factorization("huber", counts),
    "absolute": factorization("absolute", counts),
    "logistic": factorization("logistic", bits),
    "hinge": factorization("hinge", bits),
    "ordinal": factorization("ordinal", lambda: np.minimum(counts(), 3)),
}
TWO_SIDES = ("MatrixCompletion", "MatrixCompletion, arrays", "ImplicitALS")


@pytest.mark.parametrize("case", CASES)
def test_a_block_is_asked_for_once_an_iteration_and_once_for_an_answer(case):
    make, data = CASES[case]
    blocks, rejected = Counting(cut(data())), []
    with pytest.MonkeyPatch.context() as patch:
        plain = AheadInBlocks._plain_step
        patch.setattr(AheadInBlocks, "_plain_step", lambda self, state: rejected.append(1) or plain(self, state))
        model = make(max_iter=25, random_state=0).fit(blocks)
    assert blocks.most() <= model.n_iter_ + len(rejected) + 3
    assert blocks.asked[0] <= blocks.most() + DOORS
    asked = [name for name in ("transform", "predict_proba", "score_samples", "score") if hasattr(model, name)]
    for name in [*asked, *(["predict"] if case not in TWO_SIDES and hasattr(model, "predict") else [])]:
        blocks.asked.clear()
        getattr(model, name)(blocks)
        assert blocks.most() == 1, name
        assert blocks.asked[0] <= 1 + DOORS, name


def start_of(case: str, X, rng) -> dict:
    """A start that does not depend on how the table is cut, where one may be given."""
    if case.startswith(("PCA", "TruncatedSVD", "LDA", "MatrixCompletion", "ImplicitALS")):
        return {}  # theirs is made from a sample that is the same however the rows are cut
    k = 2 if case in ("holes", "huber", "absolute", "logistic", "hinge", "ordinal") else 3
    columns = 14 * (3 if case == "ordinal" else 1)
    if case.startswith("BernoulliMixture"):
        return {"init": 0.2 + 0.6 * rng.random((k, columns))}
    return {"init": rng.random((k, columns)) + 0.1}


@pytest.mark.parametrize("case", CASES)
def test_one_step_is_the_same_of_one_block_and_of_ten(case):
    make, data = CASES[case]
    X, found = data(), []
    start = start_of(case, X, np.random.default_rng(2))
    if case == "LDA, online":
        return  # its steps are from batch to batch, and batches are parts of a block
    for pieces in (1, 10):
        model = make(max_iter=1, random_state=0, **start).fit(cut(X, pieces))
        learned = next(getattr(model, name) for name in ("means_", "topics_", "components_") if hasattr(model, name))
        found.append((learned, model.objective_))
    (one, value), (other, again) = found
    signs = np.sign((one * other).sum(axis=1, keepdims=True)) if case == "ImplicitALS" else 1.0
    np.testing.assert_allclose(one, signs * other, rtol=1e-7, atol=1e-9 * np.abs(one).max())
    assert value == pytest.approx(again, rel=1e-9)


def test_losses_that_need_several_gradients_say_so_in_the_plan():
    X = counts() + 1.0
    model = unweave.Factorization(3, loss="kl", codes="nonnegative", components="simplex", max_iter=2, random_state=0)
    assert "every one is a visit to all blocks" in str(model.fit(cut(X)).plan_)


def test_weights_count_rows_as_often_as_they_say():
    X, weights = counts(60), np.random.default_rng(0).integers(0, 4, 60).astype(float)
    for make, start in ((unweave.KMeans, X[:3]), (unweave.GaussianMixture, X[:3] + 0.5)):
        model = make(3, init=start, max_iter=5).fit(cut(X), sample_weight=weights)
        often = make(3, init=start, max_iter=5).fit(cut(np.repeat(X, weights.astype(int), axis=0)))
        np.testing.assert_allclose(model.components_, often.components_, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(np.repeat(model.labels_, weights.astype(int)), often.labels_)


def test_ratings_are_the_same_stored_as_entries_and_as_arrays_with_holes():
    R = pairs()
    X = np.where(R.toarray() > 0, R.toarray(), np.nan)
    one, other = (unweave.MatrixCompletion(3, ridge=0.5, random_state=0).fit(cut(table)) for table in (R, X))
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.transform(cut(R)), other.transform(X), rtol=1e-6, atol=1e-9)
