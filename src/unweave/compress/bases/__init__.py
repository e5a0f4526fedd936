"""Bases: signals and pictures in waves and wavelets that nobody has to send, and what other bases cost.

`transforms` changes rows to coefficients and back, `keeping` says which of them are kept, `model` is the estimator
(one pass over the rows, a closed form), `tiles` cuts a picture into small ones, and `compare` sets the bases beside
PCA and a learned dictionary, with everything counted that has to be sent.
"""
