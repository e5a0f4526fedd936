"""``"auto"`` is one mechanism: which numbers are tried, and that every model chooses, keeps and says its number."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import unweave
from tests.tables import around
from unweave.factorization.model import Model
from unweave.select import Choice, auto_count
from unweave.select.auto import climb, even_rows, told_apart, widen
from unweave.select.criteria import BIC
from unweave.select.held_out import Completion, HeldOut

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def blobs(rng, size=60):
    return around(rng, ((0, 0), (4, 0), (0, 4), (4, 4)), size, 0.3)


def low_rank(rng, n=150, m=40, k=6, noise=0.5):
    L = rng.standard_normal((n, k)) @ rng.standard_normal((k, m))
    return L + noise * L.std() * rng.standard_normal(L.shape)


def parts(rng, n=60, m=12, k=3, noise=0.1):
    X = rng.gamma(0.5, 1, (n, k)) @ rng.gamma(0.5, 1, (k, m))
    return np.maximum(X + noise * X.std() * rng.standard_normal(X.shape), 0)


def documents(rng, n=300, m=200, k=5, length=80):
    topics, shares = rng.dirichlet(np.full(m, 0.05), k), rng.dirichlet(np.full(k, 2 / k), n)
    return sp.csr_array(np.array([rng.multinomial(length, p / p.sum()) for p in shares @ topics]).astype(float))


def regimes(rng, n=900, k=3):
    states = np.repeat(rng.integers(k, size=n // 15), 15)
    return 5.0 * np.arange(k)[states][:, None] + rng.standard_normal((n, 2))


CASES = {
    "PCA": (unweave.PCA("auto"), low_rank, {6}),
    "TruncatedSVD": (unweave.TruncatedSVD("auto"), low_rank, {6}),
    "LSA": (unweave.LSA("auto"), low_rank, {6}),
    "NMF": (unweave.NMF("auto"), parts, {3}),
    "SemiNMF": (unweave.SemiNMF("auto"), parts, {3}),
    "ConvexNMF": (unweave.ConvexNMF("auto"), parts, {3}),
    "OrthogonalNMF": (unweave.OrthogonalNMF("auto"), lambda rng: np.abs(blobs(rng) + 1), {4}),
    "LDA": (unweave.LDA("auto"), documents, {4, 5, 6}),
    "PLSA": (unweave.PLSA("auto"), documents, {4, 5, 6}),
    "SimplexTopics": (unweave.SimplexTopics("auto"), documents, {4, 5, 6}),
    "HiddenMarkov": (unweave.HiddenMarkov("auto"), regimes, {3}),
    "BFR": (unweave.BFR("auto"), blobs, {4}),
    "CURE": (unweave.CURE("auto"), blobs, {4}),
}
every_case = pytest.mark.parametrize("name", CASES)


@every_case
def test_the_number_is_found_kept_said_and_saved(name, rng, tmp_path):
    model, make, truth = CASES[name]
    X = make(rng)
    model = clone(model).fit(X)
    choice = model.choice_
    assert isinstance(choice, Choice) and choice.best in truth
    assert choice.name in model.get_params() and choice.best in choice.scores
    assert choice.reason in model.plan_.reasons and f"{choice.name}={choice.best} by {choice.by}" in choice.reason
    assert len(model.components_) == choice.best
    loaded = unweave.load(model.save(tmp_path / "m.unweave"))
    assert loaded.choice_.scores == choice.scores and loaded.choice_.best == choice.best
    asked = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(loaded, asked)(X), getattr(model, asked)(X))


@every_case
def test_it_is_the_model_of_that_number(name, rng):
    model, make, _ = CASES[name]
    X = make(rng)
    auto = clone(model).fit(X)
    plain = clone(model).set_params(**{auto.choice_.name: auto.choice_.best}).fit(X)
    np.testing.assert_array_equal(auto.components_, plain.components_)
    assert not hasattr(plain, "choice_")


@every_case
def test_words_and_streams_are_refused_with_the_remedy(name, rng):
    model, make, _ = CASES[name]
    X = make(rng)
    other = clone(model).set_params(**{k: "some" for k in ("n_clusters", "n_components") if k in model.get_params()})
    with pytest.raises(ValueError, match="must be a whole number or 'auto', got 'some'"):
        other.fit(X)
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="give partial_fit a number"):
            clone(model).partial_fit(X)


def test_a_number_after_auto_forgets_the_choice(rng):
    X = low_rank(rng)
    model = unweave.PCA("auto").fit(X)
    assert model.choice_.best == 6
    model.set_params(n_components=2).fit(X)
    assert not hasattr(model, "choice_") and len(model.components_) == 2


def test_a_table_with_holes_goes_by_held_out_entries(rng):
    X = low_rank(rng, 100, 20, 2, 0.2)
    X[rng.random(X.shape) < 0.15] = np.nan
    for kind in (unweave.PCA, unweave.TruncatedSVD):
        model = kind("auto", missing="nan").fit(X)
        assert (model.choice_.by, model.choice_.best) == ("held-out", 2)


def test_fit_transform_chooses_too(rng):
    X = parts(rng)
    assert unweave.NMF("auto").fit_transform(X).shape == (60, 3)
    assert unweave.PCA("auto").fit_transform(low_rank(rng)).shape == (150, 6)


def test_blocks_are_looked_at_without_being_put_together(rng):
    X = np.concatenate([blobs(rng), blobs(rng)])
    pieces = [X[i : i + 60] for i in range(0, len(X), 60)]  # each holds one cluster only
    for kind in (unweave.BFR, unweave.CURE, unweave.KMeans):
        model = kind("auto").fit(pieces) if kind is not unweave.KMeans else kind("auto").fit(X)
        assert model.choice_.best == 4
    L = low_rank(rng, 200)
    assert unweave.PCA("auto").fit([L[:70], L[70:]]).choice_.best == 6
    P = parts(rng, 120)
    assert unweave.NMF("auto").fit([P[:50], P[50:]]).choice_.best == 3


def test_even_rows_of_tables_and_blocks(rng):
    X = rng.random((1000, 3))
    assert even_rows(X, 2000) is X
    assert even_rows(X, 10).shape == (10, 3) and even_rows(sp.csr_array(X), 10).shape == (10, 3)
    many = [X[i : i + 10] for i in range(0, 1000, 10)]
    assert even_rows(many, 100).shape == (100, 3)
    assert sp.issparse(even_rows([sp.csr_array(X[:500]), sp.csr_array(X[500:])], 100))


def test_sequences_stay_sequences(rng):
    X = regimes(rng)
    lengths = [300, 300, 300]
    model = unweave.HiddenMarkov("auto").fit(X, lengths=lengths)
    assert model.choice_.best == 3
    as_list = unweave.HiddenMarkov("auto").fit([X[:300], X[300:600], X[600:]])
    assert as_list.choice_.scores == model.choice_.scores
    three = unweave.HiddenMarkov(3).fit(X, lengths=lengths)
    told = -2 * three.score_samples(X, lengths).sum()
    paid = np.log(three.predict_proba(X, lengths).sum(axis=0)).sum() * (2 + 4) + 2 * 2  # moves, means and variances
    assert model.choice_.scores[3] == pytest.approx(told + paid)
    with pytest.raises(ValueError, match="by name"):
        unweave.HiddenMarkov("auto").fit(X, lengths)


def test_a_long_chain_is_looked_at_in_stretches():
    from unweave.group.markov.choice import stretches

    rows, lengths = np.arange(30_000.0)[:, None], np.array([10_500, 19_500])
    found = stretches(rows, lengths)
    assert sum(map(len, found)) <= 20_000 and all((np.diff(part[:, 0]) == 1).all() for part in found)
    assert found[0][0, 0] == 0 and found[-1][-1, 0] == 29_999
    assert [len(part) for part in stretches(rows[:20], np.array([5, 15]))] == [5, 15]


def test_topics_need_whole_counts_and_some_documents(rng):
    X = documents(rng)
    with pytest.raises(ValueError, match=r"whole counts.*give n_components a number"):
        unweave.LDA("auto").fit(X * 0.5)
    with pytest.raises(ValueError, match="too few to hold some out: give n_components a number"):
        unweave.PLSA("auto").fit(X[:1])


def test_tables_too_small_for_blocks_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"too small.*give a number"):
        unweave.PCA("auto").fit(np.ones((2, 2)))


def test_one_kernel_of_similarities_cannot_choose(rng):
    with pytest.raises(ValueError, match="needs kernel=None"):
        unweave.ConvexNMF("auto", kernel="rbf").fit(parts(rng))


def test_rings_are_two_clusters_for_cure(rng):
    turn = rng.uniform(0, 2 * np.pi, 600)
    X = np.column_stack([np.cos(turn), np.sin(turn)]) * np.repeat([1.0, 3.0], 300)[:, None]
    model = unweave.CURE("auto").fit(X)
    assert (model.choice_.best, model.choice_.by) == (2, "separation")


def rings(rng, n=4000, noise=0.01):
    turn = rng.uniform(0, 2 * np.pi, n)
    return (
        np.column_stack([np.cos(turn), np.sin(turn)])
        * (np.repeat([1.0, 3.0], n // 2) + noise * rng.normal(size=n))[:, None]
    )


def test_a_mixture_says_when_no_number_of_gaussians_fits(rng, tmp_path):
    began = time.process_time()
    model = unweave.GaussianMixture("auto").fit(rings(rng))
    assert time.process_time() - began < 10
    assert model.choice_.best <= 20 and "side by side in 2 groups" in model.choice_.note
    assert model.choice_.note in model.plan_.reasons and model.choice_.note in str(model.choice_)
    assert unweave.load(model.save(tmp_path / "m.unweave")).choice_.note == model.choice_.note


def test_a_search_that_ends_at_its_limit_says_so():
    choice = told_apart(lambda ks: search_of({k: -float(k) for k in ks}), 60, BIC(), lambda k: k)
    assert choice.best == 60 and "bic still improves at 60" in choice.note and len(choice.scores) < 30
    choice = told_apart(lambda ks: search_of({k: abs(k - 33.0) for k in ks}), 160, BIC(), lambda k: k)
    assert choice.best == 33 and choice.note == "" and len(choice.scores) < 32


def search_of(scores):
    return Choice(min(scores, key=scores.get), scores, {}, "bic", "BIC", "n_components", False)


@pytest.mark.parametrize("k, d, n", [(3, 2, 400), (6, 4, 1500), (28, 2, 3000)])
def test_a_mixture_of_blobs_finds_their_number_and_says_nothing_else(k, d, n, rng):
    corners = 7.0 * np.stack(np.unravel_index(np.arange(k), (6,) * d), axis=1)
    X = corners[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    model = unweave.GaussianMixture("auto").fit(X)
    assert model.choice_.best == model.n_components_ == k and model.choice_.note == ""


COUNTS = {
    "few counts": lambda rng, M: rng.poisson(2 * M / M.mean()),
    "more spread than counts": lambda rng, M: rng.poisson(10 * M / M.mean() * rng.gamma(5, 0.2, M.shape)),
    "factors about one": lambda rng, M: M * np.exp(0.15 * rng.standard_normal(M.shape)),
}


@pytest.mark.parametrize("kind", COUNTS)
def test_parts_of_counts_are_numbered_right(kind, rng):
    k = 3
    M = rng.gamma(0.6, 1, (100, k)) @ rng.gamma(0.6, 1, (k, 30))
    assert unweave.NMF("auto", loss="kl").fit(COUNTS[kind](rng, M).astype(float)).choice_.best == k


def test_verbose_shows_the_search(rng, capsys):
    unweave.NMF("auto", verbose=True).fit(parts(rng))
    assert "choosing n_components" in capsys.readouterr().err


def test_small_tables_are_quick_to_choose_for(rng):
    X = parts(rng)
    fits = []

    class Counted(unweave.NMF):
        def _fit(self, X, weights=None):
            fits.append(self.n_components)
            return super()._fit(X, weights)

    assert auto_count(Counted("auto"), X, "n_components").best == 3
    assert len(fits) <= 8 * HeldOut().n_repeats and max(fits) <= 12


def test_topics_that_gain_little_are_not_taken():
    assert Completion().pick(np.array([1, 2, 4, 8]), np.array([200.0, 104, 101, 100])) == 2


def test_every_model_says_its_number_by_one_mixin():
    for model, _, _ in CASES.values():
        assert isinstance(model, Model)


class Curve:
    """Scores from a function, in place of fits."""

    name, title, larger_is_better = "curve", "cost", False

    def __init__(self, cost):
        self.cost, self.asked = cost, []

    def __call__(self, ks):
        from unweave.solve.history import History

        self.asked += ks
        history = History("every number was tried")
        for k in ks:
            history.add(self.cost(k), 1.0, 1.0)
        scores = {k: float(self.cost(k)) for k in ks}
        return Choice(min(scores, key=scores.get), scores, {}, "curve", "cost", "n_components", False, history=history)


@pytest.mark.parametrize("truth", [1, 2, 3, 5, 8, 13, 21, 34, 60, 100, 150])
@pytest.mark.parametrize("steep", [0.3, 3.0])
def test_a_valley_is_found_in_few_steps(truth, steep):
    curve = Curve(lambda k: 1 + (truth / k - 1 if k < truth else steep * (k / truth - 1) / 10))
    choice = climb(curve, 160, BIC())
    assert abs(choice.best - truth) <= max(0, truth // 20) + (truth > 20)
    assert len(curve.asked) == len(set(curve.asked)) <= 20
    assert list(choice.scores) == sorted(choice.scores)
    assert len(choice.history) == len(curve.asked)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_few_rows_leave_few_numbers(most):
    curve = Curve(lambda k: -k)
    assert climb(curve, most, BIC()).best == most and max(curve.asked) == most
    assert widen(Curve(lambda k: -k), most, BIC()).best == most


def test_an_interruption_ends_the_search():
    curve = Curve(lambda k: -k)

    def interrupted(ks):
        found = curve(ks)
        found.history.stopped = "interrupted"
        return found

    assert climb(interrupted, 160, BIC()).best == 4
    assert len(curve.asked) == 3
    curve.asked.clear()
    assert widen(interrupted, 160, BIC()).best == 20 and len(curve.asked) == 20
