"""Fill the holes of tables whose columns are of many kinds: numbers, truth values, ordered and unordered levels.

A fit of `TableImputer` (table_imputer.py) reads the columns (:mod:`unweave.data.mixed`, which every model of mixed
columns shares) and writes them as numbers (columns.py). It chooses models, their sizes and the trust of each column in
them on held-out cells (search.py), and fits them side by side in one loop (joint.py): a linear model of full rank
(gaussian.py) or of low rank (low_rank.py), and a mixture of groups (groups.py); model.py says what is asked of each.
What is fitted then fills cells, says how sure it is, and draws several imputations (fill.py).
"""

from unweave.complete.imputer.table_imputer import TableImputer

__all__ = ["TableImputer"]
