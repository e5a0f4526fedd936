"""Fit, decode and score hidden Markov models."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import generator, number, whole
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.group.markov.chain import Chain, draw
from unweave.group.markov.choice import choose_states
from unweave.group.markov.emissions import (
    GAUSSIANS,
    Emission,
    Spread,
    Symbols,
    one_gaussian,
    one_symbol_table,
    spread_of,
)
from unweave.group.markov.fit import BaumWelch, MakeChain, Priors, baum_welch
from unweave.group.markov.input import check_rows, check_symbols, read_sequences, refuse_lengths_as_y
from unweave.group.markov.segments import cut
from unweave.group.markov.start import gaussian_start, given_start, symbols_start, within_clusters
from unweave.group.markov.sweep import posterior, step_scores
from unweave.group.markov.viterbi import most_probable, path_score
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.plan import Plan

_TRIES = {"gaussian": 6, "discrete": 8}  # starts that race
_NO_SPREAD = Spread(np.zeros(1), np.ones(1), np.ones(1))  # needed by fits alone


class HiddenMarkov(Model, DensityMixin, BaseEstimator):
    """Explain the rows of a sequence by hidden states z that follow a Markov chain.

    p(X, z) = π_{z₁} Π_t A_{z_t, z_{t+1}} Π_t p(x_t | z_t), with p(x | k) a Gaussian or a table of symbols. Fitted by
    Baum–Welch: minimises −log p(X) − log prior, which never rises. Use it for rows in order of time whose regime
    changes now and then; for rows without order use a mixture.

    The rows of X are one sequence unless `lengths` says where each of several ends, and X may be a list of tables, one
    per sequence. A sequence of one step is fine, one of none is refused.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of states. "auto" takes that with the best criterion on 20 000 rows at most, in stretches of 1000 that
        are spread evenly, kept as ``choice_``: for Gaussian states BIC, in which a parameter of a state costs the
        logarithm of the rows of that state; for discrete ones the price of Hannan and Quinn, 1.2 log log n.
    emission : {"gaussian", "discrete"}, default="gaussian"
        Discrete: X is one column of symbols 0 … S − 1, or a list of sequences of them.
    covariance_type : {"diag", "full"}, default="diag"
    missing : None or "nan", default=None
        With "nan", a step that is all NaN tells nothing of its state; with Gaussian states of diagonal covariance
        single entries may be missing as well.
    start_prior, transition_prior : float, default=1e-3
        Pseudo-counts added to each first state and each transition, so that a state never visited keeps a valid row.
    emission_prior : float, default=1e-3
        Pseudo-count of each symbol; for Gaussian states that many pseudo-rows with the variance of each column within
        k clusters of the rows, which keeps covariances from collapsing (the likelihood is unbounded without).
    n_init : int, optional
        Starts that race on 20 000 rows at most (20 steps, then twice as many for the better half, and so on); the best
        goes on with all rows, and iterations are counted from there. By default 6 for Gaussian states (k-means, rows
        far apart, any rows) and 8 for discrete ones (random shares, states that stay more or less often).
    init : dict, optional
        Arrays to begin with instead: ``start`` (k,), ``transition`` (k, k), and ``means`` and ``covariances``, or
        ``probabilities`` (k, symbols).
    max_iter : int, default=200
    tol : float, default=1e-4
        Stop when a step gains no more than this share of what the states explain: log p(X) beyond that of a single
        state, counted as one nat at least and as one per row at most. So a fit does not end at a saddle, where all
        states are alike; 0 never stops early.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    start_probabilities_ : array (k,)
    transition_matrix_ : array (k, k)
        p(next state | state), rows add up to one.
    means_, covariances_ : arrays
        Of Gaussian states; covariances are (k, m) or (k, m, m).
    emission_probabilities_ : array (k, symbols)
        Of discrete states.
    components_ : array
        The means or the emission probabilities.
    labels_ : array (n,)
        The most probable path of the training sequences.
    n_parameters_ : int
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import HiddenMarkov
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([0.0, 5.0, 0.0], 50)[:, None] + rng.normal(size=(150, 1))
    >>> model = HiddenMarkov(2).fit(X)
    >>> int((np.diff(model.labels_) != 0).sum())
    2
    >>> model.transition_matrix_.diagonal().min().round(2)
    np.float64(0.98)

    References
    ----------
    Rabiner (1989), A tutorial on hidden Markov models. Baum et al. (1970), A maximization technique.
    """

    _takes_cluster = False

    def __init__(
        self,
        n_components=2,
        *,
        emission="gaussian",
        covariance_type="diag",
        missing=None,
        start_prior=1e-3,
        transition_prior=1e-3,
        emission_prior=1e-3,
        n_init=None,
        init=None,
        max_iter=200,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.emission = emission
        self.covariance_type = covariance_type
        self.missing = missing
        self.start_prior = start_prior
        self.transition_prior = transition_prior
        self.emission_prior = emission_prior
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _size(self, n: int) -> int:
        """Return the number of states, at most one per row."""
        k = self._number()
        if k > n:
            raise ValueError(f"n_samples={n} should be >= n_components={k}: use fewer states")
        return k

    @chooses
    def fit(self, X, y=None, *, lengths=None, client=None):
        """Fit by Baum–Welch from the best start.

        Parameters
        ----------
        X : array or data frame of all rows in order, or a list of such tables, one per sequence
        y : ignored
        lengths : list of int, optional
            Rows of each sequence, by name; all rows are one sequence if it is not given.
        client : None
            This model works on all rows in one place, and cannot use a cluster.
        """
        refuse_lengths_as_y(X, y)
        with fitting(self, client):
            rows, lengths = read_sequences(self, X, lengths, reset=True)
            k = self._size(int((~np.isnan(rows).all(axis=1)).sum()))
            run = Run(self, rows, lengths)
            tries = self._n_starts(k)
            scheme = self._scheme(rows, lengths, k, tries)
            state = run.through(scheme)
            self._publish(scheme.chain(state), int(state["run_up"]))
            self.plan_ = self._plan(scheme, len(lengths), tries)
            self.labels_ = most_probable(rows, chain_of(self), scheme.segments, self._run_up)
            run.close(float(run.history.objective[-1]))
        return self

    def _n_starts(self, k: int) -> int:
        """Count the starts that race: one where the user gives it, or where there is one state."""
        if self.emission not in _TRIES:
            raise ValueError(f"emission={self.emission!r} is not known; use 'gaussian' or 'discrete'")
        tries = _TRIES[self.emission] if self.n_init is None else whole(self.n_init, "n_init", 1)
        return 1 if self.init is not None or k == 1 else tries

    def _scheme(self, rows: NDArray, lengths: NDArray, k: int, tries: int) -> BaumWelch:
        """Make the scheme that fits k states to these rows."""
        if self.covariance_type not in GAUSSIANS:
            raise ValueError(f"covariance_type={self.covariance_type!r} is not known; use 'diag' or 'full'")
        one: Any
        make: MakeChain
        if self.emission == "discrete":
            one = one_symbol_table(check_symbols(rows, k, None))
            make = partial(symbols_start, one, k)
        else:
            check_rows(rows, self.covariance_type)
            one = one_gaussian(self.covariance_type, within_clusters(rows, spread_of(rows), k))
            make = partial(gaussian_start, one, k)
        if self.init is not None:
            given = given_start(self.init, one, k)

            def make(rows, lengths, rng, trial):
                return given

        priors = (number(getattr(self, name), name) for name in ("start_prior", "transition_prior", "emission_prior"))
        return baum_welch(rows, lengths, k, one, Priors(*priors), make, tries, number(self.tol, "tol"))

    def _publish(self, chain: Chain, run_up: int) -> None:
        """Set what was learned."""
        k, found = chain.n_states, chain.emission.arrays()
        self.start_probabilities_, self.transition_matrix_ = chain.start, chain.transition
        if self.emission == "discrete":
            self.emission_probabilities_ = self.components_ = found["probabilities"]
        else:
            self.means_, self.covariances_ = found["means"], found["covariances"]
            self.components_ = self.means_
        self.n_components_ = k
        self.n_parameters_ = k - 1 + k * (k - 1) + chain.emission.n_parameters()
        self._run_up = run_up

    def _plan(self, scheme: BaumWelch, n_sequences: int, tries: int) -> Plan:
        """Say in words what the fit did."""
        n, d = scheme.X.shape
        ours = "random shares" if self.emission == "discrete" else "k-means of single rows"
        if scheme.segments.opens.all():
            how = "sequences are short enough to be run side by side whole"
        elif self._run_up:
            how = (
                f"long sequences are cut into {len(scheme.segments)} segments, each entered by a run-up of "
                f"{self._run_up} steps"
            )
        else:
            how = "the chain forgets too slowly for run-ups: boundaries of segments are found from end to end"
        tried = [] if tries == 1 else [f"{tries} starts, of which the best went on"]
        sequences = f"{n_sequences} sequence{'s' * (n_sequences > 1)}"
        told = f"{n}×{d} rows in {sequences}, {self.n_components_} states ({self.emission})"
        return Plan(told, "Baum–Welch", "", "", ours if self.init is None else "given", [*tried, how])

    def _choose_number(self, X, y=None, *, lengths=None):
        """Choose the number of states for ``n_components="auto"``."""
        refuse_lengths_as_y(X, y)
        return choose_states(self, *read_sequences(clone(self), X, lengths, reset=True))

    def fit_predict(self, X, y=None, *, lengths=None):
        """Fit, and return the most probable path of the training sequences."""
        return self.fit(X, y, lengths=lengths).labels_

    def _asked(self, X, lengths):
        """Read (rows, chain, segments, run-up, lengths) of new sequences."""
        check_is_fitted(self)
        rows, lengths = read_sequences(self, X, lengths, reset=False)
        chain = chain_of(self)
        if self.emission == "discrete":
            check_symbols(rows, chain.n_states, self.emission_probabilities_.shape[1])
        else:
            check_rows(rows, self.covariance_type)
        return rows, chain, cut(lengths, chain.n_states), self._run_up, lengths

    def predict(self, X, lengths=None):
        """Find the state of every row on the most probable path of its sequence (Viterbi).

        For the state that is most probable at each step by itself, take ``predict_proba(X).argmax(axis=1)``.
        """
        return self.decode(X, lengths)[1]

    def decode(self, X, lengths=None):
        """Find (log p(X, path), path) of the most probable path, by Viterbi."""
        with single_blas():
            rows, chain, segments, run_up, lengths = self._asked(X, lengths)
            path = most_probable(rows, chain, segments, run_up)
            return path_score(rows, chain, path, lengths), path

    def predict_proba(self, X, lengths=None):
        """Compute p(state | all rows of the sequence) for every row, by forward–backward."""
        with single_blas():
            return posterior(*self._asked(X, lengths)[:4])

    def score_samples(self, X, lengths=None):
        """Compute log p(x_t | rows before it in its sequence) for every row; a step that was not observed has 0."""
        with single_blas():
            return step_scores(*self._asked(X, lengths)[:4])

    def score(self, X, y=None, *, lengths=None) -> float:
        """Average :meth:`score_samples`: log p(X) for each row."""
        return float(self.score_samples(X, lengths).mean())

    def anomaly_score(self, X, lengths=None):
        """Compute −log p(x_t | rows before it): higher is stranger, given what came before."""
        return -self.score_samples(X, lengths)

    def aic(self, X, lengths=None) -> float:
        """Compute Akaike's criterion −2 log p(X) + 2 p, lower is better."""
        return float(-2 * self.score_samples(X, lengths).sum() + 2 * self.n_parameters_)

    def bic(self, X, lengths=None) -> float:
        """Compute the Bayesian criterion −2 log p(X) + p log n, lower is better; n counts the rows."""
        scores = self.score_samples(X, lengths)
        return float(-2 * scores.sum() + np.log(len(scores)) * self.n_parameters_)

    def sample(self, n_samples=1, random_state=None):
        """Draw (X, states) of one new sequence of that many steps."""
        check_is_fitted(self)
        return draw(chain_of(self), whole(n_samples, "n_samples", 1), generator(random_state))

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
        check_arrays(self, looked_at)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "nan"
        return tags


