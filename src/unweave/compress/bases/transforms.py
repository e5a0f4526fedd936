"""Change signals and pictures to the coefficients of an orthonormal basis that nobody has to send, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN = ("dct", "fourier", "haar")  # need nothing but NumPy and SciPy
_FAMILIES = ("db", "sym", "coif")  # of orthogonal wavelets in PyWavelets
_WAVELET = re.compile(r"(haar|db|sym|coif|dmey|bior|rbio)\d*(\.\d+)?")
_TRUE = 1e-8  # how far the products of a filter with its even shifts may be from 0 and 1


class Transform:
    """An orthonormal change of basis of every row: ``backward(forward(X))`` is X, and lengths stay as they are.

    A row is an array of the shape `shape`; coefficients lie in an array of the same shape, written out as a row.
    """

    shape: tuple[int, ...]

    def forward(self, X: NDArray) -> NDArray:
        """Coefficients of every row of X (n, m), as a new array (n, m)."""
        return self._there(X.reshape(len(X), *self.shape)).reshape(X.shape)

    def backward(self, C: NDArray) -> NDArray:
        """Rows (n, m) that have these coefficients."""
        return self._back(C.reshape(len(C), *self.shape)).reshape(C.shape)

    def _there(self, A: NDArray) -> NDArray:
        raise NotImplementedError("a transform says how it changes an array of rows")

    def _back(self, A: NDArray) -> NDArray:
        raise NotImplementedError("a transform says how it changes an array of rows back")


def make_transform(kind: Any, shape: Sequence[int], levels: int | None = None) -> Transform:
    """The transform of that name for rows of this shape: (length,), (height, width) or (height, width, channels).

    The third axis of a picture holds its colours, which are turned by a cosine transform of their own: brightness
    first, then differences of colours.

    >>> make_transform("haar", (4,)).forward(np.array([[1.0, 1, 3, 3]])).round(3).tolist()
    [[4.0, -2.0, 0.0, 0.0]]
    """
    shape = tuple(int(side) for side in shape)
    colours = shape[2:] and Cosine(shape[2:], axes=(0,))
    plane = shape[:2]
    if levels is not None and kind in ("dct", "fourier"):
        raise ValueError(f"levels={levels!r} is for wavelets: kind={kind!r} has none, leave it out")
    if kind == "dct":
        inner: Transform = Cosine(plane, axes=tuple(range(len(plane))))
    elif kind == "fourier":
        inner = Fourier(plane)
    elif kind in ("haar", "db1"):
        inner = Pyramid(plane, _haar_steps(plane, levels))
    else:
        inner = Pyramid(plane, _wavelet_steps(wavelet_of(kind), plane, levels))
    return Coloured(inner, colours) if colours else inner


# -- waves -------------------------------------------------------------------------------------------------------------


class Cosine(Transform):
    """The cosine transform (DCT-II) along some axes of a row."""

    def __init__(self, shape: tuple[int, ...], axes: tuple[int, ...]):
        self.shape, self._axes = shape, tuple(axis + 1 for axis in axes)

    def _there(self, A):
        from scipy.fft import dctn

        return dctn(A, axes=self._axes, norm="ortho")

    def _back(self, A):
        from scipy.fft import idctn

        return idctn(A, axes=self._axes, norm="ortho")


class Fourier(Transform):
    """The real Fourier transform along every axis: the mean, then cosine and sine of each frequency in turn."""

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape

    def _there(self, A):
        from scipy.fft import rfft

        for axis in range(1, A.ndim):
            F = np.moveaxis(rfft(A, axis=axis, norm="ortho"), axis, -1)
            waves = np.empty((*F.shape[:-1], A.shape[axis]), dtype=A.dtype)
            last = (A.shape[axis] - 1) // 2  # the highest frequency that has both a cosine and a sine
            waves[..., 0] = F[..., 0].real
            waves[..., 1 : 2 * last : 2] = np.sqrt(2) * F[..., 1 : last + 1].real
            waves[..., 2 : 2 * last + 1 : 2] = -np.sqrt(2) * F[..., 1 : last + 1].imag
            if A.shape[axis] % 2 == 0:
                waves[..., -1] = F[..., -1].real
            A = np.moveaxis(waves, -1, axis)
        return np.ascontiguousarray(A)

    def _back(self, A):
        from scipy.fft import irfft

        for axis in range(1, A.ndim):
            waves, n = np.moveaxis(A, axis, -1), A.shape[axis]
            last = (n - 1) // 2
            F = np.zeros((*waves.shape[:-1], n // 2 + 1), dtype=np.result_type(A.dtype, np.complex64))
            F[..., 0] = waves[..., 0]
            F[..., 1 : last + 1] = (waves[..., 1 : 2 * last : 2] - 1j * waves[..., 2 : 2 * last + 1 : 2]) / np.sqrt(2)
            if n % 2 == 0:
                F[..., -1] = waves[..., -1]
            A = np.moveaxis(irfft(F, n, axis=-1, norm="ortho"), -1, axis)
        return np.ascontiguousarray(A)


class Coloured(Transform):
    """A transform of the first axes of a row after one of its last, the colours."""

    def __init__(self, plane: Transform, colours: Transform):
        self.shape, self._plane, self._colours = (*plane.shape, *colours.shape), plane, colours

    def _there(self, A):
        turned = self._colours.forward(np.ascontiguousarray(A).reshape(-1, A.shape[-1])).reshape(A.shape)
        planes = self._plane._there(np.ascontiguousarray(np.moveaxis(turned, -1, 1)).reshape(-1, *self._plane.shape))
        return np.moveaxis(planes.reshape(len(A), -1, *self._plane.shape), 1, -1)

    def _back(self, A):
        planes = np.ascontiguousarray(np.moveaxis(A, -1, 1))
        flat = self._plane._back(planes.reshape(-1, *self._plane.shape)).reshape(planes.shape)
        turned = np.ascontiguousarray(np.moveaxis(flat, 1, -1))
        return self._colours.backward(turned.reshape(-1, A.shape[-1])).reshape(A.shape)


# -- wavelets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """One step of Haar's along an axis: neighbours become their mean and their difference, weighed by what they stand
    for, so that any length will do.

    A number that stands for w entries is their sum over √w. Two such, a for v entries and b for w, become
    (√v·a + √w·b)/√(v + w), which stands for v + w, and (√w·a − √v·b)/√(v + w), which is zero where the signal is
    constant. A last number without a neighbour goes on as it is.
    """

    first: NDArray  # √(v/(v + w)) of each pair
    second: NDArray

    def split(self, A: NDArray, axis: int) -> NDArray:
        A = np.moveaxis(A, axis, -1)
        c, s = self.first.astype(A.dtype), self.second.astype(A.dtype)
        a, b = A[..., : 2 * len(c) : 2], A[..., 1 : 2 * len(c) : 2]
        parts = [c * a + s * b, A[..., 2 * len(c) :], s * a - c * b]
        return np.moveaxis(np.concatenate(parts, axis=-1), -1, axis)

    def join(self, A: NDArray, axis: int) -> NDArray:
        A = np.moveaxis(A, axis, -1)
        c, s = self.first.astype(A.dtype), self.second.astype(A.dtype)
        half = A.shape[-1] - len(c)
        mean, difference = A[..., : len(c)], A[..., half:]
        out = np.empty_like(A)
        out[..., : 2 * len(c) : 2], out[..., 1 : 2 * len(c) : 2] = c * mean + s * difference, s * mean - c * difference
        out[..., 2 * len(c) :] = A[..., len(c) : half]
        return np.moveaxis(out, -1, axis)


@dataclass(frozen=True)
class Filter:
    """One step of a longer wavelet along an axis of even length, which is taken to begin again at its end."""

    wavelet: Any

    def split(self, A: NDArray, axis: int) -> NDArray:
        from pywt import dwt

        return np.concatenate(dwt(A, self.wavelet, "periodization", axis), axis=axis)

    def join(self, A: NDArray, axis: int) -> NDArray:
        from pywt import idwt

        smooth, rough = np.split(A, 2, axis=axis)
        return idwt(smooth, rough, self.wavelet, "periodization", axis)


Level = tuple[tuple[int, ...], tuple[Any, ...]]  # the block a level works on, and its step along each axis, or None


class Pyramid(Transform):
    """Wavelets: each level splits what is smooth into smooth (first) and rough (last), along every axis."""

    def __init__(self, shape: tuple[int, ...], levels: list[Level]):
        self.shape, self._levels = shape, levels

    def _there(self, A):
        A = np.array(A)
        for sides, steps in self._levels:
            at = (slice(None), *(slice(side) for side in sides))
            block = A[at]
            for axis, step in enumerate(steps, 1):
                block = block if step is None else step.split(block, axis)
            A[at] = block
        return A

    def _back(self, A):
        A = np.array(A)
        for sides, steps in reversed(self._levels):
            at = (slice(None), *(slice(side) for side in sides))
            block = A[at]
            for axis, step in reversed(list(enumerate(steps, 1))):
                block = block if step is None else step.join(block, axis)
            A[at] = block
        return A


def _haar_steps(shape: tuple[int, ...], levels: int | None) -> list[Level]:
    """Halve every axis until one number is left, or so many times."""
    found: list[Level] = []
    stands_for = [np.ones(side) for side in shape]
    while max(map(len, stands_for)) > 1 and len(found) != levels:
        sides, steps = tuple(map(len, stands_for)), []
        for axis, weights in enumerate(stands_for):
            pairs = len(weights) // 2
            v, w = weights[: 2 * pairs : 2], weights[1 : 2 * pairs : 2]
            steps.append(Pair(np.sqrt(v / (v + w)), np.sqrt(w / (v + w))) if pairs else None)
            stands_for[axis] = np.concatenate([v + w, weights[2 * pairs :]])
        found.append((sides, tuple(steps)))
    _enough("haar", shape, levels, len(found))
    return found


def _wavelet_steps(wavelet: Any, shape: tuple[int, ...], levels: int | None) -> list[Level]:
    """Halve all axes while they are even and, unless told how often, no shorter than the wavelet."""
    found: list[Level] = []
    sides = shape
    while all(side % 2 == 0 for side in sides) and len(found) != levels:
        if levels is None and found and min(sides) < wavelet.dec_len:
            break
        found.append((sides, (Filter(wavelet),) * len(sides)))
        sides = tuple(side // 2 for side in sides)
    if not found and levels != 0:
        whole = "×".join(map(str, shape))
        even = "×".join(str(side + side % 2) for side in shape)
        raise ValueError(
            f"kind={wavelet.name!r} halves every row, and {whole} is odd: pad or crop the rows to {even}, or use "
            "kind='haar' or 'dct', which take any length"
        )
    _enough(wavelet.name, shape, levels, len(found))
    return found


def _enough(name: str, shape: tuple[int, ...], levels: int | None, found: int) -> None:
    if levels is not None and found < levels:
        raise ValueError(f"levels={levels} is too many for kind={name!r} and rows of {shape}: at most {found}")


def wavelet_of(kind: Any) -> Any:
    """The orthogonal wavelet of that name in PyWavelets, or an error with names that there are.

    >>> wavelet_of("cosine")
    Traceback (most recent call last):
    ...
    ValueError: kind='cosine' is not known; use 'dct', 'fourier', 'haar' or a wavelet such as 'db2', 'sym4' or 'coif1'
    """
    known = "use 'dct', 'fourier', 'haar' or a wavelet such as 'db2', 'sym4' or 'coif1'"
    if not isinstance(kind, str):
        raise TypeError(f"kind must be a name, got {kind!r}; {known}")
    try:
        import pywt
    except ImportError as error:
        if _WAVELET.fullmatch(kind):
            raise ImportError(
                f"kind={kind!r} needs PyWavelets, which is not installed: pip install 'unweave[signals]', or use "
                "'dct', 'fourier' or 'haar'"
            ) from error
        raise ValueError(f"kind={kind!r} is not known; {known}") from None
    if kind not in (names := pywt.wavelist(kind="discrete")):
        near = get_close_matches(kind, [*PLAIN, *names], n=1, cutoff=0.7)
        hint = f"did you mean {near[0]!r}?" if near else known
        raise ValueError(f"kind={kind!r} is not known; {hint}")
    wavelet = pywt.Wavelet(kind)
    if not _is_orthonormal(np.asarray(wavelet.dec_lo)) or not wavelet.orthogonal:
        raise ValueError(
            f"kind={kind!r} is no orthonormal basis, so what is kept would not be what counts: use one of the families "
            f"{', '.join(map(repr, _FAMILIES))}, such as 'db2', 'sym4' or 'coif1'"
        )
    return wavelet


def _is_orthonormal(taps: NDArray) -> bool:
    """Whether a filter has length one, and is orthogonal to itself when moved by 2, 4, 6 and so on."""
    n = len(taps)
    return all(abs(taps[k:] @ taps[: n - k] - (k == 0)) < _TRUE for k in range(0, n, 2))
