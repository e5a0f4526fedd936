"""Fits of tables in blocks: one visit an iteration, and the same numbers however the rows are cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.losses import get_loss
from unweave.objectives import Dense
from unweave.objectives.opening import open_table
from unweave.penalties import get_penalty
from unweave.scale.visits import Here, visiting
from unweave.solve.in_blocks import AheadInBlocks, InBlocks
from unweave.solve.plan import make_plan
from unweave.solve.problem import Problem, well_posed

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def counts(n: int = 120, m: int = 14) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(1.0, 1.0, (n, 3)) @ rng.gamma(1.0, 1.0, (3, m))).astype(float)


def holes(n: int = 120, m: int = 14) -> np.ndarray:
    X = counts(n, m)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    return X


def cut(X, pieces: int) -> list:
    edges = np.linspace(0, X.shape[0], pieces + 1).astype(int)
    return [X[a:b] for a, b in pairwise(edges)]


CASES = {
    "PCA": (lambda: unweave.PCA(3), counts),
    "PCA, wide": (lambda: unweave.PCA(3, random_state=0), lambda: counts(200, 4200)),
    "TruncatedSVD": (lambda: unweave.TruncatedSVD(3), lambda: sp.csr_array(counts())),
    "TruncatedSVD, wide": (lambda: unweave.TruncatedSVD(3, random_state=0), lambda: sp.csr_array(counts(200, 4200))),
    "NMF": (lambda: unweave.NMF(3, random_state=0), counts),
    "NMF, KL, dense": (lambda: unweave.NMF(3, loss="kl", random_state=0), counts),
    "NMF, KL": (lambda: unweave.NMF(3, loss="kl", random_state=0), lambda: sp.csr_array(counts())),
    "SemiNMF": (lambda: unweave.SemiNMF(3, random_state=0), counts),
    "holes": (lambda: unweave.Factorization(3, codes="ridge", components="ridge", missing="nan"), holes),
    "robust": (lambda: unweave.Factorization(3, loss="huber", codes="ridge", components="ridge"), counts),
    "logistic": (lambda: unweave.Factorization(2, loss="logistic"), lambda: (counts() > 2).astype(float)),
    "ordinal": (
        lambda: unweave.Factorization(2, loss="ordinal", codes="ridge", components="ridge"),
        lambda: np.minimum(counts(), 3),
    ),
    "parts that sum to one": (
        lambda: unweave.Factorization(3, codes="simplex", components="nonnegative"),
        lambda: counts() + 0.5,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_block_is_loaded_once_an_iteration(case):
    make, data = CASES[case]
    blocks, rejected = cut(data(), 5), []
    with visiting(visits := Here()), pytest.MonkeyPatch.context() as patch:
        plain = AheadInBlocks._plain_step
        patch.setattr(AheadInBlocks, "_plain_step", lambda self, state: rejected.append(1) or plain(self, state))
        model = make().fit(blocks)
    assert visits.loads == 5 * visits.passes
    assert visits.passes <= model.n_iter_ + len(rejected) + 3


@pytest.mark.parametrize("case", ["NMF", "NMF, KL", "holes", "robust", "logistic"])
def test_one_step_is_the_same_however_the_rows_are_cut(case):
    make, data = CASES[case]
    X, Z = data(), np.random.default_rng(2).random((make().n_components, 14)) + 0.1
    found = []
    for pieces in (1, 10):
        model = make().set_params(init=Z, max_iter=1).fit(cut(X, pieces))
        found.append((model.components_, model.objective_))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9, atol=1e-12)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_driver_holds_nothing_of_the_size_of_the_rows(case):
    """States hold components and numbers; what rows keep is one dict for each block."""
    make, data = CASES[case]
    X, model = data(), make()
    objective, learned = open_table(model, cut(X, 5), model.missing, model._loss())
    problem = well_posed(model._problem(learned.loss, objective.shape, learned.mixed))
    _, scheme, state = model._plan(objective, problem, np.random.default_rng(0))
    state, _ = scheme.step(state)
    assert all(X.shape[0] not in value.shape for value in state.values() if isinstance(value, np.ndarray))
    if isinstance(scheme, InBlocks):
        assert [len(state["kept"].own(i)["codes"]) for i in range(5)] == [X.shape[0] // 5] * 5


def test_what_needs_several_visits_says_so():
    problem = well_posed(Problem(3, unweave.losses.get_loss("kl"), *map(get_penalty, ("nonnegative", "simplex"))))
    objective, _ = open_table(unweave.Factorization(3, loss="kl"), cut(counts() + 1, 4), None, "kl")
    plan, _, _ = make_plan(objective, problem, "auto", "auto", np.random.default_rng(0))
    assert "every one is a visit to all blocks" in str(plan)


def test_codes_that_do_not_fit_go_into_files_and_come_back(tmp_path):
    blocks = cut(counts(), 5)
    models = []
    for most in (1 << 28, 0):
        with visiting(Here(most_kept=most, folder=tmp_path)):
            models.append(unweave.NMF(3, random_state=0).fit(blocks))
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
    assert not any(tmp_path.iterdir())


def test_the_second_order_of_a_column_is_its_sum_over_rows():
    X, rng = counts(), np.random.default_rng(0)
    U, Z = rng.random((len(X), 3)), rng.random((3, X.shape[1]))
    objective = Dense(X, get_loss("kl"))
    expected = np.zeros((X.shape[1], 3, 3))
    for i, row in enumerate(X):
        for j, x in enumerate(row):
            expected[j] += x / (U[i] @ Z[:, j]) ** 2 * np.outer(U[i], U[i])
    np.testing.assert_allclose(objective.bend_by_sums(U, Z), expected, rtol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_newtons_steps_are_longer_and_never_climb(scale):
    rng, objectives = np.random.default_rng(0), []
    X = scale * (rng.gamma(1.0, 1.0, (400, 4)) @ rng.gamma(1.0, 1.0, (4, 20)) + 0.1 * rng.random((400, 20)))
    settings = {"loss": "kl", "init": "random", "max_iter": 60, "tol": 0, "random_state": 0}
    note = lambda progress: objectives.append(progress.objective)  # noqa: E731
    model = unweave.NMF(4, callback=note, **settings).fit(cut(X, 4))
    assert "Newton" in model.plan_.components
    assert (np.diff(objectives) <= 1e-9 * np.abs(objectives[:-1])).all()
    assert model.objective_ <= objectives[-1] * (1 + 1e-9)
    assert model.objective_ < unweave.NMF(4, **settings).fit(X).objective_
