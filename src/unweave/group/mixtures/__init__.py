"""Fit mixtures p(x) = Σ_c π_c p(x | c) by expectation–maximisation.

`gaussian` and `bernoulli` hold the estimators, `base` what they share. A fit opens the table as rows that are read in
weighted pieces (`rows`), makes a first state (`family` for Gaussians) and runs the scheme of `em`: every step maximises
from the statistics of the state and expects anew, piece by piece. `forms` are the ways to expect with Gaussians, which
differ in speed and in the digits they keep; `shapes` knows full, tied, diagonal and spherical covariances.
"""
