from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.explain.topics.measures import coherence


def slow(topic, X, measure, n):
    """Pair by pair."""
    top, held, values = np.argsort(-topic, kind="stable")[:n], X > 0, []
    for a in range(n):
        for b in range(a + 1, n):
            v, w = held[:, top[a]], held[:, top[b]]
            both = int((v & w).sum())
            if measure == "umass":
                if v.any() and w.any():
                    values.append(math.log((both + 1) / v.sum()))
            elif both == 0:
                values.append(-1.0)
            elif both == len(X):
                values.append(1.0)
            else:
                p = both / len(X)
                values.append(math.log(p / (v.mean() * w.mean())) / -math.log(p))
    return np.mean(values) if values else math.nan


@pytest.mark.parametrize("measure", ["umass", "npmi"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_as_defined(measure, kind, rng):
    X = rng.poisson(0.4, (40, 15))
    X[:, 3] = 0
    topics = rng.dirichlet(np.ones(15), size=5)
    topics[0, 3] = 0.9
    expected = [slow(topic, X, measure, 6) for topic in topics]
    np.testing.assert_allclose(coherence(topics, kind(X), measure=measure, n=6), expected)


def test_more_words_than_there_are_and_nothing_to_compare():
    X = np.array([[1, 1], [1, 0]])
    assert np.isfinite(coherence(np.eye(2), X, n=10)).all()
    assert np.isnan(coherence(np.eye(2), np.zeros((3, 2)))).all()


def test_bad_input():
    with pytest.raises(ValueError, match="measure='c_v' is not known"):
        coherence(np.eye(3), np.eye(3), measure="c_v")
    with pytest.raises(ValueError, match="columns"):
        coherence(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="n must be at least 2"):
        coherence(np.eye(3), np.eye(3), n=1)
