"""Gaussian mixtures."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unweave.factorization.settings import generator, number, whole
from unweave.group import gaussian_shapes as shapes
from unweave.group import gaussian_start as start
from unweave.group.gaussian_family import GaussianFamily
from unweave.group.gaussian_ridges import groups_apart
from unweave.group.mixture_base import BaseMixture


class GaussianMixture(BaseMixture):
    """p(x) = Σ_c π_c N(x; μ_c, Σ_c), the most likely parameters by EM; the codes of a row are p(c | x).

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

    def _family(self, k, d):
        kind = self.covariance_type
        if not isinstance(kind, str) or kind not in shapes.SHAPES:
            raise ValueError(f"covariance_type={kind!r} is not known; use one of {', '.join(shapes.SHAPES)}")
        given = self.covariances
        if given is not None:
            given = shapes.check_covariances(kind, given, k, d)
        return GaussianFamily(kind, number(self.reg_covar, "reg_covar"), given)

    def _begin(self, family, em, rows, k, rng, trial):
        return start.begin(family, em, rows, self.init, k, rng, trial)

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
        """How many groups the components form, those that lie side by side taken as one."""
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
