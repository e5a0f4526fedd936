"""Smooth components under squared loss: one linear system for the whole factor, diagonal in cosines."""

from __future__ import annotations

import numpy as np
from scipy.fft import dct, idct

from unweave.penalties import Smooth
from unweave.updates.base import Update, no_worse


class Smoothing(Update):
    """F·B + D·F = A, with D the bends of neighbouring rows: exact by a cosine transform and the axes of B.

    In the cosines of the columns of F and the eigenvectors of the Gram B every number stands alone:
    f = a/(b + d). No row is found without the others, so only components (or the sides of a tensor) can be smooth.
    """

    name = "smoothing"
    title = "exact smooth least squares"

    def refuses(self, model, half):
        if not isinstance(half.penalty, Smooth) or not half.transposed or half.exempt:
            return f"smoothing needs smooth components, not {half.penalty.name!r}"
        if model.kind != "quadratic":
            return "smoothing in one step needs the squared loss with every entry observed"
        return None

    def __call__(self, model, F, half, effort):
        values, axes = np.linalg.eigh(model.gram)
        waves = dct(model.cross.astype(np.float64), axis=0, norm="ortho") @ axes
        curvature = np.maximum(values, 0)[None, :] + half.penalty.bends(len(F))[:, None]
        floor = len(values) * np.finfo(np.float64).eps * max(float(curvature.max(initial=0)), np.finfo(np.float64).tiny)
        waves = np.divide(waves, curvature, out=np.zeros_like(waves), where=curvature > floor)
        new = np.ascontiguousarray((idct(waves, axis=0, norm="ortho") @ axes.T).astype(F.dtype))
        return no_worse(model, F, new, half)
