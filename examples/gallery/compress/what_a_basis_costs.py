"""
What does it cost to send a picture?
====================================

A picture can be sent as a few numbers for each of its tiles of 8 by 8 pixels, if both sides agree on a basis. Waves are
known to everybody and cost nothing to send. A basis that was learned from the picture fits it better, but has to be
sent too; and who keeps only the largest numbers of each tile has to say which they are. ``compare_bases`` counts all of
this.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import unweave

photo = load_sample_image("china.jpg").mean(axis=2)  # 427 lines of 640 pixels
tiles = unweave.patches(photo, 8, 8)
found = unweave.compare_bases(tiles, ["dct", "haar", "pca", "dictionary"], shape=(8, 8), peak=255, random_state=0)
for basis, psnr in found.at(2).items():  # at 2 bits for each pixel
    print(f"{basis:<20}{psnr:6.1f} dB")

# %%
# The dotted lines leave out what the basis itself costs. It is spread over all tiles: the larger the picture, the less
# it weighs.

figure = found.plot()

# %%
# The same on a ninth of the picture. What has to be sent of a basis weighs nine times as much here, and the dictionary
# pays at high rates alone.

part = unweave.patches(photo[140:280, 200:410], 8, 8)
small = unweave.compare_bases(part, ["dct", "pca", "dictionary"], shape=(8, 8), peak=255, random_state=0)
figure = small.plot()

# %%
# What is left of the picture when each tile keeps 4, 8 or 16 of its 64 numbers? ``OrthonormalBasis`` with
# ``per_row=True`` keeps the largest of every tile.

figure, axes = plt.subplots(2, 2, figsize=(7, 5), layout="constrained")
axes[0, 0].imshow(photo, cmap="gray")
axes[0, 0].set_title("64 numbers a tile: the picture", fontsize=10)
for axis, keep in zip(axes.flat[1:], (4, 8, 16)):
    basis = unweave.OrthonormalBasis("dct", keep=keep, shape=(8, 8), per_row=True).fit(tiles)
    again = unweave.from_patches(basis.inverse_transform(basis.transform(tiles)), photo.shape, 8, 8)
    axis.imshow(again, cmap="gray", vmin=0, vmax=255)
    axis.set_title(f"{keep} numbers a tile: {unweave.psnr(again, photo, 255):.1f} dB", fontsize=10)
for axis in axes.flat:
    axis.set_axis_off()

# %%
# The waves themselves, the sixteen that have the most energy in this picture, are known beforehand.

waves = unweave.OrthonormalBasis("dct", keep=16, shape=(8, 8)).fit(tiles).components_
sheet = np.pad(waves.reshape(2, 8, 8, 8), ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.nan)
figure, axis = plt.subplots(figsize=(7, 2), layout="constrained")
axis.imshow(sheet.swapaxes(1, 2).reshape(18, 72), cmap="gray")
axis.set_axis_off()
