"""Hidden Markov chains, written out: every path, or one step after the other in logarithms."""

from itertools import pairwise, product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def gaussian_logs(X, means, covariances):
    """log p(x | state), (rows, states); NaN entries of a diagonal Gaussian are left out, rows of NaN tell nothing."""
    X = np.asarray(X, dtype=float)
    out = np.zeros((len(X), len(means)))
    for t, x in enumerate(X):
        seen = ~np.isnan(x)
        if seen.any():
            for k in range(len(means)):
                C = np.diag(covariances[k]) if covariances.ndim == 2 else covariances[k]
                out[t, k] = multivariate_normal.logpdf(x[seen], means[k][seen], C[np.ix_(seen, seen)])
    return out


def symbol_logs(x, probabilities):
    """log p(symbol | state), (rows, states)."""
    return np.array([np.zeros(len(probabilities)) if np.isnan(s) else np.log(probabilities[:, int(s)]) for s in x])


def all_paths(logs, start, transition):
    """(log p(X), posterior, moves, best log p, best path) by summing over every path."""
    n, k = logs.shape
    paths = list(product(range(k), repeat=n))
    scores = np.array([_score(path, logs, start, transition) for path in paths])
    total = logsumexp(scores)
    posterior, moves = np.zeros((n, k)), np.zeros((k, k))
    for path, score in zip(paths, scores):
        for t, state in enumerate(path):
            posterior[t, state] += np.exp(score - total)
            if t:
                moves[path[t - 1], state] += np.exp(score - total)
    best = int(scores.argmax())
    return total, posterior, moves, scores[best], np.array(paths[best])


def _score(path, logs, start, transition):
    score = np.log(start[path[0]]) + sum(logs[t, s] for t, s in enumerate(path))
    return score + sum(np.log(transition[a, b]) for a, b in pairwise(path))


def forward_backward(logs, start, transition):
    """(log p(x_t | rows before), posterior, moves) of one sequence, in logarithms."""
    n, k = logs.shape
    with np.errstate(divide="ignore"):
        A = np.log(transition)
        alpha, beta = np.empty((n, k)), np.zeros((n, k))
        alpha[0] = np.log(start) + logs[0]
    for t in range(1, n):
        alpha[t] = logsumexp(alpha[t - 1][:, None] + A, axis=0) + logs[t]
    for t in range(n - 2, -1, -1):
        beta[t] = logsumexp(A + logs[t + 1] + beta[t + 1], axis=1)
    totals = logsumexp(alpha, axis=1)
    posterior = np.exp(alpha + beta - totals[-1])
    moves = np.zeros((k, k))
    for t in range(1, n):
        moves += np.exp(alpha[t - 1][:, None] + A + logs[t] + beta[t] - totals[-1])
    return np.diff(totals, prepend=0.0), posterior, moves


def viterbi(logs, start, transition):
    """(log p, path) of the most probable path of one sequence."""
    n, k = logs.shape
    A = np.log(np.maximum(transition, 1e-300))
    delta, back = np.log(np.maximum(start, 1e-300)) + logs[0], np.zeros((n, k), int)
    for t in range(1, n):
        scores = delta[:, None] + A
        back[t] = scores.argmax(axis=0)
        delta = scores.max(axis=0) + logs[t]
    path = [int(delta.argmax())]
    for t in range(n - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return delta.max(), np.array(path[::-1])


def em_step(X, lengths, start, transition, means, covariances):
    """One step of Baum–Welch with Gaussian states, no prior: (log p(X) before it, new parameters)."""
    logs = gaussian_logs(X, means, covariances)
    total, gammas, starts, moves = 0.0, [], np.zeros(len(start)), np.zeros(transition.shape)
    for rows in np.split(logs, np.cumsum(lengths)[:-1]):
        steps, posterior, moved = forward_backward(rows, start, transition)
        total += steps.sum()
        starts += posterior[0]
        moves += moved
        gammas.append(posterior)
    gamma = np.concatenate(gammas)
    count = gamma.sum(axis=0)
    new = gamma.T @ X / count[:, None]
    full = np.stack([(gamma[:, k, None] * (X - new[k])).T @ (X - new[k]) / count[k] for k in range(len(count))])
    spread = full if covariances.ndim == 3 else np.diagonal(full, axis1=1, axis2=2)
    return total, starts / starts.sum(), moves / moves.sum(axis=1, keepdims=True), new, spread
