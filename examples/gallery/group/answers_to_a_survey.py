"""
Types of people from yes and no
===============================

A survey has twelve questions that are answered by yes (1) or no (0). ``BernoulliMixture`` finds types of people: for
each type, how likely a yes is to every question.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

questions = ["car", "garden", "dog", "cinema", "bike", "train", "books", "opera", "games", "gym", "camping", "boat"]
rng = np.random.default_rng(0)
types = np.array(
    [
        [0.9, 0.9, 0.7, 0.2, 0.3, 0.1, 0.3, 0.1, 0.2, 0.2, 0.6, 0.4],
        [0.2, 0.1, 0.1, 0.8, 0.8, 0.9, 0.6, 0.2, 0.7, 0.8, 0.3, 0.0],
        [0.6, 0.5, 0.2, 0.4, 0.2, 0.6, 0.9, 0.9, 0.1, 0.2, 0.1, 0.2],
    ]
)
person = rng.integers(3, size=400)
answers = (rng.random((400, 12)) < types[person]).astype(float)

model = unweave.BernoulliMixture("auto", random_state=0).fit(answers)
print(model.choice_.reason)

figure, axis = plt.subplots(figsize=(8, 2.8), layout="constrained")
picture = axis.imshow(model.means_, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axis.set_xticks(range(12), questions, rotation=45, ha="right")
axis.set_yticks(range(len(model.means_)), [f"type {c + 1}: {share:.0%}" for c, share in enumerate(model.weights_)])
figure.colorbar(picture, label="chance of a yes")
