"""Chains that the tests of hidden Markov models share."""

import numpy as np

from tests.reference import markov as plain
from unweave.group.markov.chain import Chain
from unweave.group.markov.emissions import DiagonalGaussian, FullGaussian, Spread

NO_PRIOR = {"start_prior": 0.0, "transition_prior": 0.0, "emission_prior": 0.0}


def random_chain(rng, k, d, kind):
    start, transition = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k)
    means, spread = rng.normal(size=(k, d)), Spread(np.full(d, 0.3), np.ones(d), np.ones(d))
    if kind == "diag":
        return Chain(start, transition, DiagonalGaussian(means, rng.uniform(0.5, 2, (k, d)), spread))
    roots = rng.normal(size=(k, d, d))
    return Chain(start, transition, FullGaussian(means, roots @ roots.transpose(0, 2, 1) + np.eye(d), spread))


def logs_of(chain, X):
    return plain.gaussian_logs(X, chain.emission.means, chain.emission.covariances)


def planted(rng, n=3000, stay=0.97, apart=4.0, k=3, d=2):
    transition = np.full((k, k), (1 - stay) / (k - 1))
    np.fill_diagonal(transition, stay)
    states = np.zeros(n, int)
    for t in range(1, n):
        states[t] = rng.choice(k, p=transition[states[t - 1]])
    means = apart * np.eye(k, d) - (np.arange(k) == k - 1)[:, None]
    return means[states] + rng.normal(size=(n, d)), states, means, transition


def symbols_of(rng, transition, shown, n):
    """Symbols of a chain, and log p of them under the chain itself."""
    states = np.zeros(n, int)
    for t in range(1, n):
        states[t] = rng.choice(len(shown), p=transition[states[t - 1]])
    x = (rng.random(n)[:, None] > np.cumsum(shown, axis=1)[states]).sum(axis=1).clip(max=shown.shape[1] - 1)
    steps, _, _ = plain.forward_backward(np.log(shown[:, x].T), np.full(len(shown), 1 / len(shown)), transition)
    return x[:, None], float(np.sum(steps))


def staying(rng, k, stay):
    return (1 - stay) * rng.dirichlet(np.ones(k), k) + stay * np.eye(k)
