"""
Which wines are alike?
======================

Nobody says how many kinds of wine there are, nor which wine is of which kind. ``KMeans("auto")`` tries several
numbers of groups, keeps the one in which the groups stand apart best, and gives every wine to one group.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import unweave

wine = load_wine()
table = unweave.NamedTable(wine.data, columns=list(wine.feature_names))
ready, recipe = unweave.prepare(table)
groups = unweave.KMeans("auto", random_state=0).fit(ready)
print(f"{len(wine.data)} wines in {groups.choice_.best} groups of", np.bincount(groups.labels_))

# %%
# What sets a group apart? The centres are in standard deviations from the average wine: red is more, blue is less.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
picture = axis.imshow(groups.cluster_centers_.T, cmap="RdBu_r", vmin=-1.5, vmax=1.5, aspect="auto")
axis.set_yticks(range(len(ready.columns)), ready.columns)
axis.set_xticks(range(groups.choice_.best), [f"group {g + 1}" for g in range(groups.choice_.best)])
figure.colorbar(picture, label="standard deviations from the mean")

# %%
# The growers were not used. The groups find them nearly all the same.

for grower in range(3):
    print(f"grower {grower + 1}:", np.bincount(groups.labels_[wine.target == grower], minlength=groups.choice_.best))
