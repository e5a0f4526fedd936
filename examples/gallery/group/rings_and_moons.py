"""
Groups that are not balls
=========================

Rings and crescents are groups to the eye, but no centre describes them. Models that follow neighbours find them.
``best_model`` fits several models and keeps the one whose groups are most surely there.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_moons

import unweave
from unweave.select import best_model

rng = np.random.default_rng(0)
tables = {
    "rings": make_circles(300, factor=0.4, noise=0.05, random_state=0)[0],
    "moons": make_moons(300, noise=0.07, random_state=0)[0],
    "balls": np.concatenate([rng.normal(c, 0.4, size=(150, 2)) for c in ((0, 0), (2, 1))]),
}
models = {
    "k-means": unweave.KMeans(),
    "mixture": unweave.GaussianMixture(),
    "single": unweave.Agglomerative(linkage="single"),
    "spectral": unweave.SpectralClustering(),
}

figure, axes = plt.subplots(len(tables), len(models), figsize=(9, 6.5), layout="constrained")
for row, (table, X) in zip(axes, tables.items()):
    found = best_model(models, X, n_components=2)
    print(f"{table}: {found.best} is kept, by {found.by}")
    for axis, name in zip(row, models):
        labels = best_model({name: models[name]}, X, n_components=2).best_estimator.labels_
        axis.scatter(*X.T, c=labels, cmap="coolwarm", s=8)
        axis.set_title(name + (" ✓" if name == found.best else ""), fontsize=10)
        axis.set(xticks=[], yticks=[])
