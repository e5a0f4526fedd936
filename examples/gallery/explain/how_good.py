"""
Could a better answer exist?
============================

Most fits only find an answer, not the best one. A certificate compares it with a limit that no answer of that size can
beat. PCA reaches it. NMF may only add parts, never take any away: it pays for that with more error, and with every
component a little more.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import unweave

X, _ = load_digits(return_X_y=True)
counts = (2, 4, 8, 16, 24)
kinds = {
    "PCA": lambda k: unweave.PCA(k),
    "NMF": lambda k: unweave.NMF(k, random_state=0),
}

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for name, make in kinds.items():
    models = [make(k).fit(X) for k in counts]
    gaps = [100 * model.certify(X).gap for model in models]
    axis.plot(counts, gaps, "o-", label=name)
    print(f"{name} with 8 components:", models[2].certificate_)
axis.set(xlabel="number of components", ylabel="error above the limit, at most %", xticks=counts)
axis.legend()
