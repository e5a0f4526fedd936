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


def nearest_in_row(distances, live, r):
    """The nearest live cluster of r in a table of distances."""
    return min((distances[r, j], j ^ r, j) for j in live if j != r)


def joined_row(distances, live, a, b, share_a, share_b, rule):
    """Distances of a joined with b to the other live clusters, by name."""
    combine = {1: max, -1: min, 0: lambda x, y: share_a * x + share_b * y}[rule]
    return {j: combine(distances[a, j], distances[b, j]) for j in live if j not in (a, b)}
