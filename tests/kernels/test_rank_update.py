"""One triangle of C + W'W, against the plain sum over rows."""

import numpy as np
import pytest

from tests.reference.rank_update import add_gram as slow
from unweave.kernels.rank_update import add_gram, mirror


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (700, 33), (40, 600)])
def test_adds_to_the_lower_triangle_only(shape, dtype, rng):
    W = rng.standard_normal(shape).astype(dtype)
    C = rng.standard_normal((shape[1], shape[1])).astype(dtype)
    expected, upper = slow(W, C), np.triu(C, 1).copy()
    add_gram(W, C)
    np.testing.assert_allclose(np.tril(C), np.tril(expected), atol=1e-3 if dtype == np.float32 else 1e-11)
    np.testing.assert_array_equal(np.triu(C, 1), upper)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 700])
def test_mirror_makes_it_symmetric(size, rng):
    C = rng.standard_normal((size, size))
    low = np.tril(C)
    out = mirror(C)
    np.testing.assert_array_equal(out, low + np.tril(low, -1).T)


def test_arrays_that_blas_would_misread_are_refused(rng):
    W = rng.standard_normal((6, 4))
    for bad, C in [(W[:, :3], np.zeros((3, 3))), (W, np.zeros((4, 4), np.float32)), (W, np.zeros((3, 3)))]:
        with pytest.raises(ValueError, match="row-major"):
            add_gram(bad, C)
