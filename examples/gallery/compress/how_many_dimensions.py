"""
How many dimensions do the rows have?
=====================================

A rolled-up sheet lies in three dimensions and has two. Neighbours see that; the spectrum of the axes does not. And the
more dimensions there are, the less distances differ.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
t, height = 1.5 * np.pi * (1 + 2 * rng.random(1500)), 21 * rng.random(1500)
rolled = np.c_[t * np.cos(t), height, t * np.sin(t)]
for method in ("likelihood", "correlation", "knee"):
    print(unweave.intrinsic_dimension(rolled, method))

# %%
# Every row has an estimate of its own, from its twenty nearest.

local = unweave.intrinsic_dimension(rolled).local
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.hist(local, bins=40, range=(0, 5), color="tab:blue")
axis.axvline(2, color="black", linewidth=1)
axis.set(xlabel="dimension at a row", ylabel="rows", title="A rolled-up sheet")

# %%
# Squared distances between Gaussian rows, in units of a row's variance: mean 2, variance 8/D.

figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
for D in (2, 10, 100, 1000):
    X = rng.normal(size=(400, D))
    squares = np.square(X[:200, None] - X[None, 200:]).sum(axis=2).ravel() / X.var(axis=0).sum()
    found = unweave.distance_concentration(X)
    axis.hist(squares, bins=80, range=(0, 6), density=True, histtype="step", label=f"D = {D}")
    print(f"D = {D}: variance {found.variance:.4f}, 8/D = {8 / D:.4f}")
axis.set(xlabel="squared distance of two rows", ylabel="density", yscale="log", ylim=(1e-2, 20))
axis.legend(frameon=False)
