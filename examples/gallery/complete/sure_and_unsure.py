"""
How sure is a prediction?
=========================

A prediction for somebody who rated much is surer than for somebody who rated little.
``MatrixCompletion(solver="gibbs")`` draws many models that agree with the data; where they differ, the prediction is
unsure.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import unweave

rng = np.random.default_rng(0)
truth = 3 + rng.normal(size=(300, 2)) @ rng.normal(size=(2, 60)) + 0.3 * rng.normal(size=(300, 60))
share = np.linspace(0.05, 0.6, 300)[:, None]  # the first rows know little, the last ones much
known = rng.random(truth.shape) < share
X = sp.csr_array((truth[known], np.nonzero(known)), shape=truth.shape)

model = unweave.MatrixCompletion(2, solver="gibbs", max_iter=80, random_state=0).fit(X)
rows, columns = np.nonzero(~known)
error = model.predict(rows, columns, rows=True) - truth[rows, columns]
told = model.predict_std(rows, columns, rows=True)

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
seen = known.sum(axis=1)
edges = np.quantile(seen, np.linspace(0, 1, 11))
part = np.clip(np.searchsorted(edges, seen[rows], side="right") - 1, 0, 9)
for values, name in ((error, "error that was made"), (told, "standard deviation that was told")):
    spread = np.sqrt(np.bincount(part, values**2, 10) / np.bincount(part, minlength=10))
    axis.plot((edges[1:] + edges[:-1]) / 2, spread, "o-", label=name)
axis.set(xlabel="entries known of a row", ylabel="root mean square", ylim=(0, None))
axis.legend()
