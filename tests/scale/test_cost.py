"""What a plan says a fit will send is what a real fit sends, for every family."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.group.kmeans import in_blocks
from unweave.group.mixtures import forms
from unweave.scale import families
from unweave.scale.cost import FAMILIES, Speeds, cost_of, family_of
from unweave.scale.visits import Here, visiting
from unweave.solve import closed

cloudpickle = pytest.importorskip("cloudpickle")  # comes with Dask, an extra

N, M, K, BLOCKS = 2000, 60, 5, 4


class Scales(Here):
    """Weigh what every visit is told and hands back."""

    def __init__(self):
        super().__init__()
        self.weighed: dict[str, tuple[int, float, int]] = {}

    def each(self, load, task, state=None, kept=None):
        back, own = [], []

        def weighing(block, state, kept):
            summary, mine = task(block, state, kept)
            back.append(len(cloudpickle.dumps(summary)))
            own.append(0 if mine is None else sum(array.nbytes for array in mine.values()))
            return summary, mine

        found = super().each(load, weighing, state, kept)
        # Only in the first sweep of ratings are first components sent besides.
        self.weighed[getattr(task, "__name__", type(task).__name__)] = (
            len(cloudpickle.dumps(state)),
            sum(back),
            sum(own),
        )
        return found

    def in_turn(self, load, task, state, order):
        for i in order:
            found = super().in_turn(load, task, state, [i])
            self.passes -= 1
            one = self.weighed.get("in turn", (0, 0, 0))
            self.weighed["in turn"] = one[0] + len(cloudpickle.dumps(state)), one[1] + len(cloudpickle.dumps(found)), 0
            state = found
        self.passes += 1
        return state


def cut(X) -> list:
    ends = np.linspace(0, X.shape[0], BLOCKS + 1).astype(int)
    return [X[a:b] for a, b in pairwise(ends)]


def numbers(dtype=np.float64):
    rng = np.random.default_rng(0)
    return (rng.random((N, K)) @ rng.random((K, M)) + 0.1 * rng.random((N, M))).astype(dtype)


def holes():
    X = numbers()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X


def flags():
    return (numbers() > 1.3).astype(float)


def words(dtype=np.float64):
    return sp.csr_array(np.random.default_rng(0).poisson(0.3, (N, 300)).astype(dtype))


def stars(dtype=np.float64):
    R = sp.random_array((N, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    R.data = np.ceil(R.data * 5)
    return sp.csr_array(R).astype(dtype)


def wide():
    return sp.csr_array(sp.random_array((400, 5000), density=0.01, rng=np.random.default_rng(0), format="csr"))


CASES = {
    "axes": (lambda: unweave.PCA(K), numbers, ["_about_its_means"]),
    "axes of a wide table": (lambda: unweave.TruncatedSVD(K, max_iter=4, tol=0), wide, ["_normal_of_block"]),
    "parts": (lambda: unweave.NMF(K, max_iter=4, tol=0), numbers, ["VisitAhead"]),
    "parts in float32": (lambda: unweave.NMF(K, max_iter=4, tol=0), lambda: numbers(np.float32), ["VisitAhead"]),
    "holes": (lambda: unweave.Factorization(K, missing="nan", max_iter=4, tol=0), holes, ["Visit"]),
    "gradients": (lambda: unweave.Factorization(K, loss="logistic", max_iter=4, tol=0), flags, ["Visit"]),
    "counts": (lambda: unweave.NMF(K, loss="kl", max_iter=4, tol=0), numbers, ["VisitAhead"]),
    "counts, few stored": (lambda: unweave.NMF(K, loss="kl", max_iter=4, tol=0), wide, ["Visit"]),
    "groups": (lambda: unweave.KMeans(K), numbers, ["lloyd_visit"]),
    "gaussian": (lambda: unweave.GaussianMixture(K, max_iter=4, tol=0), numbers, ["_summary"]),
    "gaussian-diagonal": (
        lambda: unweave.GaussianMixture(K, covariance_type="diag", max_iter=4, tol=0),
        numbers,
        ["_summary"],
    ),
    "bernoulli": (lambda: unweave.BernoulliMixture(K, max_iter=4, tol=0), flags, ["_summary"]),
    "topics": (lambda: unweave.LDA(K, max_iter=4, tol=0), words, ["sweep_block"]),
    "topics in float32": (lambda: unweave.LDA(K, max_iter=4, tol=0), lambda: words(np.float32), ["sweep_block"]),
    "topics-online": (lambda: unweave.LDA(K, inference="online", max_iter=1), words, ["in turn"]),
    "ratings": (
        lambda: unweave.MatrixCompletion(K, ridge=0.1, max_iter=4, tol=0),
        stars,
        ["solve_users", "solve_items"],
    ),
    "implicit": (lambda: unweave.ImplicitALS(K, ridge=0.1, max_iter=4), stars, ["solve_users", "solve_items"]),
    "implicit in float32": (
        lambda: unweave.ImplicitALS(K, ridge=0.1, max_iter=4),
        lambda: stars(np.float32),
        ["solve_users", "solve_items"],
    ),
}
# What a pickle weighs beside its numbers: names and types, some hundred bytes a visit.
SMALL = 700


def planned(model, X, **more):
    complete = sp.issparse(X) or not np.isnan(X).any()
    stored = X.nnz if sp.issparse(X) else None
    given = {"blocks": BLOCKS, "stored": stored, "dtype": X.dtype, **more}
    return cost_of(family_of(model, complete), X.shape, K, **given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_visits_send_and_hand_back_what_the_plan_says(case):
    make, table, names = CASES[case]
    model, X, scales = make(), table(), Scales()
    with visiting(scales):
        model.fit(cut(X))
    told = sum(scales.weighed[name][0] for name in names)
    back = sum(scales.weighed[name][1] for name in names)
    cost = planned(model, X, workers=1, iterations=model.n_iter_)
    assert abs(cost.bytes_out - told) <= 0.3 * told + SMALL * len(names)
    if names != ["lloyd_visit"]:  # the last visit of k-means hands back the labels too
        assert abs(cost.bytes_back - back) <= 0.3 * back + SMALL * BLOCKS * len(names)
    assert cost.visits_an_iteration == len(names)
    assert abs(cost.passes - scales.passes) <= 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["parts", "holes", "counts", "topics"])
def test_rows_keep_what_the_plan_says(case):
    make, table, names = CASES[case]
    model, X, scales = make(), table(), Scales()
    with visiting(scales):
        model.fit(cut(X))
    own = scales.weighed[names[0]][2]
    few, many = planned(model, X, workers=2), planned(model, X, workers=4)
    # What rows keep is there twice, and shared out: half of it less with twice the workers.
    assert few.worker_memory - many.worker_memory == pytest.approx(2 * own / 4, rel=0.05)


def test_every_family_is_tried():
    tried = {family_of(make(), case != "holes") for case, (make, _, _) in CASES.items()}
    assert tried == set(FAMILIES)


def test_more_workers_take_less_time_until_the_scheduler_is_the_bound():
    def seconds(workers, task=1e-3):
        speeds = Speeds(task=task)
        told = {"blocks": 1000, "iterations": 10, "seconds_a_row": 1e-6, "speeds": speeds}
        return cost_of("groups", (100_000_000, 10), 20, workers=workers, **told).seconds

    assert 1.8 < seconds(1) / seconds(2) < 2.05
    assert seconds(64) > 0.9 * seconds(32)  # 3,000 tasks an iteration at a millisecond each
    assert seconds(64, task=1e-5) < 0.6 * seconds(32, task=1e-5)


def test_memory_grows_with_the_block_and_not_with_the_table():
    small = cost_of("parts", (1_000_000, 100), 10, blocks=10)
    large = cost_of("parts", (100_000_000, 100), 10, blocks=1000)
    assert large.driver_memory - small.driver_memory < 2 * (1 << 27)  # codes beyond that go into files
    assert cost_of("parts", (1_000_000, 100), 10, blocks=2).driver_memory > 2 * small.driver_memory


def test_ratings_read_the_pages_that_blocks_of_items_touch():
    table, users = 1_000_000 * 8 + 8 * 100_000, 100_000 * 12 * 4
    told = {"blocks": 10, "stored": 1_000_000, "dtype": "float32"}
    # Both sides, and the users' file: written, read by their own blocks, and whole by whoever has blocks of items.
    for workers in (1, 3):
        cost = cost_of("ratings", (100_000, 1000), 10, workers=workers, **told)
        assert cost.bytes_read == pytest.approx(2 * table + (2 + workers) * users, rel=0.01)
    # Few entries in a large file: a page of 4 kB for each.
    told = {"blocks": 1000, "stored": 1_000_000, "dtype": "float32", "workers": 1000}
    cost = cost_of("ratings", (10_000_000, 1000), 62, **told)
    whole = 10_000_000 * 64 * 4
    assert cost.bytes_read == pytest.approx(2 * (8_000_000 + 80_000_000) + 2 * whole + 4096 * 1_000_000, rel=0.01)


def test_limits_are_those_of_the_code():
    assert families.GRAM_COLUMNS == closed.MOST_BLOCK_COLUMNS
    assert families._PRODUCT_COLUMNS == forms._WIDEST
    assert families._BOUNDS == in_blocks._BOUNDS


def test_it_is_said_in_words():
    cost = cost_of("ratings", (10_000, 500), 8, blocks=1, stored=100_000, iterations=15, seconds_a_row=1e-5)
    assert cost.lines()[0] == "1 block of 10,000 rows"
    assert "2 visits an iteration" in cost.lines()[1] and cost.lines()[-1].startswith("about ")
    assert set(cost.as_dict()) >= {"blocks", "passes", "bytes_read", "bytes_out", "bytes_back", "worker_memory"}
    with pytest.raises(ValueError, match="family must be one of axes, parts"):
        cost_of("magic", (10, 10), 2, blocks=1)
