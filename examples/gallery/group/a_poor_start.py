"""
One start of k-means is enough
==============================

k-means begins with guessed centres. From a poor guess plain k-means never recovers: two centres share one group and
another group has none. Elsewhere one asks for many starts; here centres are moved afterwards from where there are too
many to where one is missing.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
middles = np.array([[x, y] for x in range(4) for y in range(4)], dtype=float)
X = np.repeat(middles, 40, axis=0) + 0.12 * rng.normal(size=(640, 2))

poor = middles.copy()
poor[:3] = middles[15] + 0.1 * rng.normal(size=(3, 2))  # four centres in one corner, none in another
models = {
    "left alone": unweave.KMeans(16, init=poor).fit(X),
    "repaired": unweave.KMeans(16, init=poor, repair=True).fit(X),
}

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for axis, (name, model) in zip(axes, models.items()):
    axis.scatter(*X.T, c=model.labels_, cmap="tab20", s=6)
    axis.scatter(*model.cluster_centers_.T, color="black", marker="x", s=60)
    axis.set_title(f"{name}: sum of squares {model.inertia_:.0f}")

# %%
# ``KMeans(n_init=10)`` is therefore an error, and says why.

try:
    unweave.KMeans(16, n_init=10)
except TypeError as error:
    print(error)
