"""
Recommend films from stars
==========================

600 people gave stars to some of 80 films. ``MatrixCompletion`` learns what everybody likes from the stars that are
known, and predicts the others. The verdict compares it with guesses that need no model.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import unweave
from unweave import judge

rng = np.random.default_rng(0)
taste, films = rng.normal(size=(600, 3)), rng.normal(size=(3, 80))
stars = np.clip(np.rint(3.2 + 0.6 * taste @ films + 0.5 * rng.normal(size=(600, 80))), 1, 5)
known = rng.random(stars.shape) < 0.25
ratings = sp.csr_array((stars[known], np.nonzero(known)), shape=stars.shape)

train, test = unweave.split_ratings(ratings, random_state=0)
model = unweave.MatrixCompletion(3, random_state=0).fit(train)
print(judge.judge(model, train, test))

# %%
# Two answers: a list for one person, and why the first film is on it.

best, scores = model.recommend(0, 5)
print("films:", best.tolist(), "expected stars:", scores.round(1).tolist())
print(model.explain(0, best[0], n=3))

# %%
# Predictions for ratings that the model has not seen.

seen = test.tocoo()
predicted = model.predict(seen.row, seen.col, rows=True, clip=True)
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.boxplot([predicted[seen.data == star] for star in range(1, 6)], tick_labels=[str(star) for star in range(1, 6)])
axis.set(xlabel="stars given", ylabel="stars predicted")
