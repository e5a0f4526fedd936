"""
Repair a scratched picture
==========================

Half of the pixels are lost. Walls and roofs repeat, so the picture is nearly a table of low rank, and ``SoftImpute``
finds the simplest such table that agrees with what is left. It is a convex problem: there is one answer, whatever the
start.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import unweave

photo = load_sample_image("china.jpg").mean(axis=2)[100:400:2, 100:500:2] / 255
rng = np.random.default_rng(0)
lost = rng.random(photo.shape) < 0.5
mean = photo[~lost].mean()
X = np.where(lost, np.nan, photo - mean)

model = unweave.SoftImpute(random_state=0).fit(X)
repaired = np.where(lost, model.inverse_transform(model.codes_) + mean, photo)
print(f"rank {model.rank_}, error of lost pixels {np.sqrt(np.mean((repaired - photo)[lost] ** 2)):.3f}")

figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
pictures = {"half is lost": np.where(lost, 1, photo), "repaired": repaired, "original": photo}
for axis, (title, picture) in zip(axes, pictures.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()
