"""Frequencies, smoothed and weighted."""

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.data.text import weights
from unweave.data.text.weights import inverse_frequency, weigh


def test_the_three_idf_weights():
    documents = np.array([1, 2, 4, 0])
    assert inverse_frequency(documents, 4, "one").tolist() == [1, 1, 1, 1]
    np.testing.assert_allclose(inverse_frequency(documents, 4, "log"), np.log([4, 2, 1, 4]))
    np.testing.assert_allclose(inverse_frequency(documents, 4, "log1p"), np.log([5, 3, 2, 5]))


COUNTS = sp.csr_array(np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))


def test_frequencies_smoothed_stay_distributions(dtype):
    X = COUNTS.astype(dtype)
    f = weigh(X, "frequency", 0.0, np.ones(3))
    assert f.dtype == dtype
    np.testing.assert_allclose(f.toarray(), [[0.75, 0.25, 0], [0, 0, 0], [0, 1, 0]])
    smooth = weigh(X, "frequency", 0.1, np.ones(3))
    assert smooth.dtype == dtype
    np.testing.assert_allclose(smooth.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(smooth[0], 0.1 / 3 + 0.9 * np.array([0.75, 0.25, 0]), rtol=1e-6)
    np.testing.assert_allclose(smooth[1], 1 / 3, rtol=1e-6)
    np.testing.assert_array_equal(X.toarray(), COUNTS.toarray())


def test_tf_idf_is_their_product_and_stores_no_zeros():
    idf = np.array([2.0, 0.0, 5.0])
    X = weigh(COUNTS, "tf-idf", 0.0, idf)
    np.testing.assert_allclose(X.toarray(), [[1.5, 0, 0], [0, 0, 0], [0, 0, 0]])
    assert X.nnz == 1
    np.testing.assert_allclose(weigh(COUNTS, "tf-idf", 0.3, idf)[1], idf / 3)


def test_a_smoothed_table_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(weights, "_LARGEST", 8)
    with pytest.raises(ValueError, match="max_words or min_df"):
        weigh(COUNTS, "frequency", 0.1, np.ones(3))
