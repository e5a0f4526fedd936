"""
Take the noise out of a photograph
==================================

Every square of 8×8 pixels is a sum of few atoms; noise is a sum of none. A dictionary that is learned from the noisy
picture itself is set against the cosines that JPEG uses, both with the same rule: a penalty that grows with the noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import dctn, idctn
from sklearn.datasets import load_sample_image

import unweave

photo = load_sample_image("china.jpg").mean(axis=2)[100:260:1, 150:350:1] / 255
sigma = 0.1
noisy = photo + sigma * np.random.default_rng(0).normal(size=photo.shape)

rows = unweave.patches(noisy, 8)
means = rows.mean(axis=1, keepdims=True)

model = unweave.DictionaryLearning(128, strength=1.7 * sigma, random_state=0, max_iter=8, tol=0).fit(rows - means)
learned = unweave.from_patches(model.inverse_transform(model.codes_) + means, photo.shape, 8)

# cosines: what is below three times the noise is left out (a soft threshold, tried as well, does worse)
waves = dctn(rows.reshape(-1, 8, 8), axes=(1, 2), norm="ortho")
waves[np.abs(waves) < 3 * sigma] = 0
cosines = unweave.from_patches(idctn(waves, axes=(1, 2), norm="ortho").reshape(rows.shape), photo.shape, 8)

pictures = {"noisy": noisy, "cosines": cosines, "learned atoms": learned}
for title, picture in pictures.items():
    print(f"{title}: {unweave.psnr(picture, photo, peak=1):.2f} dB")

figure, axes = plt.subplots(1, 4, figsize=(12, 2.6), layout="constrained")
for axis, (title, picture) in zip(axes, {**pictures, "original": photo}.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()
