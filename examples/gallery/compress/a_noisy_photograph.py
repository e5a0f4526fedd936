"""
Take the noise out of a photograph
==================================

Every square of 8×8 pixels is a sum of few atoms; noise is a sum of none. A dictionary that is learned from the noisy
picture itself is set against the cosines that JPEG uses. Squares overlap, and every pixel is the mean of its squares.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import dctn, idctn
from sklearn.datasets import load_sample_image

import unweave

warnings.simplefilter("ignore")  # five passes are enough for a picture; the fit would say that it was cut short
photo = load_sample_image("flower.jpg").mean(axis=2)[150:310, 250:450] / 255
sigma = 0.1
noisy = photo + sigma * np.random.default_rng(0).normal(size=photo.shape)

rows = unweave.patches(noisy, 8)
means = rows.mean(axis=1, keepdims=True)

# atoms from every third square; then each square takes as many of them as the noise asks for
model = unweave.DictionaryLearning(128, strength=2 * sigma, random_state=0, max_iter=5, tol=0)
model.fit((rows - means)[::3])
coder = unweave.SparseCoder(model.components_, n_nonzero=32, noise=1.1 * sigma)
codes = coder.fit_transform(rows - means)
learned = unweave.from_patches(coder.inverse_transform(codes) + means, photo.shape, 8)

# cosines: what is below two and a half times the noise is left out (2 and 3 do worse here)
waves = dctn(rows.reshape(-1, 8, 8), axes=(1, 2), norm="ortho")
kept = np.abs(waves) >= 2.5 * sigma
kept[:, 0, 0] = True
cosines = unweave.from_patches(idctn(waves * kept, axes=(1, 2), norm="ortho").reshape(rows.shape), photo.shape, 8)

pictures = {"noisy": noisy, "cosines": cosines, "learned atoms": learned}
for title, picture in pictures.items():
    print(f"{title}: {unweave.psnr(picture, photo, peak=1):.2f} dB")

figure, axes = plt.subplots(1, 4, figsize=(12, 2.6), layout="constrained")
for axis, (title, picture) in zip(axes, {**pictures, "original": photo}.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()
