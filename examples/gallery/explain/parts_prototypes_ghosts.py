"""
Three ways to explain the same pictures
=======================================

NMF, k-means and PCA all write the table of pictures as codes times components. What differs is which codes and
components are allowed, and that decides what the components look like.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import unweave

X, y = load_digits(return_X_y=True)
models = {
    "NMF: parts that are added": unweave.NMF(8, random_state=0).fit(X),
    "k-means: one whole digit for each picture": unweave.KMeans(8, random_state=0).fit(X),
    "PCA: added and taken away": unweave.PCA(8).fit(X),
}

figure = plt.figure(figsize=(7, 4.2), layout="constrained")
for strip, (name, model) in zip(figure.subfigures(3, 1), models.items()):
    strip.suptitle(name, fontsize=10)
    has_signs = model.components_.min() < -1e-9
    for axis, component in zip(strip.subplots(1, 8), model.components_):
        most = np.abs(component).max()
        axis.imshow(component.reshape(8, 8), cmap="RdBu" if has_signs else "Blues", vmin=-most * has_signs, vmax=most)
        axis.set_axis_off()

# %%
# PCA has the least error, because it may do more; the others are easier to read.

nmf, means, pca = models.values()
rebuilt = {
    "NMF": nmf.inverse_transform(nmf.transform(X)),
    "k-means": means.cluster_centers_[means.labels_],
    "PCA": pca.inverse_transform(pca.transform(X)),
}
for name, pictures in rebuilt.items():
    print(f"{name}: error {np.sqrt(np.mean((pictures - X) ** 2)):.2f}")
