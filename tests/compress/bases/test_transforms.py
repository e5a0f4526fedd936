"""Every transform is an orthonormal change of basis, and the one that its name says."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from unweave.compress.bases.transforms import make_transform, wavelet_of

SHAPES = [(1,), (2,), (3,), (7,), (8,), (40,), (8, 8), (4, 6), (5, 7), (1, 6), (5, 7, 3), (8, 4, 3), (4, 4, 1)]
WAVELETS = ["db2", "db4", "sym4", "coif3"]


def matrix(kind, shape, **more):
    """The basis as rows of a matrix."""
    return make_transform(kind, shape, **more).backward(np.eye(int(np.prod(shape))))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["dct", "fourier", "haar", *WAVELETS])
def test_it_is_orthonormal_and_goes_back(kind, shape):
    if kind in WAVELETS:
        pytest.importorskip("pywt")
        if any(side % 2 for side in shape[:2]):
            with pytest.raises(ValueError, match=r"is odd: pad or crop .* kind='haar' or 'dct'"):
                make_transform(kind, shape)
            return
    m = int(np.prod(shape))
    transform, one = make_transform(kind, shape), np.eye(m)
    C = transform.forward(one)
    np.testing.assert_allclose(C @ C.T, one, atol=1e-10)
    np.testing.assert_allclose(transform.backward(C), one, atol=1e-10)
    assert (one == np.eye(m)).all(), "the rows are left as they were"
    single = transform.forward(one.astype(np.float32))
    assert single.dtype == np.float32 and transform.backward(single).dtype == np.float32
    np.testing.assert_allclose(single, C, atol=1e-5)


@pytest.mark.parametrize("kind", ["dct", "fourier", "haar"])
@pytest.mark.parametrize("shape", [(7,), (8,), (5, 7), (6, 4, 3)], ids=str)
def test_what_is_constant_is_one_number(kind, shape):
    C = make_transform(kind, shape).forward(np.full((1, int(np.prod(shape))), 2.0))
    assert np.flatnonzero(np.abs(C[0]) > 1e-12).tolist() == [0]
    assert C[0, 0] == pytest.approx(2 * np.sqrt(np.prod(shape)))


@pytest.mark.parametrize("n", [5, 8])
def test_waves_by_their_formulas(n):
    t, j = np.arange(n), np.arange(n)[:, None]
    cosines = np.sqrt(2 / n) * np.cos(np.pi * (t + 0.5) * j / n)
    cosines[0] /= np.sqrt(2)
    np.testing.assert_allclose(matrix("dct", (n,)), cosines, atol=1e-12)
    waves = [np.full(n, 1 / np.sqrt(n))]
    for f in range(1, (n - 1) // 2 + 1):
        waves += [np.sqrt(2 / n) * wave(2 * np.pi * f * t / n) for wave in (np.cos, np.sin)]
    if n % 2 == 0:
        waves.append((-1.0) ** t / np.sqrt(n))
    np.testing.assert_allclose(matrix("fourier", (n,)), waves, atol=1e-12)


def test_pictures_are_products_of_waves_down_and_across():
    for kind in ("dct", "fourier"):
        np.testing.assert_allclose(matrix(kind, (4, 5)), np.kron(matrix(kind, (4,)), matrix(kind, (5,))), atol=1e-12)


def test_haar_of_four_and_of_three():
    r = np.sqrt(0.5)
    four = [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, -0.5, -0.5], [r, -r, 0, 0], [0, 0, r, -r]]
    np.testing.assert_allclose(matrix("haar", (4,)), four, atol=1e-12)
    # The third number has no neighbour: it goes on, and is weighed against the two that became one.
    three = [np.ones(3) / np.sqrt(3), np.array([1, 1, -2]) / np.sqrt(6), [r, -r, 0]]
    np.testing.assert_allclose(matrix("haar", (3,)), three, atol=1e-12)


@pytest.mark.parametrize("kind", ["db2", "sym4"])
def test_wavelets_are_those_of_pywavelets(kind, rng):
    pywt = pytest.importorskip("pywt")
    x, picture = rng.normal(size=64), rng.normal(size=(16, 16))
    wanted = np.concatenate(pywt.wavedec(x, kind, "periodization", 3))
    np.testing.assert_allclose(make_transform(kind, (64,), 3).forward(x[None])[0], wanted, atol=1e-12)
    wanted = pywt.coeffs_to_array(pywt.wavedec2(picture, kind, "periodization", 2))[0]
    found = make_transform(kind, (16, 16), 2).forward(picture.reshape(1, -1)).reshape(16, 16)
    np.testing.assert_allclose(np.sort(np.abs(found), axis=None), np.sort(np.abs(wanted), axis=None), atol=1e-12)


def test_haar_agrees_with_pywavelets_where_the_length_is_a_power_of_two(rng):
    pywt = pytest.importorskip("pywt")
    x = rng.normal(size=32)
    wanted = np.concatenate(pywt.wavedec(x, "haar", "periodization"))
    np.testing.assert_allclose(make_transform("haar", (32,)).forward(x[None])[0], wanted, atol=1e-12)


def test_levels_are_as_many_as_asked(rng):
    x = rng.normal(size=(1, 12))
    np.testing.assert_array_equal(make_transform("haar", (12,), 0).forward(x), x)
    once = make_transform("haar", (12,), 1).forward(x)[0]
    np.testing.assert_allclose(once[:6], (x[0, ::2] + x[0, 1::2]) / np.sqrt(2))
    with pytest.raises(ValueError, match=r"levels=9 is too many .* at most 4"):
        make_transform("haar", (12,), 9)
    with pytest.raises(ValueError, match="levels=2 is for wavelets"):
        make_transform("dct", (12,), 2)
    pytest.importorskip("pywt")
    with pytest.raises(ValueError, match=r"levels=3 is too many .* at most 2"):
        make_transform("db2", (12,), 3)


@pytest.mark.parametrize("kind, said", [("dmey", "no orthonormal basis"), ("bior2.2", "no orthonormal basis"),
                                        ("hear", "did you mean 'haar'"), ("cosine", "use 'dct'")])  # fmt: skip
def test_what_is_no_orthonormal_basis_is_refused(kind, said):
    pytest.importorskip("pywt")
    with pytest.raises(ValueError, match=said):
        wavelet_of(kind)


def test_without_pywavelets_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(ImportError, match=r"unweave\[signals\].*'haar'"):
        make_transform("db4", (8,))
    with pytest.raises(ValueError, match="'waves' is not known"):
        make_transform("waves", (8,))
    assert make_transform("haar", (8,)).forward(np.ones((1, 8)))[0, 0] == pytest.approx(np.sqrt(8))


def test_a_kind_that_is_no_name_is_refused():
    with pytest.raises(TypeError, match="kind must be a name"):
        make_transform(3, (8,))
