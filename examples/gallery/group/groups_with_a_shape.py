"""
Groups that are long, not round
===============================

k-means cuts space halfway between centres, so its groups are round. A mixture of Gaussians learns how long, how wide
and how large every group is, and says how sure it is of each row.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

import unweave

rng = np.random.default_rng(0)
long = rng.normal(size=(300, 2)) @ [[3.0, 2.0], [0.0, 0.5]]
compact = rng.normal(size=(100, 2)) * 0.5 + [3.5, -2.5]
X = np.concatenate([long, compact])

means = unweave.KMeans(2).fit(X)
mixture = unweave.GaussianMixture(2).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
axes[0].scatter(*X.T, c=means.labels_, cmap="coolwarm", s=12)
axes[0].set_title("k-means cuts the long group")
axes[1].scatter(*X.T, c=mixture.predict_proba(X)[:, 1], cmap="coolwarm", s=12)
axes[1].set_title("a mixture follows it")
for mean, covariance in zip(mixture.means_, mixture.covariances_):
    lengths, directions = np.linalg.eigh(covariance)
    turn = np.degrees(np.arctan2(*directions[::-1, 1]))
    width, height = 4 * np.sqrt(lengths[::-1])  # two standard deviations to each side
    axes[1].add_patch(Ellipse(mean, width, height, angle=turn, fill=False, linewidth=2))

# %%
# How many groups? BIC weighs how well they fit against how many numbers they need. Less is better.

for k in range(1, 5):
    print(k, "groups: BIC", round(unweave.GaussianMixture(k).fit(X).bic(X)))
