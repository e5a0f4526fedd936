"""
Eight colours for a photograph
==============================

The pixels of a photograph are rows of a table with three columns: red, green and blue. Groups of pixels are colours,
and a group's centre is the colour to paint them with.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

import unweave

photo = load_sample_image("flower.jpg")[::3, ::3]
figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
axes[0].imshow(photo)
axes[0].set_title("original", fontsize=10)
for axis, colours in zip(axes[1:], (4, 16)):
    few = unweave.quantize(photo, colours, random_state=0)
    axis.imshow(few.image)
    axis.set_title(f"{colours} colours: {few.bytes_after / few.bytes_before:.0%} of the bytes", fontsize=10)
for axis in axes:
    axis.set_axis_off()
