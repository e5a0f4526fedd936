"""
Types at the edge, and everybody in between
===========================================

Archetypal analysis finds extreme types and describes every row by shares of them. It is one line: codes are shares
(``"simplex"``), and components are mixtures of rows (``"hull"``).
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
corners = np.array([[0.0, 0.0], [4.0, 0.5], [1.5, 3.5]])  # pure sand, pure clay, pure silt
soil = rng.dirichlet([0.6, 0.6, 0.6], size=150) @ corners + 0.05 * rng.normal(size=(150, 2))

model = unweave.Factorization(3, codes="simplex", components="hull", max_iter=1000, tol=1e-3, random_state=0).fit(soil)
print(model.plan_)

figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
axis.scatter(*soil.T, c=np.clip(model.codes_, 0, 1), s=20)
order = [0, 1, 2, 0]
axis.plot(*model.components_[order].T, color="black", linewidth=1)
axis.scatter(*model.components_.T, color="black", marker="^", s=90, label="archetypes")
axis.set_title("each colour is a blend of three shares")
axis.legend()
