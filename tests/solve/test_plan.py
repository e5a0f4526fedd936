"""What the planner says about a problem, besides solving it."""

import numpy as np
import pytest
import scipy.sparse as sp

import unweave


def holes(rng, share):
    X = rng.random((60, 4)) @ rng.random((4, 40))
    X[rng.random(X.shape) < share] = np.nan
    X[np.arange(40), np.arange(40)] = 1.0
    return X


def test_few_entries_and_no_penalty_are_worth_a_word(rng):
    few = unweave.NMF(4, missing="nan", max_iter=3, tol=0).fit(holes(rng, 0.6))
    assert "may be wild" in str(few.plan_)
    many = unweave.NMF(2, missing="nan", max_iter=3, tol=0).fit(holes(rng, 0.1))
    assert "wild" not in str(many.plan_)
    penalised = unweave.Factorization(4, codes="ridge", components="ridge", missing="nan", max_iter=3, tol=0)
    assert "wild" not in str(penalised.fit(holes(rng, 0.6)).plan_)


@pytest.mark.parametrize("model", [unweave.PCA(3), unweave.TruncatedSVD(3)])
def test_the_plan_tells_a_decomposition_from_a_search(model, rng):
    small = sp.random_array((200, 50), density=0.2, rng=rng, format="csr")
    assert "closed form" in model.fit(small).plan_.solver and model.n_iter_ == 1
    large = sp.random_array((2000, 1200), density=0.01, rng=rng, format="csr")
    assert "Krylov" in model.fit(large).plan_.solver and model.n_iter_ > 1
    assert model.history_.stopped == "nothing changes any more"
    assert model.set_params(solver="power").fit(small).plan_.solver == "power method with deflation"
    assert model.set_params(solver="auto").history_.stopped == "every component was found"
