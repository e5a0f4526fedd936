"""Complete tables by matrices of low rank under the nuclear norm, a convex problem with one answer and a certificate.

`SoftImpute` (soft_impute.py) fits tables with noise, `SingularValueThresholding` (thresholding.py) tables whose entries
are exactly right. A fit chooses the strength τ of the norm where none is given (strengths.py: the path of falling
strengths, each fitted from the answer to the last and judged on held-out entries), lets the scheme run in the one loop
(:mod:`unweave.solve.soft_impute`, or the dual ascent in thresholding.py), both of which hold a table as sparse plus low
rank (:mod:`unweave.solve.sparse_plus_low_rank`), and ends with a duality gap. model.py is what both share.
"""

from unweave.complete.nuclear.soft_impute import SoftImpute
from unweave.complete.nuclear.thresholding import SingularValueThresholding

__all__ = ["SingularValueThresholding", "SoftImpute"]
