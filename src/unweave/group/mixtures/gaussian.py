"""Fit mixtures of Gaussians, and tell which of their components stand apart.

All stationary points of the density of two Gaussians lie on their ridge, x(a) = S(a)⁻¹ ((1 − a) P₁ μ₁ + a P₂ μ₂) with
S(a) = (1 − a) P₁ + a P₂ and precisions P, for a from 0 to 1. Where the density falls between two heights on it, they
stand apart; else they lie side by side in one shape.

Reference: Ray and Lindsay (2005), The topography of multivariate normal mixtures.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import generator, number, whole
from unweave.group.mixtures import shapes
from unweave.group.mixtures.base import BaseMixture
from unweave.group.mixtures.family import GaussianFamily, first_state

# Nats by which the density may fall between components of one shape. A stretch of even density that is cut into
# Gaussians falls by 1.5 − log 2 = 0.81 between two of them, however long the pieces are; a fit is not as even: to a
# quarter. A bound from that law, looked at on made rings, spirals and blobs.
_FALL = float(np.log(4))
_PLACES = np.linspace(0.0, 1.0, 21)


class GaussianMixture(BaseMixture):
    """Fit p(x) = Σ_c π_c N(x; μ_c, Σ_c) by EM to the most likely parameters; the codes of a row are p(c | x).

    Use it for clusters of different size, shape and density, for densities and for anomalies; KMeans is the limit of
    equal spherical components whose variance vanishes. With ``missing="nan"`` the likelihood is that of the entries
    seen: holes take part by their conditional means and covariances, given the rest of their row. A full step is two
    matrix products on the pool, unless bounds on rounding ask for the slower form.

    The likelihood of a density has no upper limit (a component may shrink onto one point), hence `reg_covar`. The
    bound in ``history_`` never falls: a step that would lower it is not taken. A component that explains nothing any
    more becomes one half of the heaviest, split along its longest axis, if that does not lower the bound; otherwise it
    keeps its place with weight 0. Computed in float64 whatever X is; the codes have the type of X.

    Parameters
    ----------
    n_components : int or "auto", default=1
        "auto" takes the number with the best BIC (:func:`unweave.select.auto_count`), kept as ``choice_``. It looks
        beyond 20 only while components stand apart; rings or crescents have no number, and ``choice_.note`` says so.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Each component its own matrix, all one matrix, own variances of columns, or one own variance.
    covariances : array or float, optional
        Covariances that are not learned, in the shape of ``covariances_`` (a number for spherical ones: soft k-means).
    reg_covar : float, default=1e-6
        Added to the diagonals of the covariances, in squared units of X as in scikit-learn.
    init : {"k-means", "random"}, array (k, m) or dict, default="k-means"
        Rows (20 000 of them at most) go to the nearest centre of k-means or of random rows. An array gives the means,
        with equal weights; a dict may hold "means", "weights" and "covariances".
    n_init : int, default=1
        Starts, each run to its end; the most likely answer is kept. The first is that of ``n_init=1``, so more starts
        never end lower; for "k-means" the others take rows far apart, any rows, and k-means without repair in turn.
    missing : None, "nan", "zeros", "auto" or mask, default=None
    max_iter : int, default=200
    tol : float, default=1e-4
        Stop when a step raises the mean of log p(x) by no more than this; 0 never stops early.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. The objective they see is minus the mean of log p(x).

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : arrays
        As in scikit-learn; ``components_`` is ``means_``.
    codes_, labels_ : arrays (n, k) and (n,)
        Probabilities of the components for the training rows (None when fitted from blocks), and the most probable.
    lower_bound_, converged_, n_components_, n_parameters_
    objective_, n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import GaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (300, 1)), rng.normal(8, 2, (100, 1))])
    >>> model = GaussianMixture(2).fit(X)
    >>> order = model.means_[:, 0].argsort()
    >>> model.weights_[order].round(2)
    array([0.75, 0.25])
    >>> bool(model.anomaly_score([[40.0]])[0] > model.anomaly_score(X).max())
    True

    References
    ----------
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm. Ghahramani and
    Jordan (1994), Supervised learning from incomplete data via an EM approach.
    """

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        covariances=None,
        reg_covar=1e-6,
        init="k-means",
        n_init=1,
        missing=None,
        max_iter=200,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.covariances = covariances
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _cost_family(self, complete):
        return "gaussian" if self.covariance_type in ("full", "tied") else "gaussian-diagonal"

    def _family(self, k, d):
        kind = self.covariance_type
        if not isinstance(kind, str) or kind not in shapes.SHAPES:
            raise ValueError(f"covariance_type={kind!r} is not known; use one of {', '.join(shapes.SHAPES)}")
        given = self.covariances
        if given is not None:
            given = shapes.check_covariances(kind, given, k, d)
        return GaussianFamily(kind, number(self.reg_covar, "reg_covar"), given)

    def _begin(self, family, rows, k, em, rng, trial):
        return first_state(family, em, rows, self.init, k, rng, trial)

    def _parameters(self):
        return {"weights": self.weights_, "means": self.means_, "covariances": self.covariances_}

    def _shapes(self, k, d):
        return {**super()._shapes(k, d), "covariances": shapes.shape_of(self.covariance_type, k, d)}

    def _publish(self, state):
        kind, (k, d) = self.covariance_type, state["means"].shape
        self.weights_, self.means_, self.covariances_ = state["weights"], state["means"], state["covariances"]
        self.components_ = self.means_
        self.precisions_cholesky_ = shapes.precision_factors(kind, self.covariances_)
        self.precisions_ = shapes.precisions(kind, self.precisions_cholesky_)
        self.n_parameters_ = k - 1 + k * d + (shapes.n_parameters(kind, k, d) if self.covariances is None else 0)

    def _groups_apart(self) -> int:
        """Count the groups that the components form, those that lie side by side taken as one."""
        k, d = self.means_.shape
        factors = shapes.each(self.covariance_type, self.precisions_cholesky_, k, d)
        return groups_apart(self.weights_, self.means_, factors)

    def _reasons(self):
        fixed = ", as given" if self.covariances is not None else f", at least {self.reg_covar:g}"
        return [f"{self.covariance_type} covariances{fixed}"]

    def sample(self, n_samples=1, random_state=None):
        """Draw new rows.

        Parameters
        ----------
        n_samples : int
        random_state : None, int or generator
            None is a fixed seed: pass a number or a generator for other draws.

        Returns
        -------
        X, labels : arrays (n, m) and (n,)
        """
        check_is_fitted(self)
        n, rng = whole(n_samples, "n_samples", 1), generator(random_state)
        k, d = self.means_.shape
        labels = np.sort(rng.choice(k, n, p=self.weights_ / self.weights_.sum()))
        noise = rng.standard_normal((n, d))
        factors = shapes.each(self.covariance_type, self.precisions_cholesky_, k, d)
        for c in range(k):
            own = labels == c
            # Σ⁻¹ = T·T', so x = T⁻ᵀ·e has the covariance Σ
            e = noise[own]
            noise[own] = np.linalg.solve(factors[c].T, e.T).T if shapes.dense(self.covariance_type) else e / factors[c]
        return self.means_[labels] + noise, labels


def groups_apart(weights: NDArray, means: NDArray, factors: NDArray) -> int:
    """Count the groups of components, joined where the density does not fall much between two.

    Parameters
    ----------
    weights, means : arrays (k,) and (k, d)
    factors : array (k, d, d) or (k, d)
        Square roots T of the precisions T·Tᵀ, or those of diagonal ones.

    Examples
    --------
    >>> ones = np.ones((3, 1))
    >>> groups_apart(np.full(3, 1 / 3), np.array([[0.0], [3.0], [9.0]]), ones)
    2
    """
    heavy = weights > 0
    weights, means, factors = weights[heavy], means[heavy], factors[heavy]
    k = len(weights)
    together = np.eye(k, dtype=bool)
    for one in range(k - 1):
        others = np.arange(one + 1, k)
        together[one, others] = _falls(weights, means, factors, one, others) <= _FALL
    return int(connected_components(together, directed=False)[0])


def _falls(weights: NDArray, means: NDArray, factors: NDArray, one: int, others: NDArray) -> NDArray:
    """Measure by how many nats the density of component `one` and each of `others` falls on their ridge."""
    logs = []
    for place in _PLACES:
        x = _ridge(means, factors, one, others, place)
        own = _log_density(weights[one], means[one], factors[one], x)
        logs.append(np.logaddexp(own, _log_density(weights[others], means[others], factors[others], x)))
    heights = np.array(logs)
    before = np.maximum.accumulate(heights, axis=0)
    after = np.maximum.accumulate(heights[::-1], axis=0)[::-1]
    return (np.minimum(before, after) - heights).max(axis=0)


def _ridge(means: NDArray, factors: NDArray, one: int, others: NDArray, place: float) -> NDArray:
    """Find the points of the ridges at one place between component `one` and each of `others`."""
    mine, theirs = factors[one], factors[others]
    if factors.ndim == 2:
        P, Q = (1 - place) * mine**2, place * theirs**2
        return (P * means[one] + Q * means[others]) / (P + Q)
    P, Q = (1 - place) * (mine @ mine.T), place * (theirs @ theirs.transpose(0, 2, 1))
    pull = P @ means[one] + np.einsum("cij,cj->ci", Q, means[others])
    return np.linalg.solve(P + Q, pull[..., None])[..., 0]


def _log_density(weight: NDArray, mean: NDArray, factor: NDArray, x: NDArray) -> NDArray:
    """Compute log π N(x), but for a constant, of one component or of one for each x."""
    apart = x - mean
    if factor.ndim == mean.ndim:
        return np.log(weight) + np.log(factor).sum(axis=-1) - 0.5 * ((apart * factor) ** 2).sum(axis=-1)
    white = np.einsum("...i,...ij->...j", apart, factor)
    scale = np.log(np.abs(np.diagonal(factor, axis1=-2, axis2=-1))).sum(axis=-1)
    return np.log(weight) + scale - 0.5 * (white**2).sum(axis=-1)
