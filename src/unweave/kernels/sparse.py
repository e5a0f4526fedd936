"""Products of a CSR matrix with a dense one, a range of rows at a time."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def csr_rows_times_dense(indptr, indices, data, B, out, start, stop):
    """``out[i] = sum_p data[p] * B[indices[p]]`` over the stored entries p of each row i of ``[start, stop)``.

    Eight entries a pass: the row of `out` is read and written an eighth as often, and the eight rows of B are fetched
    at the same time, which hides the latency of the gather. With four, the loop over columns is unrolled so far on
    processors with AVX-512 that 48 columns never enter it.
    """
    width = B.shape[1]
    for i in range(start, stop):
        row = out[i]
        for c in range(width):
            row[c] = 0
        p = indptr[i]
        end = indptr[i + 1]
        while p + 8 <= end:
            # Unsigned places spare numba's test for indices counted from the end, at every entry of B.
            b0, b1 = B[np.uint32(indices[p])], B[np.uint32(indices[p + 1])]
            b2, b3 = B[np.uint32(indices[p + 2])], B[np.uint32(indices[p + 3])]
            b4, b5 = B[np.uint32(indices[p + 4])], B[np.uint32(indices[p + 5])]
            b6, b7 = B[np.uint32(indices[p + 6])], B[np.uint32(indices[p + 7])]
            x0, x1, x2, x3 = data[p], data[p + 1], data[p + 2], data[p + 3]
            x4, x5, x6, x7 = data[p + 4], data[p + 5], data[p + 6], data[p + 7]
            for c in range(width):
                low = (x0 * b0[c] + x1 * b1[c]) + (x2 * b2[c] + x3 * b3[c])
                row[c] += low + ((x4 * b4[c] + x5 * b5[c]) + (x6 * b6[c] + x7 * b7[c]))
            p += 8
        while p < end:
            b0 = B[np.uint32(indices[p])]
            x0 = data[p]
            for c in range(width):
                row[c] += x0 * b0[c]
            p += 1


@kernel
def csr_rows_times_vector(indptr, indices, data, b, out, start, stop):
    """``out[i] = sum_p data[p] * b[indices[p]]``: the same for one column, where there is nothing to vectorise over."""
    for i in range(start, stop):
        entries = data[indptr[i] : indptr[i + 1]]
        places = indices[indptr[i] : indptr[i + 1]]
        total = data.dtype.type(0)
        for p in range(len(entries)):
            # An unsigned place spares numba's test for indices counted from the end, a quarter of the time here.
            total += entries[p] * b[np.uint32(places[p])]
        out[i] = total
