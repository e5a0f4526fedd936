"""Set bases that are known beside bases that are learned: what does it cost to send a table this well?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unweave.compress.bases.keeping import Rule
from unweave.compress.bases.model import OrthonormalBasis, row_shape
from unweave.compress.bases.transforms import make_transform
from unweave.data.arguments import number, whole
from unweave.data.storage import as_dense
from unweave.objectives.opening import open_table
from unweave.parallel import single_blas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TYPES = {16: np.float16, 32: np.float32, 64: np.float64}
_ATOMS = 2  # atoms of a learned dictionary for each number of a row
_ROUNDS = 20  # of learning them
_STEPS = 8  # how many numbers a row that are tried unless told


@dataclass(frozen=True)
class Rate:
    """What one basis sends for a table, and how well the table is known from it.

    Attributes
    ----------
    basis : str
        Its name; "own choice" where each row keeps coefficients of its own.
    kept : int
        Numbers that are sent for each row.
    code_bits, index_bits, basis_bits : float
        Bits for these numbers, for saying which coefficients they belong to, and for the basis where it was learned.
    error : float
        ‖X − what is received‖ / ‖X‖.
    psnr : float
        Peak signal-to-noise ratio in decibels.
    bits_per_number : float
        All bits, for each number of the table.
    """

    basis: str
    kept: int
    code_bits: float
    index_bits: float
    basis_bits: float
    error: float
    psnr: float
    bits_per_number: float

    @property
    def bits(self) -> float:
        """All that is sent."""
        return self.code_bits + self.index_bits + self.basis_bits


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare_bases` found; prints as a table.

    Attributes
    ----------
    rates : list of Rate
        A line for each basis and each number of coefficients.
    shape : (int, int)
        Of the table.
    number_bits : int
        Bits for each number that is sent.
    peak : float
        The signal that errors are held against.
    """

    rates: list[Rate]
    shape: tuple[int, int]
    number_bits: int
    peak: float

    @property
    def bases(self) -> list[str]:
        """The names of what was compared, in order."""
        return list(dict.fromkeys(rate.basis for rate in self.rates))

    def of(self, basis: str) -> list[Rate]:
        """The rates of one basis, fewest bits first."""
        return sorted((rate for rate in self.rates if rate.basis == basis), key=lambda rate: rate.bits)

    @property
    def usual_rate(self) -> float:
        """The rate at which bases are set side by side unless told: an eighth of the bits of the table."""
        return self.number_bits / 8

    def at(self, bits_per_number: float | None = None) -> dict[str, float]:
        """PSNR of each basis at one rate, the best first, between the rates that were tried; NaN outside of them."""
        rate = self.usual_rate if bits_per_number is None else number(bits_per_number, "bits_per_number")
        found = {}
        for basis in self.bases:
            line = self.of(basis)
            known = [one.bits_per_number for one in line]
            inside = known[0] <= rate <= known[-1]
            found[basis] = float(np.interp(rate, known, [one.psnr for one in line])) if inside else math.nan
        return dict(sorted(found.items(), key=lambda pair: (math.isnan(pair[1]), -pair[1])))

    def frame(self):
        """The rates as a polars frame."""
        import polars

        return polars.DataFrame(self.records())

    def records(self) -> list[dict[str, Any]]:
        """The rates as dicts, a line each."""
        names = ("basis", "kept", "bits", "bits_per_number", "code_bits", "index_bits", "basis_bits", "error", "psnr")
        return [{name: getattr(rate, name) for name in names} for rate in self.rates]

    def __str__(self) -> str:
        n, m = self.shape
        lines = [
            f"{n:,} rows of {m:,} numbers, {self.number_bits} bits for each number that is sent",
            f"{'basis':<22}{'kept':>6}{'bits/number':>13}{'indices':>9}{'basis':>8}{'error':>9}{'PSNR dB':>9}",
        ]
        for rate in self.rates:
            lines.append(
                f"{rate.basis:<22}{rate.kept:>6}{rate.bits_per_number:>13.3f}{rate.index_bits / rate.bits:>9.0%}"
                f"{rate.basis_bits / rate.bits:>8.0%}{rate.error:>9.4f}{rate.psnr:>9.2f}"
            )
        return "\n".join(lines)

    def plot(self) -> Figure:
        """Draw PSNR against bits as a matplotlib figure; dotted: what it would be if the basis cost nothing."""
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(
                "drawing needs matplotlib, which is not installed: pip install 'unweave[plot]'"
            ) from error
        figure, axis = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
        for i, basis in enumerate(self.bases):
            line, colour = self.of(basis), f"C{i % 10}"
            quality = [rate.psnr for rate in line]
            axis.plot([rate.bits_per_number for rate in line], quality, "o-", color=colour, label=basis, markersize=3)
            if any(rate.basis_bits for rate in line):
                free = [rate.bits_per_number * (1 - rate.basis_bits / rate.bits) for rate in line]
                axis.plot(free, quality, ":", color=colour, label=f"{basis}, were it free to send")
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set(xlabel="bits sent for each number of the table", ylabel="PSNR, dB")
        axis.legend(fontsize=8)
        return figure


