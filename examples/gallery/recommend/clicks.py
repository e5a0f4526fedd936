"""
Recommend from clicks
=====================

Nobody gave stars; there is only who looked at what. ``ImplicitALS`` and ``EASE`` take such tables. Lists are judged
by items that were hidden from the fit, beside the list that shows everybody what is popular.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import unweave
from unweave import judge

rng = np.random.default_rng(0)
taste, items = rng.gamma(0.3, size=(500, 6)), rng.gamma(0.3, size=(6, 120))
clicks = sp.csr_array(rng.poisson(1.5 * taste @ items).clip(0, 1).astype(float))
clicks = clicks[np.diff(clicks.indptr) >= 5]

train, test = unweave.split_ratings(clicks, random_state=0)
models = {
    "popular items": judge.Popularity().fit(train),
    "ImplicitALS": unweave.ImplicitALS(12, random_state=0).fit(train),
    "EASE": unweave.EASE().fit(train),
}
scores = {name: judge.ndcg_at(model, test, 10, given=train) for name, model in models.items()}

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
bars = axis.barh(list(scores), list(scores.values()))
axis.bar_label(bars, fmt="%.2f", padding=3)
axis.set(xlabel="how well hidden clicks are found (NDCG@10)")

# %%
# Somebody new, known by three clicks. Nothing is fitted again.

somebody = models["ImplicitALS"].fold_in({3: 1, 8: 1, 20: 1})
print("for somebody new:", models["ImplicitALS"].recommend(somebody, 5)[0].tolist())
