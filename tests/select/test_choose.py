"""One search for every estimator: answers, threads, interruption, skipped numbers, pictures."""

import time

import numpy as np
import pytest

import unweave
from tests.tables import around
from unweave.select import AIC, BIC, Choice, Knee, Stability, auto_count, choose
from unweave.select.criteria import CRITERIA
from unweave.solve.progress import Progress


@pytest.fixture
def blobs(rng):
    return around(rng, ((0, 0), (6, 0), (0, 7)))


@pytest.mark.parametrize("by", ["stability", "silhouette", "bic", "elbow", "knee"])
def test_every_criterion_finds_three_clusters(blobs, by):
    choice = choose(unweave.KMeans(), blobs, range(1, 9), by=by)
    assert choice.best == 3 and choice.by == by and choice.name == "n_clusters"
    assert list(choice.scores) == list(range(1, 9))
    assert choice.best_estimator.n_clusters == 3
    np.testing.assert_array_equal(choice.best_estimator.labels_, unweave.KMeans(3).fit(blobs).labels_)


@pytest.mark.parametrize("by", list(CRITERIA))
def test_the_number_of_threads_does_not_matter(blobs, by):
    model = {"bi-cross-validation": unweave.PCA(), "completion": unweave.PLSA(max_iter=20)}.get(by, unweave.KMeans())
    if by != "silhouette":
        blobs = np.rint(np.abs(np.column_stack([blobs, blobs[:, ::-1] + 1, 3 * blobs])))
    one, three = (choose(model, blobs, range(1, 4), by=by, threads=t) for t in (1, 3))
    assert one.scores == three.scores and one.errors == three.errors and one.best == three.best


def test_mixtures_go_by_bic_and_factorisations_by_held_out_entries(rng, blobs):
    from sklearn.mixture import GaussianMixture

    choice = choose(GaussianMixture(random_state=0), blobs, range(1, 6))
    assert (choice.by, choice.best, choice.name) == ("bic", 3, "n_components")
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 15)) + 0.1 * rng.standard_normal((60, 15))
    choice = choose(unweave.Factorization(codes="ridge", components="ridge"), X, range(1, 6))
    assert (choice.by, choice.best) == ("held-out", 2)


def test_cross_validation_uses_score(rng):
    from sklearn.decomposition import PCA
    from sklearn.model_selection import KFold, cross_val_score

    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) + 0.3 * rng.standard_normal((80, 6))
    choice = choose(PCA(), X, range(1, 6), by="auto")
    assert choice.by == "cross-validation" and choice.best == 2
    assert choice.scores[2] == pytest.approx(cross_val_score(PCA(2), X, cv=KFold(5, shuffle=True)).mean(), rel=0.05)


def test_the_estimator_is_left_alone(blobs):
    model = unweave.KMeans(5, verbose=True, callback=print)
    before = model.get_params()
    choose(unweave.KMeans(5), blobs, [2, 3])
    choice = choose(model.set_params(verbose=False, callback=None), blobs, [2, 3])
    assert model.get_params() == before | {"verbose": False, "callback": None}
    assert choice.best_estimator.callback is None
    assert not hasattr(model, "labels_")


def test_the_callback_watches_and_stops(blobs):
    told: list[Progress] = []

    def watch(progress):
        told.append(progress)
        return progress.iteration == 3

    choice = choose(unweave.KMeans(), blobs, range(1, 9), by="silhouette", callback=watch)
    assert [p.iteration for p in told] == [1, 2, 3] and told[0].max_iter == 8
    assert list(choice.scores) == [1, 2, 3] and choice.best == 3 and choice.best_estimator is None
    assert told[2].objective == -choice.scores[3]


def test_ctrl_c_keeps_what_was_scored(blobs):
    def interrupt(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        choice = choose(unweave.KMeans(), blobs, range(2, 9), by="silhouette", callback=interrupt)
    assert list(choice.scores) == [2, 3] and choice.best == 3 and choice.best_estimator is None


class OnlyTheFirstIsQuick(BIC):
    """Scores one component without a fit."""

    def values(self, trial, X, seed):
        return np.zeros(1) if trial.count == 1 else super().values(trial, X, seed)


def test_an_interruption_ends_the_fits_under_way(blobs):
    def interrupt(progress):
        raise KeyboardInterrupt

    endless = unweave.Factorization(codes="ridge", components="ridge", max_iter=10**9, tol=0)
    began = time.perf_counter()
    with pytest.warns(UserWarning, match="interrupted"):
        choice = choose(endless, blobs, [1, 2], by=OnlyTheFirstIsQuick(), callback=interrupt, threads=2)
    assert list(choice.scores) == [1] and time.perf_counter() - began < 20


def test_numbers_that_cannot_be_fitted_are_skipped(blobs):
    choice = choose(unweave.KMeans(), blobs[:5], range(1, 9), by="silhouette")
    assert set(choice.scores) <= set(range(1, 6)) and set(choice.skipped) >= {6, 7, 8}
    assert "not scored" in str(choice)
    with pytest.raises(ValueError, match="NaN"):
        choose(unweave.KMeans(), np.full((5, 2), np.nan), range(1, 4))


@pytest.mark.parametrize("by", ["silhouette", "bic", "stability", "elbow"])
def test_duplicates_and_single_rows_have_an_answer(by):
    choice = choose(unweave.KMeans(), np.ones((12, 2)), range(1, 4), by=by)
    assert np.isfinite(list(choice.scores.values())).all()
    assert choose(unweave.KMeans(), [[1.0, 2.0]], range(1, 3), by="silhouette").best == 1


def test_options_of_a_criterion(blobs):
    choice = choose(unweave.KMeans(), blobs, range(2, 5), by=Stability(n_repeats=3, perturb="bootstrap"))
    assert choice.best == 3 and len(choice.errors) == 3
    assert choose(unweave.KMeans(), blobs, [2, 3], by=AIC()).by == "aic"
    assert choose(unweave.KMeans(), blobs, range(1, 9), by=Knee(sensitivity=2.0)).best == 3


def test_frames_and_lists(blobs):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs, columns=["a", "b"])
    for by in ("stability", "silhouette"):
        plain = choose(unweave.KMeans(), blobs, [2, 3], by=by)
        assert choose(unweave.KMeans(), frame, [2, 3], by=by).scores == pytest.approx(plain.scores)
    assert choose(unweave.KMeans(), blobs.tolist(), [2, 3], by="bic").best == 3


