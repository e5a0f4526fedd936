"""CURE with plain lists: nothing remembered, everything found anew at each merge."""

import numpy as np


def representatives(rows, most, shrink):
    mean = rows.mean(axis=0)
    chosen = []
    for _ in range(min(most, len(rows))):
        seen = np.array(chosen) if chosen else mean[None]
        far = ((rows[:, None] - seen[None]) ** 2).sum(axis=2).min(axis=1)
        if chosen and far.max() == 0:
            break
        chosen.append(rows[far.argmax()])
    return np.array(chosen) + shrink * (mean - np.array(chosen))


def merge(X, k, most, shrink):
    """Labels after merging the two nearest clusters until k are left; a label is the first row of its cluster."""
    clusters = [[i] for i in range(len(X))]
    while len(clusters) > k:
        reps = [representatives(X[c], most, shrink) for c in clusters]
        best, pair = np.inf, (0, 1)
        for a in range(len(clusters)):
            for b in range(a + 1, len(clusters)):
                gap = ((reps[a][:, None] - reps[b][None]) ** 2).sum(axis=2).min()
                if gap < best:
                    best, pair = gap, (a, b)
        a, b = pair
        clusters[a] = sorted(clusters[a] + clusters[b])
        del clusters[b]
    labels = np.empty(len(X), int)
    for members in clusters:
        labels[members] = members[0]
    return labels
