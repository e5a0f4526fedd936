"""
Search texts by meaning
=======================

A search for words finds only texts that hold these words. LSA learns which words keep the same company, so it also
finds texts that say the same in other words.
"""

import importlib

import matplotlib.pyplot as plt

import unweave

modules = [
    importlib.import_module(f"scipy.{name}") for name in ("stats", "signal", "linalg", "optimize", "interpolate")
]
pages = {f: getattr(m, f).__doc__ for m in modules for f in m.__all__ if getattr(m, f).__doc__}
titles, texts = list(pages), list(pages.values())

table = unweave.TextTable(stop_words="english", weights="tf-idf", min_df=5)
search = unweave.LSA(60, vectorizer=table, random_state=0).fit(texts)

question = "a smooth curve through points"
found, scores = search.search(question, 8)

figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
axis.barh([titles[i] for i in found][::-1], scores[::-1])
axis.set(xlabel="how near in meaning (cosine)", title=f"“{question}”")

# %%
# Words have a place too. Which words are near "hypothesis"?

for word, score in zip(*search.nearest_terms("hypothesis", 6)):
    print(f"{score:.2f} {word}")