@dataclass(frozen=True)
class Sent:
    """What is received, and what it took beside the numbers of the codes: bits for indices, numbers of the basis."""

    received: NDArray
    numbers: int
    index_bits: float
    basis_numbers: int


# (how many numbers a row, how a number arrives) -> what was sent, or None where there are not so many
Sender = Callable[[int, Callable[[NDArray], NDArray]], Sent | None]


def compare_bases(
    X: Any,
    bases: Sequence[str] | None = None,
    *,
    shape: tuple[int, ...] | None = None,
    counts: Iterable[int] | None = None,
    bits: int = 16,
    peak: float | None = None,
    random_state: Any = None,
) -> Comparison:
    """Compare what bases cost to send a table and how well it is known afterwards: rate and distortion.

    Sender and receiver agree on a number of coefficients k for each row, and every number is rounded to `bits` bits
    before it is used. What is sent, for n rows of m numbers:

    - a known basis, all rows keeping the same: n·k numbers, and log₂ C(m, k) bits once, which k they are;
    - "own choice", each row keeping its own: n·k numbers and n·log₂ C(m, k) bits, because each row has to say which;
    - "pca": n·k numbers, and the basis: k·m numbers and the mean, m more;
    - "dictionary" of K atoms, twice as many as a row has numbers (or one a row, if rows are fewer): n·k numbers (the
      mean of the row, and k − 1 atoms' weights), n·log₂ C(K, k − 1) bits to say which atoms, and the K·m numbers of the
      atoms.

    Nothing is counted for entropy coding of the numbers, from which all of them would gain.

    Parameters
    ----------
    X : array, sparse matrix, data frame or NamedTable
        A row is a signal, or a picture such as the squares that :func:`unweave.patches` cuts.
    bases : list of str, optional
        "pca", "dictionary", and kinds of :class:`unweave.OrthonormalBasis`; unless given "dct", "haar", "pca" and
        "dictionary".
    shape : tuple, optional
        Of a row that is a picture; a table of pictures knows it.
    counts : list of int, optional
        Values of k; unless given eight from 1 to half of a row.
    bits : {16, 32, 64}, default=16
        Of a number that is sent, as a float.
    peak : float, optional
        The signal in the PSNR 20·log₁₀(peak/√MSE): 255 for pictures of bytes. Unless given the range of X (of a
        constant X its size).
    random_state : int, optional
        For what is learned.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import unweave
    >>> from sklearn.datasets import load_digits
    >>> found = unweave.compare_bases(load_digits().data, ["dct", "pca"], shape=(8, 8), counts=[8, 16])
    >>> [(rate.basis, rate.kept, round(rate.bits_per_number, 2)) for rate in found.rates[::2]]
    [('dct', 8, 2.0), ('dct, own choice', 8, 2.5), ('pca', 8, 2.08)]
    """
    if bits not in _TYPES:
        raise ValueError(f"bits={bits!r} must be one of {', '.join(map(str, _TYPES))}")
    door = OrthonormalBasis("dct", shape=shape)
    door._takes_blocks = False  # errors are added up over all rows at once
    with single_blas():
        objective, _ = open_table(door, X, None, "squared")
        shape = row_shape(X, shape, objective.shape[1])
        table = as_dense(objective.X).astype(np.float64, copy=False)
        asked = _counts(counts, table.shape[1])
        top = _range(table) if peak is None else number(peak, "peak")
        if not top > 0:
            raise ValueError("peak=0 has no signal in it: give the largest that a number can be, such as 255")
        names = ["dct", "haar", "pca", "dictionary"] if bases is None else list(bases)
        if not names:
            raise ValueError("bases is empty: name at least one, such as 'dct'")
        rates = []
        for name in dict.fromkeys(names):
            for title, send in _senders(name, table, shape, asked, random_state):
                rates += [_rate(title, k, table, sent, bits, top) for k in asked if (sent := send(k, _rounding(bits)))]
    return Comparison(rates, table.shape, bits, top)


def _range(X: NDArray) -> float:
    """How far numbers lie apart; where all are one, how large it is."""
    return float(np.ptp(X)) or float(np.abs(X).max()) or 1.0


