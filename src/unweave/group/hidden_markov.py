"""Hidden Markov models."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.utils.validation import check_is_fitted

from unweave.factorization.reportable import Reportable
from unweave.factorization.settings import generator, make_loop, number, whole
from unweave.group.hmm_choice import choose_states
from unweave.group.hmm_fit import Fitting, chain_of, check_arrays
from unweave.group.hmm_input import check_rows, check_symbols, read_sequences, refuse_lengths_as_y
from unweave.group.hmm_sample import draw
from unweave.group.hmm_segments import cut
from unweave.group.hmm_sweep import posterior, step_scores
from unweave.group.hmm_viterbi import most_probable, path_score
from unweave.parallel import single_blas
from unweave.select.auto import Counting, chooses


class HiddenMarkov(Counting, Reportable, DensityMixin, BaseEstimator):
    """Rows of a sequence are shown by hidden states z that follow a Markov chain.

    p(X, z) = π_{z₁} Π_t A_{z_t, z_{t+1}} Π_t p(x_t | z_t), with p(x | k) a Gaussian or a table of symbols. Fitted by
    Baum–Welch: minimises −log p(X) − log prior, which never rises. Use it for rows in order of time whose regime
    changes now and then; for rows without order use a mixture.

    The rows of X are one sequence unless `lengths` says where each of several ends, and X may be a list of tables, one
    a sequence. A sequence of one step is fine, one of none is refused.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of states; "auto" takes that with the best BIC, in which a parameter of a state costs the logarithm of
        the rows of that state, on 20 000 rows at most, in stretches of 1000 that are spread evenly; kept as
        ``choice_``.
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
        state, counted as one nat at least and as one a row at most. So a fit does not end at a saddle, where all states
        are alike; 0 never stops early.
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
        """The number of states, at most one a row."""
        k = self._number()
        if k > n:
            raise ValueError(f"n_samples={n} should be >= n_components={k}: use fewer states")
        return k

    @chooses
    def fit(self, X, y=None, *, lengths=None):
        """Baum–Welch from the best start.

        Parameters
        ----------
        X : array or data frame of all rows in order, or a list of such tables, one a sequence
        y : ignored
        lengths : list of int, optional
            Rows of each sequence, by name; all rows are one sequence if it is not given.
        """
        refuse_lengths_as_y(X, y)
        with single_blas():
            rows, lengths = read_sequences(self, X, lengths, reset=True)
            k = self._size(int((~np.isnan(rows).all(axis=1)).sum()))
            loop = make_loop(self, rows, lengths)
            fitting = Fitting(self, rows, lengths, k)
            fitting.run(loop, generator(self.random_state), number(self.tol, "tol"))
            fitting.publish()
            self.labels_ = most_probable(rows, chain_of(self), fitting.segments, self._run_up)
            if loop.checkpoint is not None and self.history_.stopped != "interrupted":
                loop.checkpoint.remove()
        return self

    def _choose_number(self, X, y=None, *, lengths=None):
        refuse_lengths_as_y(X, y)
        return choose_states(self, *read_sequences(clone(self), X, lengths, reset=True))

    def fit_predict(self, X, y=None, *, lengths=None):
        """Fit, and the most probable path of the training sequences."""
        return self.fit(X, y, lengths=lengths).labels_

    def _asked(self, X, lengths):
        """(rows, chain, segments, run-up, lengths) of new sequences."""
        check_is_fitted(self)
        rows, lengths = read_sequences(self, X, lengths, reset=False)
        chain = chain_of(self)
        if self.emission == "discrete":
            check_symbols(rows, chain.n_states, self.emission_probabilities_.shape[1])
        else:
            check_rows(rows, self.covariance_type)
        return rows, chain, cut(lengths, chain.n_states), self._run_up, lengths

    def predict(self, X, lengths=None):
        """The state of every row on the most probable path of its sequence (Viterbi).

        For the state that is most probable at each step by itself, take ``predict_proba(X).argmax(axis=1)``.
        """
        return self.decode(X, lengths)[1]

    def decode(self, X, lengths=None):
        """(log p(X, path), path) of the most probable path, by Viterbi."""
        with single_blas():
            rows, chain, segments, run_up, lengths = self._asked(X, lengths)
            path = most_probable(rows, chain, segments, run_up)
            return path_score(rows, chain, path, lengths), path

    def predict_proba(self, X, lengths=None):
        """p(state | all rows of the sequence) for every row, by forward–backward."""
        with single_blas():
            return posterior(*self._asked(X, lengths)[:4])

    def score_samples(self, X, lengths=None):
        """log p(x_t | rows before it in its sequence) for every row; a step that was not observed has 0."""
        with single_blas():
            return step_scores(*self._asked(X, lengths)[:4])

    def score(self, X, y=None, *, lengths=None) -> float:
        """Mean of :meth:`score_samples`: log p(X) for each row."""
        return float(self.score_samples(X, lengths).mean())

    def anomaly_score(self, X, lengths=None):
        """−log p(x_t | rows before it): higher is stranger, given what came before."""
        return -self.score_samples(X, lengths)

    def aic(self, X, lengths=None) -> float:
        """Akaike's criterion −2 log p(X) + 2 p, lower is better."""
        return float(-2 * self.score_samples(X, lengths).sum() + 2 * self.n_parameters_)

    def bic(self, X, lengths=None) -> float:
        """Bayesian criterion −2 log p(X) + p log n, lower is better; n counts the rows."""
        scores = self.score_samples(X, lengths)
        return float(-2 * scores.sum() + np.log(len(scores)) * self.n_parameters_)

    def sample(self, n_samples=1, random_state=None):
        """(X, states) of one new sequence of that many steps."""
        check_is_fitted(self)
        return draw(chain_of(self), whole(n_samples, "n_samples", 1), generator(random_state))

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        check_arrays(self, looked_at)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "nan"
        return tags
