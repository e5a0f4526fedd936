"""
Parts of handwritten digits
===========================

NMF explains every picture as a sum of parts. Nothing is ever taken away, so the parts come out as strokes: the pieces
of which digits are drawn.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import unweave

X, y = load_digits(return_X_y=True)
nmf = unweave.NMF(12, random_state=0).fit(X)

figure, axes = plt.subplots(2, 6, figsize=(7, 2.6), layout="constrained")
for axis, part in zip(axes.flat, nmf.components_):
    axis.imshow(part.reshape(8, 8), cmap="Blues")
    axis.set_axis_off()
figure.suptitle("twelve parts")

# %%
# One picture, and the four parts of which it has most.

digit = 13
most = nmf.codes_[digit].argsort()[::-1][:4]
figure, axes = plt.subplots(1, 6, figsize=(8, 1.8), layout="constrained")
pictures = [X[digit], *(nmf.codes_[digit, c] * nmf.components_[c] for c in most)]
pictures.append(nmf.inverse_transform(nmf.codes_[[digit]])[0])
for axis, picture, title in zip(axes, pictures, ["picture", "part 1", "part 2", "part 3", "part 4", "all twelve"]):
    axis.imshow(picture.reshape(8, 8), cmap="Blues", vmin=0, vmax=16)
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()
