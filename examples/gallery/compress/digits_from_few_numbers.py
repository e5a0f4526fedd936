"""
Draw a digit with 2, 5, 10 and 30 numbers
=========================================

A picture of a handwritten digit has 64 pixels. PCA describes each picture by a few numbers instead;
``inverse_transform`` turns them back into pixels. The more numbers, the more like the original.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import unweave

X, y = load_digits(return_X_y=True)
chosen = [0, 12, 25, 33, 59]
counts = (2, 5, 10, 30)

figure, axes = plt.subplots(len(chosen), len(counts) + 1, figsize=(6, 6.2), layout="constrained")
columns = [(f"{k} numbers", unweave.PCA(k).fit(X)) for k in counts]
for row, digit in zip(axes, chosen):
    pictures = [model.inverse_transform(model.transform(X[[digit]])) for _, model in columns]
    for axis, picture in zip(row, [*pictures, X[[digit]]]):
        axis.imshow(picture.reshape(8, 8), cmap="gray_r")
        axis.set_axis_off()
for axis, title in zip(axes[0], [*(name for name, _ in columns), "original"]):
    axis.set_title(title, fontsize=10)

# %%
# The certificate says whether a better answer with as many numbers exists. For PCA there is none.

print(columns[2][1].certificate_)
