"""
A thousand rows that stand for a hundred thousand
=================================================

A coreset is a small sample with weights, drawn so that every choice of centres costs about the same on it as on all
rows. Centres fitted to it are nearly as good, and the work is a small part.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
middles = rng.uniform(0, 10, size=(8, 2))
X = middles[rng.integers(8, size=100_000)] + 0.4 * rng.normal(size=(100_000, 2))

points, weights = unweave.coreset(X, 1000, random_state=0)
few = unweave.KMeans(8, random_state=0).fit(points, sample_weight=weights)
all_rows = unweave.KMeans(8, random_state=0).fit(X)
print(f"sum of squares: {-few.score(X):,.0f} from {len(points)} rows, {all_rows.inertia_:,.0f} from {len(X):,}")

figure, axis = plt.subplots(figsize=(5.5, 5), layout="constrained")
axis.scatter(*X[::20].T, s=2, color="lightgray")
axis.scatter(*points.T, s=weights / 6, alpha=0.4, label="coreset, by weight")
axis.scatter(*few.cluster_centers_.T, color="tab:red", marker="x", s=80, label="centres from the coreset")
axis.scatter(*all_rows.cluster_centers_.T, facecolors="none", edgecolors="black", s=120, label="centres from all rows")
axis.legend(loc="center left", fontsize=8)
