"""Independent sources: ICA.

A fit whitens the rows (`rows`, with PCA's decomposition), turns them by one of the methods (`rotations`: FastICA for
all sources and projected gradient ascent; `deflation`; `likelihood`), each a scheme that steps by the same three sums
over rows (`contrasts`), and puts what it found in order (`sources`). `model` is the estimator.
"""

from unweave.compress.ica.model import ICA

__all__ = ["ICA"]
