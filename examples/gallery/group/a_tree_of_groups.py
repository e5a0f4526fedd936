"""
A tree of groups
================

Groups may hold smaller groups. ``Agglomerative`` joins the two rows, and later the two groups, that are nearest,
until one is left. The picture shows who was joined with whom, and how far apart they were: a long stretch without
joins is where to cut.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import unweave

X, species = load_iris(return_X_y=True)
tree = unweave.Agglomerative(3).fit(X)
figure = tree.dendrogram()

# %%
# One tree gives every number of groups at once.

two, three = tree.cut(n_clusters=2), tree.cut(n_clusters=3)
print("groups of 2:", np.bincount(two), " groups of 3:", np.bincount(three))
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharey=True)
for axis, labels, title in zip(axes, (two, three), ("cut in two", "cut in three")):
    axis.scatter(X[:, 2], X[:, 3], c=labels, cmap="viridis", s=16)
    axis.set(xlabel="petal length, cm", ylabel="petal width, cm", title=title)
