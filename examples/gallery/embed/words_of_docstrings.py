"""
Words that keep the same company
================================

Every word of SciPy's docstrings gets a vector, by how much more often it meets others than by chance. Words that are
used alike lie in the same direction, whatever they mean. The map places the most frequent words so that neighbours stay
neighbours; six of them, and the words nearest to them, are in colour.
"""

import importlib

import matplotlib.pyplot as plt

import unweave
from unweave.embed.layout import neighbour_map

modules = [
    importlib.import_module(f"scipy.{name}") for name in ("stats", "signal", "linalg", "optimize", "interpolate")
]
texts = [text for module in modules for name in module.__all__ if (text := getattr(module, name).__doc__)]

vectors = unweave.PMIEmbedding(50, min_count=10).fit(texts).vectors_
for a, b, c in (("row", "rows", "column"), ("pdf", "cdf", "logpdf"), ("left", "right", "lower")):
    print(f"{b} is to {a} as {vectors.analogy(a, b, c, 1)[0][0]} is to {c}")
print("does not match:", vectors.doesnt_match(["matrix", "vector", "array", "poisson"]))

first = vectors.symbols[:800]  # the most frequent
spots = neighbour_map(vectors[first])
place = {word: i for i, word in enumerate(first)}

figure, axis = plt.subplots(figsize=(8, 7.5), layout="constrained")
axis.scatter(*spots.T, s=5, color="lightgray")
for word in ("matrix", "spline", "filter", "distribution", "frequency", "minimum"):
    near = [other for other, _ in vectors.most_similar(word, 30) if other in place][:8]
    x, y = spots[[place[one] for one in (word, *near)]].T
    axis.scatter(x, y, s=18, label=f"{word}: {', '.join(near[:5])}")
    axis.annotate(word, (x[0], y[0]), (5, 4), textcoords="offset points", weight="bold")
axis.set(xticks=[], yticks=[])
axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0), fontsize=8, title="words and those nearest to them")
