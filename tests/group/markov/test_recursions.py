"""The recursions of hidden Markov models against every path, and pieces of a sequence against the whole."""

import numpy as np
import pytest

from tests.group.markov.chains import logs_of, random_chain
from tests.reference import markov as plain
from unweave.group.markov.chain import Chain
from unweave.group.markov.emissions import DiagonalGaussian, Spread, Symbols
from unweave.group.markov.model import HiddenMarkov
from unweave.group.markov.segments import agree, cut
from unweave.group.markov.sweep import expected_sums, posterior, step_scores
from unweave.group.markov.viterbi import most_probable, path_score
from unweave.kernels import markov as kernels


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_sums_are_those_over_all_paths(rng, kind):
    chain = random_chain(rng, 3, 2, kind)
    lengths = np.array([1, 5, 7, 2])
    X = rng.normal(size=(15, 2))
    segments = cut(lengths, 3)
    sums, _ = expected_sums(X, chain, segments, 64)
    gamma, path = posterior(X, chain, segments, 64), most_probable(X, chain, segments, 64)
    total, start, moves, best = 0.0, 0.0, 0.0, 0.0
    for logs, rows, states in zip(*(np.split(a, np.cumsum(lengths)[:-1]) for a in (logs_of(chain, X), gamma, path))):
        one = plain.all_paths(logs, chain.start, chain.transition)
        total, start, moves, best = total + one[0], start + one[1][0], moves + one[2], best + one[3]
        np.testing.assert_allclose(rows, one[1], atol=1e-12)
        assert states.tolist() == one[4].tolist()
    assert sums.log_likelihood == pytest.approx(total, rel=1e-12)
    assert path_score(X, chain, path, lengths) == pytest.approx(best, rel=1e-12)
    np.testing.assert_allclose(sums.start, start, atol=1e-12)
    np.testing.assert_allclose(sums.moves, moves, atol=1e-12)


def test_densities_of_both_types_equal_the_plain_ones(rng, dtype):
    X = rng.normal(size=(70, 3)).astype(dtype)
    for kind in ("diag", "full"):
        chain = random_chain(rng, 5, 3, kind)
        x = np.empty((3, 35, 2))
        kernels.take_lanes(X, np.array([0, 35]), np.array([35, 30]), 0, x)
        np.testing.assert_array_equal(x[:, :, 0], X[:35].T)
        assert np.isnan(x[:, 30:, 1]).all()
        logs = chain.emission.logs(x.reshape(3, -1)).reshape(5, 35, 2)
        np.testing.assert_allclose(logs[:, :, 0].T, logs_of(chain, X[:35]), rtol=1e-10)
        assert (logs[:, 30:, 1] == 0).all()


