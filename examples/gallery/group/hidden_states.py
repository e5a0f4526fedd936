"""
Calm and restless times
=======================

A hidden Markov model explains rows in order of time by a state that stays for a while and then changes. From a single
value one cannot tell the state; from its neighbours in time one can.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(3)
true = np.repeat([0, 1, 0, 1, 0], [150, 60, 120, 90, 80])
returns = rng.normal(0.05, np.where(true == 0, 0.5, 2.0))  # calm and restless days of a share, in percent

model = unweave.HiddenMarkov(2, random_state=0).fit(returns[:, None])
restless = int(np.argmax(model.covariances_.ravel()))
chance = model.predict_proba(returns[:, None])[:, restless]
print(f"states agree with the truth on {np.mean((chance > 0.5) == true):.0%} of the days")
stays = model.transition_matrix_.diagonal()
print("days that a state lasts on average:", (1 / (1 - stays)).round())

figure, axes = plt.subplots(2, 1, figsize=(8, 4.5), layout="constrained", sharex=True)
axes[0].plot(returns, linewidth=0.8)
axes[0].set_ylabel("return, %")
axes[1].fill_between(np.arange(len(true)), chance, color="tab:red", alpha=0.6, label="found")
axes[1].plot(true, color="black", linewidth=1, label="truth")
axes[1].set(xlabel="day", ylabel="chance of restless")
axes[1].legend(loc="center left")
