"""
Fill the holes of a table, and say how sure
===========================================

A tenth of the entries is missing. ``TableImputer`` learns from the other columns what they may have been, and gives
every fill a standard deviation. Here the truth is known, so one can look.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import unweave

wine = load_wine()
rng = np.random.default_rng(0)
hidden = rng.random(wine.data.shape) < 0.1
X = np.where(hidden, np.nan, wine.data)

imputer = unweave.TableImputer(random_state=0).fit(X)
filled = imputer.transform(X)
doubt = imputer.uncertainty(X)

spread = wine.data.std(axis=0)
error = np.sqrt(np.mean(((filled - wine.data) / spread)[hidden] ** 2))
by_mean = np.sqrt(np.mean(((np.nanmean(X, axis=0) - wine.data) / spread)[hidden] ** 2))
print(f"error in standard deviations: {error:.2f}, by column means {by_mean:.2f}")
inside = np.abs(filled - wine.data)[hidden] < 2 * doubt[hidden]
print(f"{inside.mean():.0%} of the fills are within two standard deviations of the truth")

column = wine.feature_names.index("flavanoids")
rows = hidden[:, column]
figure, axis = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
axis.errorbar(wine.data[rows, column], filled[rows, column], 2 * doubt[rows, column], fmt="o", alpha=0.8)
axis.axline((2, 2), slope=1, color="black", linewidth=0.8)
axis.set(xlabel="true flavanoids", ylabel="filled in, ± two standard deviations")