def _counts(counts: Iterable[int] | None, m: int) -> list[int]:
    """How many numbers a row are tried."""
    if counts is None:
        return np.unique(np.geomspace(1, max(1, m // 2), _STEPS).round().astype(int)).tolist()
    found = sorted({whole(k, "counts", 1) for k in counts})
    if not found or found[-1] > m:
        raise ValueError(f"counts must name numbers from 1 to {m}, the numbers of a row; got {found}")
    return found


def _rate(title: str, k: int, X: NDArray, sent: Sent, bits: int, peak: float) -> Rate:
    lost = float(np.square(X - sent.received).sum())
    size = float(np.square(X).sum())
    codes, basis = float(sent.numbers * bits), float(sent.basis_numbers * bits)
    total = codes + basis + sent.index_bits
    quality = math.inf if lost == 0 else 20 * math.log10(peak) - 10 * math.log10(lost / X.size)
    error = math.sqrt(lost / size) if size > 0 else 0.0
    return Rate(title, k, codes, sent.index_bits, basis, error, quality, total / X.size)


def _rounding(bits: int) -> Callable[[NDArray], NDArray]:
    """How numbers arrive that are sent as floats of so many bits; one more tells their scale."""

    def arrive(numbers: NDArray) -> NDArray:
        scale = float(np.abs(numbers).max(initial=0.0)) or 1.0
        return (numbers / scale).astype(_TYPES[bits]).astype(np.float64) * scale

    return arrive


def log2_choices(n: int, k: int) -> float:
    """Bits that say which k of n: log₂ C(n, k).

    >>> log2_choices(8, 1), log2_choices(8, 8)
    (3.0, 0.0)
    """
    found = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return max(0.0, round(found / math.log(2), 9))


# -- who sends ---------------------------------------------------------------------------------------------------------


def _senders(name: Any, X: NDArray, shape, counts: list[int], random_state) -> list[tuple[str, Sender]]:
    """The ways to send by a basis of this name, with their titles."""
    learned = LEARNED.get(name) if isinstance(name, str) else None
    if learned is not None:
        return [(name, learned(X, counts, random_state))]
    return [(name, _same_for_all(name, X, shape)), (f"{name}, own choice", _own_choice(name, X, shape))]


def _same_for_all(kind: str, X: NDArray, shape) -> Sender:
    transform = make_transform(kind, shape)
    C = transform.forward(X)
    order = Rule().for_all(np.square(C).sum(axis=0), len(X))

    def send(k, arrive):
        kept = np.zeros_like(C)
        kept[:, order[:k]] = arrive(C[:, order[:k]])
        return Sent(transform.backward(kept), len(X) * k, log2_choices(X.shape[1], k), 0)

    return send


def _own_choice(kind: str, X: NDArray, shape) -> Sender:
    transform = make_transform(kind, shape)
    C = transform.forward(X)

    def send(k, arrive):
        kept = np.where(Rule(count=k).of_each(C), C, 0)
        return Sent(transform.backward(arrive(kept)), len(X) * k, len(X) * log2_choices(X.shape[1], k), 0)

    return send


def _axes(X: NDArray, counts: list[int], random_state) -> Sender:
    from unweave.compress.pca import PCA

    n, m = X.shape
    model = PCA(min(n, m, counts[-1]), random_state=random_state).fit(X)
    U = model.transform(X)

    def send(k, arrive):
        if k > min(n, m):
            return None
        received = arrive(U[:, :k]) @ arrive(model.components_[:k]) + arrive(model.mean_)
        return Sent(received, n * k, 0.0, (k + 1) * m)

    return send


def _atoms(X: NDArray, counts: list[int], random_state) -> Sender:
    """Atoms learned for the rows without their means, of which each takes a few: the mean is a number of its code."""
    from unweave.compress.coding import DictionaryLearning, SparseCoder

    n, m = X.shape
    means = X.mean(axis=1, keepdims=True)
    rows, size = X - means, min(_ATOMS * m, n)
    usual = min(max(1, counts[len(counts) // 2] - 1), size, max(1, m - 1))
    learning = DictionaryLearning(size, n_nonzero=usual, max_iter=_ROUNDS, tol=1e-3, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a dictionary that is compared need not have settled to the last digit
        atoms = learning.fit(rows).components_

    def send(k, arrive):
        few = k - 1
        if few > min(size, m):
            return None
        received = arrive(means) + np.zeros_like(X)
        if few:
            received += arrive(as_dense(SparseCoder(atoms, n_nonzero=few).fit(rows).codes_)) @ arrive(atoms)
        return Sent(received, n * k, n * log2_choices(size, few), size * m)

    return send


LEARNED: dict[str, Callable[[NDArray, list[int], Any], Sender]] = {"pca": _axes, "dictionary": _atoms}
