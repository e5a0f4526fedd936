"""
Topics of texts
===============

LDA reads many texts and finds their topics: words that keep each other's company. Here the texts are the help pages
of SciPy's functions, and nobody says which module a page belongs to.
"""

import importlib

import matplotlib.pyplot as plt

import unweave

names = ("stats", "signal", "linalg", "optimize", "ndimage")
modules = {name: importlib.import_module(f"scipy.{name}") for name in names}
pages = [
    (name, text) for name, module in modules.items() for f in module.__all__ if (text := getattr(module, f).__doc__)
]
texts = [text for _, text in pages]

words = unweave.TextTable(stop_words="english", min_df=8, max_df=0.25, min_length=3)
topics = unweave.LDA(5, vectorizer=words, random_state=0).fit(texts)
for row in topics.describe(8):
    print(f"{row.share:.0%}", " ".join(row.words))

# %%
# Which topics are the pages of each module about?

mixtures = topics.document_topics(texts)
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
left = [0.0] * len(names)
means = [mixtures[[page == name for page, _ in pages]].mean(axis=0) for name in names]
for topic, best in enumerate(topics.top_words(2)):
    widths = [mean[topic] for mean in means]
    axis.barh(names, widths, left=left, label=", ".join(best))
    left = [a + b for a, b in zip(left, widths)]
axis.set_xlabel("share of the words")
axis.legend(loc="upper left", bbox_to_anchor=(1, 1), title="topic", fontsize=8)
