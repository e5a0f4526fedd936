"""
How many axes are worth keeping?
================================

Every further axis describes the table a little better, and after some point it describes noise.
``n_components="auto"`` hides blocks of the table, predicts them with 1, 2, 3, … axes, and keeps the fewest that
predict nearly as well as any.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
signal = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 30))  # four axes are really there
X = signal + rng.normal(size=(200, 30))

pca = unweave.PCA("auto").fit(X)
choice = pca.choice_
print(choice.reason)

# %%
# The error of hidden blocks falls until the fourth axis and rises afterwards.

tried = sorted(choice.scores)
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.plot(tried, [choice.scores[k] for k in tried], "o-")
axis.axvline(choice.best, color="tab:red", linestyle="--", label=f"chosen: {choice.best}")
axis.set(xlabel="number of axes", ylabel="error of hidden blocks", xticks=tried[::3])
axis.legend()
