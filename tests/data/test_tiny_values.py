"""Tables whose squared differences vanish."""

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.data.tiny_values import enlarged, need_spread


@pytest.mark.parametrize("values", [np.zeros((3, 2)), np.full(4, 1e-200), np.array([1e-140, 0.0]), np.full(2, np.nan)])
def test_what_does_not_differ_or_differs_enough_is_taken(values):
    assert need_spread(values, np.float64) is None  # no error


def test_differences_too_small_to_square_are_refused_in_words():
    for values in (np.array([0, 1e-150]), np.array([np.nan, -1e-150, 1e-150]), sp.csr_array([[0, 1e-160]])):
        with pytest.raises(ValueError, match=r"too small .* in float64: rescale X$"):
            need_spread(values, np.float64)
    with pytest.raises(ValueError, match="float32: rescale X, or pass it as float64"):
        need_spread(np.array([0, 1e-20]), np.float32)


@pytest.mark.parametrize("dtype, scale", [(np.float32, 2.0**-130), (np.float64, 2.0**-1000)])
def test_enlarging_is_by_a_power_of_two(dtype, scale):
    X = np.array([[0.0, 3.0], [5.0, -7.0]], dtype)
    for tiny in ((X * dtype(scale)), sp.csr_array(X * dtype(scale))):
        large = enlarged(tiny)
        assert large.dtype == dtype and sp.issparse(large) == sp.issparse(tiny)
        assert np.array_equal(8 * (large.toarray() if sp.issparse(large) else large), X)
    assert enlarged(X) is X
