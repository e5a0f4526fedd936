"""
A map of rows that have holes
=============================

Rows with holes need not be thrown away, nor filled first. With ``missing="nan"`` PCA uses the entries that were seen.
A fifth of the entries is hidden here; more than half of the flowers have a hole.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import unweave

X, species = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
complete = ~np.isnan(holes).any(axis=1)
print(f"{complete.sum()} of {len(X)} flowers are complete")

maps = {
    "complete flowers only": (unweave.PCA(2).fit_transform(X[complete]), species[complete]),
    "all flowers, with their holes": (unweave.PCA(2, missing="nan", max_iter=1000).fit_transform(holes), species),
    "the truth": (unweave.PCA(2).fit_transform(X), species),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharex=True, sharey=True)
for axis, (title, (places, kinds)) in zip(axes, maps.items()):
    axis.scatter(*places.T, c=kinds, cmap="viridis", s=14)
    axis.set_title(f"{title} ({len(places)})", fontsize=10)
