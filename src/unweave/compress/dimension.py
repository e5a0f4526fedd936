"""Find how many numbers the rows of a table really differ in, and whether distances between them still say much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave.compress.how_many import bend_of
from unweave.data.arguments import generator, whole
from unweave.data.table import check_table, refuse_blocks
from unweave.parallel import single_blas
from unweave.solve.spectrum import squared_spectrum

_ROWS = 5000  # whose neighbours are looked for
_PAIRS = 200_000  # whose distances are looked at
_PIECE = 1 << 22  # entries of differences that are held at once


@dataclass(frozen=True)
class IntrinsicDimension:
    """An estimate of the intrinsic dimension; prints as a sentence, and ``float(…)`` gives the number.

    Attributes
    ----------
    dimension : float
    method : {"knee", "correlation", "likelihood"}
    n_rows, n_columns : int
        Different rows, and columns that are not constant, that it was estimated from.
    local : array or None
        Estimates at single rows ("likelihood"), in the order of the rows looked at; None for other methods.
    note : str
        What was left out, or why the number should be read with care.
    """

    dimension: float
    method: str
    n_rows: int
    n_columns: int
    local: NDArray[np.float64] | None = field(default=None, repr=False)
    note: str = ""

    def __float__(self) -> float:
        return self.dimension

    def __str__(self) -> str:
        said = f"About {self.dimension:.3g} dimensions by {self.method}, from {self.n_rows} different rows"
        said += f" of {self.n_columns} columns"
        return f"{said}. {self.note}" if self.note else f"{said}."


def intrinsic_dimension(X, method="likelihood", *, n_neighbors=20, random_state=0) -> IntrinsicDimension:
    """How many numbers the rows of a table differ in, however many columns they are written in.

    A sheet that is rolled up in 50 columns has two. Three ways to find out:

    - ``"likelihood"``: the distances T₁ ≤ … ≤ T_k of a row to its k nearest grow like those of points spread evenly in
      d dimensions, so 1/d = mean over rows and j < k of log(T_k / T_j). The inverses of the rows are averaged (MacKay
      and Ghahramani), not their estimates. Sees curved shapes. Use it first.
    - ``"correlation"``: pairs of rows closer than r grow like r^d; d by maximum likelihood over all pairs closer than
      the median distance to the k-th neighbour (Takens). Rows in dense places count more.
    - ``"knee"``: how many variances of the principal axes lie before the bend of their curve. A whole number, from all
      rows at once; a sheet that is rolled up counts the dimensions it is rolled in. Every column's unit counts.

    The first two are too low where d is large against the number of rows: a dozen dimensions need thousands of rows.
    Rows that are there several times count once, and constant columns not at all; a table whose rows are all the same
    has dimension 0. Of more than 5000 different rows the neighbours of 5000, drawn at random, are looked at.

    Parameters
    ----------
    X : array or data frame
        Every entry observed; ``"knee"`` takes sparse tables, too.
    method : {"likelihood", "correlation", "knee"}, default="likelihood"
    n_neighbors : int, default=20
        k above. Fewer see finer and are noisier. Of a table of few rows all others are taken.
    random_state : int, RandomState instance or None, default=0
        Draws rows.

    Returns
    -------
    IntrinsicDimension

    Examples
    --------
    >>> import numpy as np, unweave
    >>> t = np.random.default_rng(0).random((1000, 2))
    >>> X = np.c_[np.cos(t[:, 0]), np.sin(t[:, 0]), t[:, 1], t[:, 1] ** 2]  # a bent sheet in four columns
    >>> round(float(unweave.intrinsic_dimension(X)), 1)
    1.9

    References
    ----------
    Levina and Bickel (2005), Maximum likelihood estimation of intrinsic dimension. MacKay and Ghahramani (2005),
    Comments on it. Takens (1985), On the numerical determination of the dimension of an attractor. Satopää et al.
    (2011), Finding a "kneedle" in a haystack.
    """
    if not isinstance(method, str) or method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, _METHODS))}, got {method!r}")
    k, rng = whole(n_neighbors, "n_neighbors", 2), generator(random_state)
    if method == "knee":
        return _by_knee(X)
    values, note = _different(_array(X, "intrinsic_dimension by neighbours"))
    n, m = values.shape
    if n < 2 or m == 0:
        return IntrinsicDimension(0.0, method, n, m, None, note or "All rows are the same.")
    if n < 4:
        raise ValueError(f"X has only {n} different rows: at least 4 are needed to tell a dimension")
    k = min(k, n - 1)
    if n < 10 * k:
        note = f"{note} Few rows for {k} neighbours: a rough number.".strip()
    dimension, local = _METHODS[method](values, k, rng)
    return IntrinsicDimension(dimension, method, n, m, local, note)


def _array(X, what: str) -> NDArray[np.float64]:
    """The table as an array of float64, or an error that names the way out."""
    refuse_blocks(None, X, f" {what}", new=True)
    table = check_table(BaseEstimator(), X, None, reset=True)
    if not isinstance(table.values, np.ndarray):
        raise ValueError(
            f"{what} needs X as an array, not sparse: reduce it with unweave.TruncatedSVD first, or pass X.toarray()"
        )
    if table.shape[0] < 2:
        raise ValueError("X has one row (n_samples=1): at least 2 are needed for a distance")
    return table.values.astype(np.float64)


def _different(X: NDArray) -> tuple[NDArray, str]:
    """The different rows without constant columns, about their middle; what was left out in words."""
    moves = (X[0] != X).any(axis=0)
    rows = np.unique(X[:, moves], axis=0) if moves.any() else X[:1, moves]
    said = []
    if len(rows) < len(X):
        said.append(f"{len(X) - len(rows)} rows were there before and count once.")
    if not moves.all():
        said.append(f"{int((~moves).sum())} constant columns were left out.")
    return rows - rows.mean(axis=0), " ".join(said)


def _by_knee(X) -> IntrinsicDimension:
    refuse_blocks(None, X, " intrinsic_dimension", new=True)
    table = check_table(BaseEstimator(), X, None, reset=True)
    n, m = table.shape
    variances = squared_spectrum(table.values, shift="mean")
    floor = max(n, m) * float(np.finfo(table.values.dtype).eps) * variances[0]  # what rounding makes of nothing
    rank = int(np.sum(variances > floor))
    bend = bend_of(variances, (n, m))
    if rank == 0:
        return IntrinsicDimension(0.0, "knee", n, m, None, "All rows are the same.")
    if bend is None or bend >= rank:
        note = "" if rank < min(n, m) else "The spectrum has no clear bend: all directions count."
        return IntrinsicDimension(float(rank), "knee", n, m, None, note)
    return IntrinsicDimension(float(bend), "knee", n, m)


def _by_likelihood(X: NDArray, k: int, rng) -> tuple[float, NDArray]:
    logs = np.log(_neighbour_distances(X, k, rng)[0])
    inverse = (logs[:, -1:] - logs[:, :-1]).mean(axis=1)
    inverse = np.maximum(inverse, np.finfo(np.float64).tiny)
    return float(1 / inverse.mean()) if inverse.mean() > 1e-12 else float(X.shape[1]), 1 / inverse


def _by_correlation(X: NDArray, k: int, rng) -> tuple[float, None]:
    """Takens: with r the largest distance looked at, 1/d = mean of log(r / distance) over the pairs that are closer."""
    distances, found = _neighbour_distances(X, k, rng)
    radius = float(np.median(distances[:, -1]))
    inside, total = 0, 0.0
    for start in range(0, len(found.rows), 256):
        near = found.model.radius_neighbors(X[found.rows[start : start + 256]], radius, return_distance=False)
        for i, others in zip(found.rows[start : start + 256], near):
            others = others[others != i]
            gaps = np.maximum(np.linalg.norm(X[others] - X[i], axis=1), np.finfo(np.float64).tiny)
            gaps = gaps[gaps < radius]
            inside, total = inside + len(gaps), total + float(np.log(radius / gaps).sum())
    return (inside / total if total > 0 else float(X.shape[1])), None


@dataclass(frozen=True)
class _Found:
    rows: NDArray
    model: Any


def _neighbour_distances(X: NDArray, k: int, rng) -> tuple[NDArray[np.float64], _Found]:
    """Distances of some rows to their k nearest others, nearest first; measured anew, for a search may round them."""
    from sklearn.neighbors import NearestNeighbors

    n = len(X)
    rows = np.arange(n) if n <= _ROWS else np.sort(rng.choice(n, _ROWS, replace=False))
    model = NearestNeighbors(n_neighbors=k + 1).fit(X)
    others = model.kneighbors(X[rows], return_distance=False)
    itself = others == rows[:, None]
    itself[~itself.any(axis=1), -1] = True  # its own place went to one as near: the farthest is one too many
    others = others[~itself].reshape(len(rows), k)
    distances, step = np.empty((len(rows), k)), max(1, _PIECE // (k * X.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        distances[part] = np.linalg.norm(X[others[part]] - X[rows[part], None], axis=2)
    distances.sort(axis=1)
    return np.maximum(distances, np.finfo(np.float64).tiny), _Found(rows, model)


_METHODS: dict[str, Callable] = {"likelihood": _by_likelihood, "correlation": _by_correlation, "knee": _by_knee}


# -- concentration -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Concentration:
    """How much distances between rows differ; prints as a sentence.

    Attributes
    ----------
    mean, variance : float
        Of ‖x − y‖² / Σ_j σ_j² over pairs of rows. The mean is 2 always; the variance is 8/D for Gaussians of D equal
        and independent columns.
    dimension : float
        8 / variance: as many independent Gaussian columns have distances that differ as little.
    contrast : float
        Standard deviation of the distances over their mean.
    n_pairs : int
    """

    mean: float
    variance: float
    dimension: float
    contrast: float
    n_pairs: int

    def __str__(self) -> str:
        return (
            f"Squared distances of {self.n_pairs} pairs of rows have mean {self.mean:.3g} and variance "
            f"{self.variance:.3g} in units of the variance of a row: as those of {self.dimension:.3g} independent "
            f"Gaussian columns. Distances differ by {100 * self.contrast:.2g} % of their mean."
        )


def distance_concentration(X, *, random_state=0) -> Concentration:
    """Whether some rows are nearer to each other than others, or all about equally far.

    The normalised squared distance of two rows is δ = ‖x − y‖² / Σ_j σ_j² with σ_j² the variance of column j. Its mean
    is 2. For D independent Gaussian columns of equal spread it is Gamma distributed with variance 8/D: in high
    dimension all rows are about equally far from each other, and nearest neighbours mean little. Columns that repeat
    each other, and groups, keep the variance up; 8 / variance is the number of independent columns that would have as
    little.

    Parameters
    ----------
    X : array or data frame
        Every entry observed. Columns in unlike units should be brought to one scale first.
    random_state : int, RandomState instance or None, default=0
        Draws 200,000 pairs where there are more.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.random.default_rng(0).normal(size=(600, 40))
    >>> found = unweave.distance_concentration(X)
    >>> round(found.mean, 3), round(found.variance / (8 / 40), 1)
    (2.0, 1.0)

    References
    ----------
    Beyer, Goldstein, Ramakrishnan and Shaft (1999), When is "nearest neighbor" meaningful?
    """
    values, rng = _array(X, "distance_concentration"), generator(random_state)
    values = values - values.mean(axis=0)
    n = len(values)
    spread = float(np.square(values).sum()) / (n - 1)
    if not spread > 0:
        raise ValueError("X has no two different rows: all distances are zero")
    pairs = n * (n - 1) // 2
    if pairs <= _PAIRS:
        one, other = np.triu_indices(n, 1)
    else:
        one = rng.integers(0, n, _PAIRS)
        other = (one + rng.integers(1, n, _PAIRS)) % n
    squares, step = np.empty(len(one)), max(1, _PIECE // values.shape[1])
    with single_blas():
        for start in range(0, len(one), step):
            part = slice(start, start + step)
            squares[part] = np.square(values[one[part]] - values[other[part]]).sum(axis=1)
    squares /= spread
    mean, variance, distances = float(squares.mean()), float(squares.var()), np.sqrt(squares)
    dimension = 8 / variance if variance > 0 else float("inf")
    return Concentration(mean, variance, dimension, float(distances.std() / distances.mean()), len(squares))