def test_what_is_refused(blobs):
    with pytest.raises(ValueError, match="by='luck' is not known"):
        choose(unweave.KMeans(), blobs, by="luck")
    with pytest.raises(TypeError, match="by must be"):
        choose(unweave.KMeans(), blobs, by=Stability)
    with pytest.raises(TypeError, match="estimator"):
        choose(unweave.KMeans, blobs)
    with pytest.raises(TypeError, match="nothing to choose"):
        choose(unweave.SingularValueThresholding(), blobs)
    with pytest.raises(TypeError, match="n_components"):
        choose(unweave.KMeans(), blobs, 3)
    with pytest.raises(ValueError, match="at least one"):
        choose(unweave.KMeans(), blobs, [])
    with pytest.raises(ValueError, match="at least 1"):
        choose(unweave.KMeans(), blobs, [0, 1])
    with pytest.raises(TypeError, match="callback"):
        choose(unweave.KMeans(), blobs, callback=3)
    with pytest.raises(ValueError, match="threads"):
        choose(unweave.KMeans(), blobs, threads=0)
    with pytest.raises(ValueError, match="random_state"):
        choose(unweave.KMeans(), blobs, random_state="seed")


def test_auto_count_widens_its_search(rng):
    few = np.concatenate([rng.normal(c, 0.3, size=(30, 2)) for c in ((0, 0), (5, 0), (0, 5))])
    found = auto_count(unweave.KMeans(), few, "n_clusters")
    assert found.best == 3 and max(found.scores) == 20 and "n_clusters=3" in found.reason
    grid = np.stack(np.meshgrid(np.arange(6), np.arange(4)), -1).reshape(-1, 2) * 10.0
    many = np.repeat(grid, 12, axis=0) + 0.3 * rng.standard_normal((288, 2))
    found = auto_count(unweave.KMeans(), many, "n_clusters")
    assert found.best == 24 and max(found.scores) == 40
    assert auto_count(unweave.KMeans(), [[1.0]], "n_clusters").best == 1


def test_table_and_picture(blobs, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    choice = choose(unweave.KMeans(), blobs, range(1, 5), by=Stability(n_repeats=3))
    table = choice.table()
    assert list(table) == ["n_clusters", "score", "error", "best"]
    assert table["n_clusters"] == [1, 2, 3, 4] and table["best"] == [False, False, True, False]
    figure = choice.plot()
    figure.savefig(tmp_path / "choice.png")
    axis = figure.axes[0]
    assert axis.get_xlabel() == "n_clusters" and "n_clusters = 3" in axis.get_title()
    pyplot.close(figure)
    assert "← best" in str(choice)


def test_a_choice_without_errors_can_be_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    figure = Choice(2, {2: 1.0, 3: 0.5}, {}, "bic", "BIC", "n_components", False).plot()
    curve = figure.axes[0].containers[0].lines[0]
    assert curve.get_xdata().tolist() == [2, 3] and curve.get_ydata().tolist() == [1.0, 0.5]
    pyplot.close(figure)


def test_similarities_given_as_a_table_of_pairs():
    A = np.kron(np.eye(3), np.ones((20, 20))) + 0.01
    assert choose(unweave.SpectralClustering(affinity="precomputed"), A, range(1, 6)).best == 3
    with pytest.raises(TypeError, match="'silhouette' or 'elbow'"):
        choose(unweave.SpectralClustering(affinity="precomputed"), A, range(1, 6), by="stability")


def test_of_scores_that_rounding_alone_tells_apart_the_fewest_components_win():
    """What an optimum scores to the last bit depends on the processor; the answer must not."""
    from unweave.select.choose import _choice
    from unweave.solve.history import History

    for criterion, sign in ((AIC(), 1.0), (ExplainedShare(), -1.0)):
        scores = {1: sign * 5.0, 2: sign * 3.0, 3: sign * 3.0 * (1 - 1e-15), 4: sign * 3.0 * (1 - 1e-14)}
        assert _choice(scores, {}, {}, criterion, "n_components", History()).best == 2
        clearly = {**scores, 4: sign * 2.9}
        assert _choice(clearly, {}, {}, criterion, "n_components", History()).best == 4


class ExplainedShare(AIC):
    """A criterion of which more is better."""

    larger_is_better = True
