"""
Which rows are strange?
=======================

A model of what is usual says what is not. ``anomaly_score`` gives each row one number: the higher, the less the row
is like the others. Here a day has 24 readings of a meter, and a few days went wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

import unweave

rng = np.random.default_rng(0)
hours = np.arange(24)
workday = 2 + 3 * np.exp(-((hours - 8) ** 2) / 6) + 4 * np.exp(-((hours - 19) ** 2) / 8)
weekend = 2 + 3 * np.exp(-((hours - 13) ** 2) / 20)
is_weekend = np.arange(200) % 7 >= 5
days = np.where(is_weekend[:, None], weekend, workday) + 0.3 * rng.normal(size=(200, 24))
days[40, 10:14] = 0  # the meter stood still
days[111] = days[111][::-1]  # a clock was set wrong
days[160, 3] += 5  # one peak at night

model = unweave.GaussianMixture(2, covariance_type="diag").fit(days)
score = model.anomaly_score(days)
strange = np.argsort(score)[::-1][:3]
print("strangest days:", sorted(strange.tolist()))

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
axes[0].plot(score, ".", color="tab:gray")
axes[0].plot(strange, score[strange], "o", color="tab:red")
axes[0].set(xlabel="day", ylabel="anomaly score")
axes[1].plot(hours, days[::5].T, color="tab:gray", alpha=0.3)
axes[1].plot(hours, days[strange].T, color="tab:red")
axes[1].set(xlabel="hour", ylabel="reading", title="the three strangest days")
