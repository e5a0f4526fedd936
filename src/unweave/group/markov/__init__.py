"""Fit and use hidden Markov models.

`model` holds the estimator. A fit reads sequences (`input`), chooses the number of states where it is left to the data
(`choice`), makes several chains to begin with and lets them race (`start`), and runs the scheme of `fit` (Baum–Welch).
Every step of it goes forwards and backwards over all rows (`sweep`), by the recursions of a `chain` whose states show
Gaussians or symbols (`emissions`); long sequences are cut into `segments` that run side by side. `viterbi` finds the
most probable paths.
"""
