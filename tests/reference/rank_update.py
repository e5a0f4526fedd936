"""C + W'W, one row of W at a time."""

import numpy as np


def add_gram(W, C):
    total = C.astype(np.float64)
    for w in W.astype(np.float64):
        total += np.outer(w, w)
    return total
