"""
Fill in pixels that were lost
=============================

Six of ten pixels are gone. A dictionary is learned from what is left of the overlapping squares of 8×8 pixels, and each
square is a sum of few of its atoms: those predict the lost pixels. The cosines that JPEG uses are asked the same.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import dct
from sklearn.datasets import load_sample_image

import unweave

warnings.simplefilter("ignore")  # a few passes are enough for a picture; the fit would say that it was cut short
photo = load_sample_image("flower.jpg").mean(axis=2)[150:246, 250:378] / 255
rng = np.random.default_rng(0)
lost = rng.random(photo.shape) < 0.6
holes = np.where(lost, np.nan, photo)

rows = unweave.patches(holes, 8, step=2)
means = np.nanmean(rows, axis=1, keepdims=True)


def filled(codes, atoms):
    squares = codes @ atoms + means
    return np.where(lost, unweave.from_patches(squares, photo.shape, 8, step=2), photo)


waves = dct(np.eye(8), axis=0, norm="ortho")
cosines = np.kron(waves, waves)
of_cosines = unweave.SparseCoder(cosines, strength=0.02, missing="nan").fit_transform(rows - means)

model = unweave.DictionaryLearning(64, strength=0.02, missing="nan", init=cosines, random_state=0, max_iter=8)
model.fit(rows - means)

pictures = {"cosines": filled(of_cosines, cosines), "learned atoms": filled(model.codes_, model.components_)}
for title, picture in pictures.items():
    print(f"{title}: {unweave.psnr(picture, photo, peak=1):.2f} dB")

figure, axes = plt.subplots(1, 4, figsize=(12, 2.6), layout="constrained")
for axis, (title, picture) in zip(axes, {"what is left": holes, **pictures, "original": photo}.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()
