"""
Words that keep the same company
================================

Every word of SciPy's docstrings gets a vector, by how much more often it meets others than by chance. Words that are
used alike lie in the same direction, whatever they mean: here are the neighbours of a few, in the plane that shows most
of their spread.
"""

import importlib

import matplotlib.pyplot as plt
import numpy as np

import unweave
from unweave.embed.layout import principal_plane

modules = [importlib.import_module(f"scipy.{name}") for name in ("stats", "signal", "linalg", "optimize", "interpolate")]
texts = [text for module in modules for name in module.__all__ if (text := getattr(module, name).__doc__)]

vectors = unweave.PMIEmbedding(50, min_count=10).fit(texts).vectors_
for a, b, c in (("row", "rows", "column"), ("pdf", "cdf", "logpdf"), ("left", "right", "lower")):
    print(f"{b} is to {a} as {vectors.analogy(a, b, c, 1)[0][0]} is to {c}")
print("does not match:", vectors.doesnt_match(["matrix", "vector", "array", "poisson"]))

figure, axis = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
groups = [[word, *(near for near, _ in vectors.most_similar(word, 6))] for word in ("matrix", "spline", "filter", "poisson")]
spots = principal_plane(np.vstack([vectors[group] / np.linalg.norm(vectors[group], axis=1)[:, None] for group in groups]))
for group, xy in zip(groups, np.split(spots, len(groups)), strict=True):
    drawn = axis.scatter(*xy.T, s=18, label=f"near “{group[0]}”")
    for word, (x, y) in zip(group, xy, strict=True):
        weight = "bold" if word == group[0] else None
        axis.annotate(word, (x, y), (4, 2), textcoords="offset points", fontsize=8, weight=weight)
axis.margins(x=0.15)
axis.set(xticks=[], yticks=[])
axis.legend(fontsize=8)
