"""Solve: turn a stated problem into an answer with a history, a plan and a certificate.

`problem` says what is asked. `plan` picks a method for it and says why: `closed` where the singular value decomposition
is the answer (by `svd`, or by `search` and `krylov` for large tables), `soft_impute` for the nuclear norm with holes,
else `alternate`, two half-steps in turn, from a `start`. All of them are a `scheme`, and `iterate` is the one loop that
runs schemes, with `checkpoint`, `history` and `progress`. `certificate` says how good the answer provably is.
"""
