"""
Learn from rows that arrive one block at a time
===============================================

A table may be too large for the memory, or not finished yet. ``partial_fit`` takes one block of rows after the other
and keeps only sums. After the last block the answer is that of the whole table.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import unweave

X, _ = load_digits(return_X_y=True)
whole = unweave.PCA(10).fit(X)

stream = unweave.PCA(10)
kept = []
for block in np.array_split(X, 12):
    stream.partial_fit(block)
    kept.append(stream.score(X) / whole.score(X))
print("largest difference of the variances:", np.abs(stream.explained_variance_ - whole.explained_variance_).max())

# %%
# How much larger is the error on all rows than that of a fit to all rows?

figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.plot(np.arange(1, 13), 100 * (np.array(kept) - 1), "o-")
axis.set(xlabel="blocks seen", ylabel="error above the best, %", ylim=(0, None))
