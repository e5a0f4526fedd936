"""
A tree that can be read, and how far to let it grow
===================================================

A decision tree asks one column after the other. Grown to its end it is right on every row that it has seen, and much of
that is noise; a small tree says more about new rows, and can be read. Here passengers of a made-up ship are in words,
so each question has as many branches as there are answers.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars

from unweave.predict import DecisionTree

rng = np.random.default_rng(0)
people = polars.DataFrame({
    "class": rng.choice(["first", "second", "third", "crew"], 900, p=[0.2, 0.2, 0.3, 0.3]),
    "sex": rng.choice(["woman", "man"], 900),
    "age": rng.choice(["child", "adult", "old"], 900, p=[0.15, 0.7, 0.15]),
    "port": rng.choice(["north", "south", "west"], 900),
    "cabin": rng.choice([f"deck {letter}" for letter in "ABCDEFG"], 900),
})  # fmt: skip
column = {name: people[name].to_numpy() for name in people.columns}
chance = 0.15 + 0.6 * (column["sex"] == "woman") * (column["class"] != "third") + 0.4 * (column["age"] == "child")
saved = np.where(rng.random(900) < np.clip(chance, 0, 0.9), "saved", "lost")
known, new = slice(0, 600), slice(600, None)

tree = DecisionTree(pruning="cost-complexity", alpha=0.01).fit(people[known], saved[known])
print(tree)
tree.plot()

# %%
# What each column tells at the root, in bits.

for name, gain in tree.gains_.items():
    print(f"{name:<6} {gain:.3f}")

# %%
# The dearer a leaf, the smaller the tree. On the rows that it grew from the largest is best, on new rows a small one.

prices = [0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.05]
trees = [DecisionTree(pruning="cost-complexity", alpha=price).fit(people[known], saved[known]) for price in prices]
figure, axis = plt.subplots(figsize=(6, 3.8), layout="constrained")
leaves = [tree.n_leaves_ for tree in trees]
for name, rows in (("rows of the fit", known), ("new rows", new)):
    axis.semilogx(leaves, [100 * tree.score(people[rows], saved[rows]) for tree in trees], "o-", label=name)
axis.set(xlabel="leaves", ylabel="right, %")
axis.legend()
