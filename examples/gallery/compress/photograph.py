"""
Store a photograph as a product of two thin tables
==================================================

A grey photograph is a table of brightness. ``TruncatedSVD`` writes it as codes times components: 40 numbers for every
line of the picture and 40 for every column, instead of one for every pixel.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import unweave

photo = load_sample_image("china.jpg").mean(axis=2) / 255  # 427 lines of 640 pixels

figure, axes = plt.subplots(2, 2, figsize=(7, 5), layout="constrained")
axes[0, 0].imshow(photo, cmap="gray")
axes[0, 0].set_title(f"original: {photo.size:,} numbers", fontsize=10)
for axis, k in zip(axes.flat[1:], (5, 15, 40)):
    model = unweave.TruncatedSVD(k).fit(photo)
    again = model.inverse_transform(model.codes_)
    stored = model.codes_.size + model.components_.size
    error = np.sqrt(np.mean((again - photo) ** 2))
    axis.imshow(again, cmap="gray", vmin=0, vmax=1)
    axis.set_title(f"k = {k}: {stored:,} numbers, error {error:.3f}", fontsize=10)
for axis in axes.flat:
    axis.set_axis_off()
