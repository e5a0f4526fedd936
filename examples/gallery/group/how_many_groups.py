"""
How many groups are there?
==========================

Several rules answer this question. The silhouette asks whether rows are nearer to their own group than to the next;
stability asks whether half of the rows would lead to the same groups; the elbow asks where more groups stop helping.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave
from unweave.select import choose

rng = np.random.default_rng(1)
middles = [(0, 0), (5, 0), (0, 5), (5, 6), (9, 4)]
X = np.concatenate([rng.normal(middle, 0.8, size=(50, 2)) for middle in middles])

choices = {by: choose(unweave.KMeans(), X, range(2, 10), by=by) for by in ("silhouette", "stability", "elbow")}
figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
for axis, (by, choice) in zip(axes, choices.items()):
    tried = sorted(choice.scores)
    axis.plot(tried, [choice.scores[k] for k in tried], "o-")
    axis.axvline(choice.best, color="tab:red", linestyle="--")
    axis.set(title=f"{by}: {choice.best}", xlabel="number of groups")
labels = choices["silhouette"].best_estimator.labels_
axes[3].scatter(*X.T, c=labels, cmap="tab10", s=12)
axes[3].set_title("the groups")