def test_holes_leave_out_their_entry(rng):
    chain = random_chain(rng, 3, 4, "diag")
    X = rng.normal(size=(40, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[[3, 9]] = np.nan
    logs = chain.emission.logs(np.ascontiguousarray(X.T))
    np.testing.assert_allclose(logs.T, logs_of(chain, X), rtol=1e-10, atol=1e-12)
    sums = chain.emission.zeros()
    gamma = rng.random((3, 40))
    chain.emission.add(sums, np.ascontiguousarray(X.T), gamma)
    apart = np.nan_to_num(X - 0.3)
    np.testing.assert_allclose(sums, np.hstack([gamma @ ~np.isnan(X), gamma @ apart, gamma @ apart**2]))


def test_full_moments_are_products(rng):
    chain = random_chain(rng, 2, 3, "full")
    X, gamma = rng.normal(size=(20, 3)), rng.random((2, 20))
    X[4] = np.nan
    sums = chain.emission.zeros()
    chain.emission.add(sums, np.ascontiguousarray(X.T), gamma)
    Y, i, j = np.nan_to_num(X - 0.3), *np.triu_indices(3)
    expected = np.hstack([gamma @ ~np.isnan(X[:, :1]), gamma @ Y, gamma @ (Y[:, i] * Y[:, j])])
    np.testing.assert_allclose(sums, expected)


def test_symbols_are_looked_up_and_counted(rng):
    shown, gamma = rng.dirichlet(np.ones(4), 3), rng.random((3, 30))
    x = rng.integers(4, size=30).astype(float)
    x[[2, 7]] = np.nan
    emission = Symbols(shown)
    np.testing.assert_allclose(emission.logs(x[None]).T, plain.symbol_logs(x, shown))
    sums = emission.zeros()
    emission.add(sums, x[None], gamma)
    np.testing.assert_allclose(sums, np.stack([gamma[:, x == s].sum(axis=1) for s in range(4)], axis=1))


@pytest.mark.parametrize("k", [1, 2, 4, 5, 9])
def test_mixing_any_number_of_states(rng, k):
    weights, source, out = rng.random((k, k)), rng.random((k, 7)), np.empty((k, 7))
    kernels.mix(weights, source, out)
    np.testing.assert_allclose(out, weights @ source)


@pytest.mark.parametrize("run_up", [64, 0])
@pytest.mark.parametrize("kind", ["diag", "full"])
def test_pieces_of_a_long_sequence_give_the_whole(rng, kind, run_up):
    chain = random_chain(rng, 4, 2, kind)
    lengths = np.array([1300, 1, 700, 3])
    X = rng.normal(size=(2004, 2))
    segments = cut(lengths, 4)
    assert len(segments) > 6
    sums, _ = expected_sums(X, chain, segments, run_up)
    gamma, scores = posterior(X, chain, segments, run_up), step_scores(X, chain, segments, run_up)
    path, moves, at = most_probable(X, chain, segments, run_up), np.zeros((4, 4)), 0
    for n in lengths:
        logs = logs_of(chain, X[at : at + n])
        steps, expected, moved = plain.forward_backward(logs, chain.start, chain.transition)
        np.testing.assert_allclose(scores[at : at + n], steps, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(gamma[at : at + n], expected, atol=1e-9)
        _, states = plain.viterbi(logs, chain.start, chain.transition)
        assert path[at : at + n].tolist() == states.tolist()
        moves, at = moves + moved, at + n
    np.testing.assert_allclose(sums.moves, moves, rtol=1e-8)
    assert sums.log_likelihood == pytest.approx(scores.sum(), rel=1e-12)


def test_a_chain_that_never_forgets_is_followed_from_end_to_end(rng):
    # Two classes of states that never meet, told apart by the first row alone.
    transition = np.array([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]])
    shown = np.array([[0.4, 0.4, 0.2, 0.0], [0.4, 0.4, 0.2, 0.0], [0.4, 0.4, 0.0, 0.2], [0.4, 0.4, 0.0, 0.2]])
    chain = Chain(np.full(4, 0.25), transition, Symbols(shown))
    X = rng.integers(2, size=(9000, 1)).astype(float)
    X[0] = 3
    segments = cut(np.array([9000]), 4)
    sums, run_up = expected_sums(X, chain, segments, 64)
    assert run_up == 0
    assert posterior(X, chain, segments, 64)[:, :2].max() < 1e-90
    np.testing.assert_allclose(sums.moves[2:, 2:].sum(), 8999)
    assert (most_probable(X, chain, segments, 64) >= 2).all()


def test_longer_run_ups_are_found_where_they_are_needed(rng):
    transition = np.array([[0.99, 0.01], [0.01, 0.99]])
    chain = Chain(
        np.full(2, 0.5),
        transition,
        DiagonalGaussian(np.array([[0.0], [0.3]]), np.ones((2, 1)), Spread(np.zeros(1), np.ones(1), np.ones(1))),
    )
    X = rng.normal(size=(9000, 1))
    segments = cut(np.array([9000]), 2)
    sums, run_up = expected_sums(X, chain, segments, 64)
    assert run_up > 64
    exact, _ = expected_sums(X, chain, segments, 0)
    np.testing.assert_allclose(sums.moves, exact.moves, rtol=1e-8)


def test_agreement_is_relative():
    tiny = np.array([1.0, 1e-60])
    assert agree(tiny, tiny * (1 + 1e-12)) and not agree(tiny, np.array([1.0, 2e-60]))


def test_one_and_two_threads_agree_to_the_bit(rng, two_threads):
    X = rng.normal(size=(70_000, 2))

    def fit():
        model = HiddenMarkov(4, max_iter=3, tol=0.0).fit(X)
        return model.transition_matrix_, model.means_, model.labels_, model.predict_proba(X), model.score_samples(X)

    for one, two in zip(*two_threads(fit)):
        np.testing.assert_array_equal(one, two)
