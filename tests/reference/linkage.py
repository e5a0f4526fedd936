"""Trees of clusters the slow and obvious way: join the two nearest clusters, measure everything again."""

from __future__ import annotations

import numpy as np


def cluster_distance(X, a, b, linkage):
    """Distance of two lists of rows."""
    X = np.asarray(X, np.float64)
    pairs = np.sqrt(((X[a][:, None, :] - X[b][None, :, :]) ** 2).sum(axis=2))
    if linkage == "single":
        return pairs.min()
    if linkage == "complete":
        return pairs.max()
    if linkage == "average":
        return pairs.mean()
    gap = X[a].mean(axis=0) - X[b].mean(axis=0)
    return np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)) * (gap @ gap))


def heights(X, linkage):
    """Heights of all joins, in order, and the clusters that each join makes."""
    clusters = [[i] for i in range(len(X))]
    found = []
    while len(clusters) > 1:
        best = min(
            (cluster_distance(X, clusters[i], clusters[j], linkage), i, j)
            for i in range(len(clusters))
            for j in range(i)
        )
        height, i, j = best
        clusters[j] = clusters[j] + clusters.pop(i)
        found.append(height)
    return np.array(found)


def spanning_tree(X):
    """Squared lengths of Prim's edges in the order in which rows join, from row 0."""
    X = np.asarray(X, np.float64)
    inside, edges = [0], []
    while len(inside) < len(X):
        squares = ((X[:, None, :] - X[inside][None, :, :]) ** 2).sum(axis=2).min(axis=1)
        squares[inside] = np.inf
        inside.append(int(squares.argmin()))
        edges.append(squares.min())
    return inside, np.array(edges)


def nearest_cluster(means, sizes, own):
    """The cheapest other cluster to join with, by Ward's cost; of equals the one with the smallest ``a ^ b``."""
    means = np.asarray(means, np.float64)
    s = sizes[own]
    costs = 2 * s * sizes / (s + sizes) * ((means - means[own]) ** 2).sum(axis=1)
    return min((cost, j ^ own, j) for j, cost in enumerate(costs) if j != own)


def nearest_of_all(distances):
    """Distance of every cluster to its nearest, from a square table."""
    return np.array([min(d for j, d in enumerate(row) if j != i) for i, row in enumerate(distances)], distances.dtype)


def mutual(distances):
    """Pairs i < j that are each other's nearest, from a square table without ties."""
    nearest = [min((d, j) for j, d in enumerate(row) if j != i)[1] for i, row in enumerate(distances)]
    return {(i, j) for i, j in enumerate(nearest) if nearest[j] == i and i < j}


def squeezed(distances, first, second, share, rule):
    """The square table of clusters made of `first` and `second` (equal: left as they are)."""
    combine = {1: max, -1: min, 0: None}[rule]

    def joined(x, y, t):
        return combine(x, y) if combine else (1 - t) * x + t * y

    table = np.zeros((len(first), len(first)))
    for i, (a, b) in enumerate(zip(first, second)):
        for j, (c, d) in enumerate(zip(first, second)):
            if i != j:
                to_c = joined(distances[a, c], distances[b, c], share[i])
                to_d = joined(distances[a, d], distances[b, d], share[i])
                table[i, j] = joined(to_c, to_d, share[j])
    return table


def named_joins(pairs, n):
    """For each join the numbers of its two clusters in scipy's counting, and its rows."""
    clusters, names, found = {i: {i} for i in range(n)}, {i: i for i in range(n)}, []
    for i, (a, b) in enumerate(pairs):
        one = next(c for c, rows in clusters.items() if a in rows)
        two = next(c for c, rows in clusters.items() if b in rows)
        clusters[one] = clusters[one] | clusters.pop(two)
        found.append((min(names[one], names[two]), max(names[one], names[two]), len(clusters[one])))
        names[one] = n + i
    return found


def labels_after(pairs, n):
    """The cluster of each row after these joins, numbered as they appear."""
    labels = list(range(n))
    for a, b in pairs:
        old, new = labels[b], labels[a]
        labels = [new if label == old else label for label in labels]
    seen = list(dict.fromkeys(labels))
    return [seen.index(label) for label in labels]


def joined_row(distances, live, a, b, share_a, share_b, rule):
    """Distances of a joined with b to the other live clusters, by name."""
    combine = {1: max, -1: min, 0: lambda x, y: share_a * x + share_b * y}[rule]
    return {j: combine(distances[a, j], distances[b, j]) for j in live if j not in (a, b)}