def chain_of(model) -> Chain:
    """Make the chain of a fitted model."""
    if model.emission == "discrete":
        emission: Emission = Symbols(model.emission_probabilities_)
    else:
        # Copies, because the arrays of a loaded model may be read-only, for which kernels would be compiled anew.
        kind = GAUSSIANS[model.covariance_type]
        emission = kind(np.array(model.means_), np.array(model.covariances_), _NO_SPREAD)
    return Chain(model.start_probabilities_, model.transition_matrix_, emission)


def check_arrays(model, looked_at: bool) -> None:
    """Raise ValueError unless the arrays of a loaded model fit together."""
    k, d = model.n_components_, model.n_features_in_
    if type(k) is not int or type(d) is not int or min(k, d) < 1 or type(model._run_up) is not int or model._run_up < 0:
        raise ValueError("n_components_, n_features_in_ and the run-up must be whole numbers")
    shapes: dict[str, tuple] = {"start_probabilities_": (k,), "transition_matrix_": (k, k)}
    if model.emission == "discrete":
        shapes["emission_probabilities_"] = (k, np.shape(model.emission_probabilities_)[-1])
    elif model.emission == "gaussian" and model.covariance_type in GAUSSIANS:
        shapes["means_"] = (k, d)
        shapes["covariances_"] = (k, d) if model.covariance_type == "diag" else (k, d, d)
    else:
        raise ValueError("the emission of the model is not known")
    for name, shape in shapes.items():
        array = getattr(model, name)
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
            raise ValueError(f"{name} should be numbers of the shape {shape}")
        if looked_at and not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite")
