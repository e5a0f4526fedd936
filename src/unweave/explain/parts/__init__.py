"""Parts: non-negative factorisations, which explain a table as sums of few components.

`base` is what they share: `n_components="auto"` and a start at clusters. `nmf` (both sides non-negative), `semi` (codes
only), `convex` (components are mixtures of rows), `orthogonal` (one half-line per row) and `symmetric` (similarities)
each hold one model and the scheme that is its own. A fit goes from ``BaseFactorization.fit`` to the model's `_problem`
and `_plan`, through :class:`unweave.factorization.run.Run`, and ends in `_finish`; `gram` is the way of convex NMF
through inner products of rows, with or without a kernel.
"""
