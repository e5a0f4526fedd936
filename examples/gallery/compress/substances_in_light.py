"""
Find substances in the light they give back
===========================================

Eight samples are lit at many wavelengths, and the light that each gives back is measured at many wavelengths: a tensor
of samples × light out × light in. Every sample is a mixture of the same three substances, in amounts that nobody told
us. CP finds the amounts and both spectra of each substance at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
out, into = np.linspace(250, 450, 101), np.linspace(230, 310, 41)
amounts = rng.dirichlet([0.6, 0.6, 0.6], 8)
spectra_out = np.exp(-(((out[:, None] - [303, 348, 282]) / [18, 26, 15]) ** 2))
spectra_in = np.exp(-(((into[:, None] - [274, 279, 257]) / [11, 16, 12]) ** 2))
X = np.einsum("ir,jr,kr->ijk", amounts, spectra_out, spectra_in)
X += 0.02 * rng.normal(size=X.shape)
X[rng.random(X.shape) < 0.2] = np.nan  # a fifth was not measured

model = unweave.CP("auto", factors="nonnegative", missing="nan", random_state=0).fit(X)
match = unweave.factor_match(model, [amounts, spectra_out, spectra_in])
print(model.n_components_, "substances; agreement with the true ones:", round(match.score, 4))

# %%
# One measured sample, holes in white, and what the components say of it; then each substance.

figure, axes = plt.subplots(2, 3, figsize=(9, 5.2), layout="constrained")
for axis, picture, title in zip(axes[0], (X[0], model.reconstruct()[0]), ("measured", "by components")):
    axis.imshow(picture.T, extent=(250, 450, 310, 230), aspect="auto", cmap="viridis", vmin=0, vmax=np.nanmax(X[0]))
    axis.set(title=f"sample 1, {title}", xlabel="light out, nm", ylabel="light in, nm")
found, order = model.codes_, match.order
axes[0, 2].plot([0, 1], [0, 1], color="0.7", zorder=0)
for r, component in enumerate(order):
    scale = amounts[:, r].max() / found[:, component].max()
    axes[0, 2].plot(amounts[:, r], scale * found[:, component], "o")
axes[0, 2].set(title="amounts", xlabel="true", ylabel="found")
for axis, places, F, what in ((axes[1, 0], out, 1, "light out"), (axes[1, 1], into, 2, "light in")):
    axis.plot(places, model.factors_[F][:, order])
    axis.set(xlabel=f"{what}, nm", title=f"spectra of {what}")
axes[1, 2].bar(np.arange(1, 9), found[:, order[0]], label="1")
for r in (1, 2):
    axes[1, 2].bar(np.arange(1, 9), found[:, order[r]], bottom=found[:, order[:r]].sum(axis=1), label=str(r + 1))
axes[1, 2].set(title="what is in each sample", xlabel="sample", ylim=(0, 1.25 * found.sum(axis=1).max()))
axes[1, 2].legend(title="substance", fontsize=8, ncols=3, loc="upper center")
