"""
A few wrong numbers
===================

The squared loss listens most to the largest error, so a few wrong entries bend the whole answer. The Huber loss
counts large errors by their size and not by its square. Only one word of the problem changes.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
clean = np.outer(np.linspace(1, 3, 60), np.sin(np.linspace(0, 2 * np.pi, 40)))
X = clean + 0.05 * rng.normal(size=clean.shape)
wrong = rng.random(X.shape) < 0.04
X[wrong] += 15

models = {
    "squared loss": unweave.Factorization(1).fit(X),
    "Huber loss": unweave.Factorization(1, loss=unweave.losses.Huber(delta=0.2)).fit(X),
}
figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
pictures = {"truth": clean, "what was measured": X}
pictures |= {name: model.inverse_transform(model.codes_) for name, model in models.items()}
for axis, (name, picture) in zip(axes, pictures.items()):
    axis.imshow(picture, cmap="RdBu_r", vmin=-4, vmax=4, aspect="auto")
    axis.set_title(f"{name}\nerror {np.abs(picture - clean).mean():.2f}", fontsize=10)
    axis.set(xticks=[], yticks=[])
