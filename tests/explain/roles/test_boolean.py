"""BooleanFactorization: errors, prices, holes, and the number of roles."""

from itertools import pairwise

import numpy as np
import pytest

import unweave
from tests.reference import roles as reference
from unweave import BooleanFactorization

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
METHODS = ["auto", "association", "formal_concepts", "rounded_svd", "hamming_kmeans"]


def planted(n=60, m=30, k=4, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    roles, users = rng.random((k, m)) < 0.25, rng.random((n, k)) < 0.4
    clean = users.astype(int) @ roles > 0
    return clean ^ (rng.random((n, m)) < noise), clean


@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains_and_counts_its_errors(method):
    X, clean = planted(noise=0.03)
    model = BooleanFactorization(4, method=method).fit(X.astype(float))
    R = model.inverse_transform(model.assignments_) > 0
    assert model.n_missed_ == (X & ~R).sum() and model.n_extra_ == (~X & R).sum()
    assert model.objective_ == (X != R).sum() <= 1.6 * (clean != X).sum()
    assert model.certificate_.lower_bound <= model.objective_
    np.testing.assert_array_equal(model.transform(X.astype(float)), model.assignments_)


@pytest.mark.parametrize("seed", range(4))
def test_no_worse_than_the_published_greedy_methods(seed):
    X = np.random.default_rng(seed).random((40, 20)) < 0.4
    for k in (2, 5, 9):
        error = BooleanFactorization(k).fit(X.astype(float)).objective_
        assert error <= (reference.grecond(X, k)[0] != X).sum()
        assert error <= min((reference.asso(X, k, limit)[0] != X).sum() for limit in (0.3, 0.5, 0.7, 0.9, 1.0))


def test_planted_roles_come_back_and_too_many_do_no_harm():
    X, _ = planted()
    for k in (4, 12):
        model = BooleanFactorization(k).fit(X.astype(float))
        assert model.objective_ == 0 and len(model.roles_) <= k


def test_exact_grants_nothing_extra_not_even_to_new_users():
    X, _ = planted(noise=0.1)
    model = BooleanFactorization(4, exact=True).fit(X.astype(float))
    assert model.n_extra_ == 0
    new = np.random.default_rng(5).random((20, 30)) < 0.6
    assert not (model.inverse_transform(model.transform(new.astype(float))) > new).any()


def test_prices_shift_errors():
    X, _ = planted(noise=0.15, seed=2)
    careful = BooleanFactorization(4, extra=5.0).fit(X.astype(float))
    generous = BooleanFactorization(4, missed=5.0).fit(X.astype(float))
    assert careful.n_extra_ < generous.n_extra_ and careful.n_missed_ > generous.n_missed_
    assert careful.objective_ == careful.n_missed_ + 5 * careful.n_extra_


def test_holes_cost_nothing_and_are_predicted():
    X, clean = planted(200, 30, 4, seed=1)
    hole = np.random.default_rng(0).random(X.shape) < 0.2
    model = BooleanFactorization(4, missing="nan").fit(np.where(hole, np.nan, X))
    R = model.inverse_transform(model.assignments_) > 0
    assert model.objective_ == (R != X)[~hole].sum() == 0
    assert (clean != R)[hole].mean() < 0.03
    with pytest.raises(ValueError, match="NaN"):
        BooleanFactorization(4).fit(np.where(hole, np.nan, X))


@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_planted_roles_is_found(seed):
    X, _ = planted(300, 40, 5, 0.02, seed)
    model = BooleanFactorization("auto", max_iter=3).fit(X.astype(float))
    assert abs(model.choice_.best - 5) <= 1 and model.choice_.by == "description length"


def test_the_loss_boolean_of_a_factorization_says_so():
    X, _ = planted()
    model = unweave.Factorization(4, loss="boolean").fit(X.astype(float))
    assert isinstance(model.roles_, np.ndarray) and model.objective_ == 0


@pytest.mark.parametrize(
    "given", [{"method": "magic"}, {"missed": 0}, {"extra": -1}, {"exact": "yes"}, {"missing": "zeros"}]
)
def test_wrong_settings_are_named(given):
    with pytest.raises((ValueError, TypeError), match=next(iter(given))):
        BooleanFactorization(2, **given).fit(np.eye(3))


def test_never_worse_step_by_step_and_the_bound_holds():
    X, _ = planted(noise=0.1, seed=4)
    history = BooleanFactorization(3).fit(X.astype(float)).history_.objective
    assert all(b <= a for a, b in pairwise(history))
