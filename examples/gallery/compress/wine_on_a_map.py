"""
Draw a table as a map
=====================

A wine is described by 13 measurements, which nobody can draw. PCA finds the two directions along which wines differ
most: two numbers for each wine, which can be drawn. Wines that are alike lie near each other.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import unweave

wine = load_wine()
table = unweave.NamedTable(wine.data, columns=list(wine.feature_names))
ready, recipe = unweave.prepare(table)  # milligrams and percents are brought to one scale
pca = unweave.PCA(2).fit(ready)
places = pca.transform(ready)
print(f"Two numbers keep {pca.explained_variance_ratio_.sum():.0%} of the differences between wines.")

# %%
# The colours are the three growers. PCA was not told about them.

figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
for grower in range(3):
    mine = wine.target == grower
    axis.scatter(*places[mine].T, label=f"grower {grower + 1}", alpha=0.8)
axis.set(xlabel="first axis", ylabel="second axis", title="178 wines")
axis.legend()

# %%
# What is an axis made of? Its row of ``components_`` says how much each measurement counts.

figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
axis.barh(ready.columns, pca.components_[0])
axis.axvline(0, color="black", linewidth=0.8)
axis.set_title("what the first axis is made of")
