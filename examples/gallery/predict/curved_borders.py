"""
Borders that bend, and how sure they are
========================================

Logistic regression on a kernel gives shares of classes, not only sides. With the linear kernel the border is a line;
a polynomial one may bend, and a Gaussian one goes where the rows lie, and is not sure of anything far from them. Sums
and products of kernels are kernels: the last picture has a line and bumps, so that the far corners know a side.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from unweave.predict import Gaussian, KernelLogistic, Linear, Polynomial

X, y = make_moons(150, noise=0.2, random_state=0)
kernels = {
    "linear": Linear(),
    "degree 3": Polynomial(3),
    "Gaussian": Gaussian(0.5),
    "linear + Gaussian": Linear() + Gaussian(0.5),
}
across, up = np.meshgrid(np.linspace(-2.5, 3.5, 120), np.linspace(-2, 2.5, 90))
grid = np.column_stack([across.ravel(), up.ravel()])

figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained", sharex=True, sharey=True)
for axis, (name, kernel) in zip(axes.flat, kernels.items()):
    model = KernelLogistic(kernel, ridge=0.3).fit(X, y)
    shares = model.predict_proba(grid)[:, 1].reshape(across.shape)
    filled = axis.contourf(across, up, shares, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.8)
    axis.contour(across, up, shares, levels=[0.5], colors="black", linewidths=1)
    axis.scatter(*X.T, c=y, cmap="RdBu", edgecolors="black", linewidths=0.4, s=16)
    axis.set_title(f"{name}: {100 * model.score(X, y):.0f} % right", fontsize=10)
    print(f"{name}: surer than nine in ten at {100 * np.mean(np.abs(shares - 0.5) > 0.4):.0f} % of the map")
figure.colorbar(filled, ax=axes, label="share of the second class")

# %%
# Every fit ends with a certificate: no other function of that kernel can have a better objective.

print(model.certificate_)
