"""Sparse codes: every row as a sum of few atoms of a dictionary, which is given, or learned.

`sparse_coder` finds codes on a dictionary that is given: its sentence is the engine's with fixed components, its
half-step one of `methods` (exact, iterative, greedy or exhaustive), its certificate a duality gap for each row.
`dictionary` learns the atoms too: `sums` is the scheme that goes through the rows a batch at a time and keeps the sums
that the atoms need, `ksvd` the one that turns codes and atom together. `sparse_pca` turns the table round: dense codes,
sparse components. `strength` says how large "auto" is, `path` follows the lasso of one row over all strengths.
"""

from unweave.compress.coding.dictionary import DictionaryLearning
from unweave.compress.coding.path import lasso_path
from unweave.compress.coding.sparse_coder import SparseCoder
from unweave.compress.coding.sparse_pca import SparsePCA

__all__ = ["DictionaryLearning", "SparseCoder", "SparsePCA", "lasso_path"]
