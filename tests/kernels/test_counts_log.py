from __future__ import annotations

import numpy as np
import pytest

from unweave.kernels.counts import log_ratio_sum


@pytest.mark.parametrize("size", [0, 1, 7, 2000])
def test_sums_of_logarithms_are_their_twin(size, dtype, rng):
    x = np.where(rng.random(size) < 0.2, 0, 10.0 ** rng.uniform(-8, 8, size)).astype(dtype)
    p = (10.0 ** rng.uniform(-30, 12, size)).astype(dtype)
    a, b = x.astype(np.float64), p.astype(np.float64)
    expected = sum(u * np.log(u / v) - u for u, v in zip(a, b) if u > 0)
    assert log_ratio_sum(x, p, 0, size, np.empty((2, size))) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_every_binade_is_exact_enough():
    values = np.concatenate([2.0 ** np.arange(-300, 300), 1 + np.linspace(0, 1, 999)])
    found = [log_ratio_sum(np.ones(1), np.array([1 / v]), 0, 1, np.empty((2, 1))) + 1 for v in values]
    np.testing.assert_allclose(found, np.log(values), rtol=1e-14, atol=2e-14)
