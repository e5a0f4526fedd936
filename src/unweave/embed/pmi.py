"""Words as vectors whose products are their pointwise mutual information (PMI), by one decomposition."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unweave.data.arguments import number
from unweave.data.text.counting import canonical_csr
from unweave.embed.base import Embedding, table_of_pairs
from unweave.embed.vectors import Vectors
from unweave.factorization.run import Run, fitting
from unweave.losses import Squared
from unweave.objectives import Sparse
from unweave.penalties import Free, Orthonormal
from unweave.solve.closed import ClosedForm
from unweave.solve.plan import Plan, spectral_words
from unweave.solve.problem import Problem


class PMIEmbedding(Embedding):
    """Learn a vector for each word from how much more often words meet than by chance, by a truncated SVD.

    M_ij = max(0, log(p(i, j)/(p(i)·p_s(j))) − log shift) ≈ U·Σ·Vᵀ, zero for pairs that never meet; p_s(j) grows as
    (pairs of context j)^smoothing. Vectors are U·Σ^exponent. It is what skip-gram with `shift` negatives aims at, by
    linear algebra: there is no start and no rate to set.

    Parameters
    ----------
    n_components : int, default=100
        As many as there are symbols at most.
    window : int, default=5
    min_count, max_vocabulary, side, weights, lowercase
        As in :class:`unweave.Cooccurrence`; a fitted one may be given to `fit` in place of texts.
    positive : bool, default=True
        Drop what meets less often than by chance; False keeps these pairs, of those that meet at all.
    shift : float, default=1
        log shift is taken off, as if each pair had so many negative samples; more than 1 keeps fewer pairs.
    smoothing : float, default=0.75
        Exponent of the counts of contexts; below 1 rare contexts count less.
    exponent : float, default=0.5
        Of the singular values in the vectors: 1 gives the best products with orthonormal contexts, 0 equal weight to
        all components.
    max_iter, tol, random_state, callback, checkpoint, verbose
        Of the decomposition, as in :class:`unweave.TruncatedSVD`.

    Attributes
    ----------
    vectors_ : Vectors
    context_vectors_ : array (symbols, n_components)
        V·Σ^(1 − exponent): products with the vectors are the best approximation of M.
    singular_values_ : array (n_components,)
    vocabulary_ : Vocabulary
    objective_, history_, n_iter_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> from unweave import PMIEmbedding
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = PMIEmbedding(3).fit(texts)
    >>> model.vectors_["cat"].shape
    (3,)

    References
    ----------
    Levy and Goldberg (2014), Neural word embedding as implicit matrix factorization. Levy, Goldberg and Dagan (2015),
    Improving distributional similarity with lessons learned from word embeddings: smoothing and exponent are theirs.
    """

    def __init__(
        self,
        n_components=100,
        *,
        window=5,
        min_count=5,
        max_vocabulary=None,
        side="both",
        weights="harmonic",
        lowercase=True,
        positive=True,
        shift=1.0,
        smoothing=0.75,
        exponent=0.5,
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.window = window
        self.min_count = min_count
        self.max_vocabulary = max_vocabulary
        self.side = side
        self.weights = weights
        self.lowercase = lowercase
        self.positive = positive
        self.shift = shift
        self.smoothing = smoothing
        self.exponent = exponent
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None):
        """Learn from texts, lists of symbols, paths of files, a corpus, or a fitted :class:`unweave.Cooccurrence`."""
        with fitting(self):
            exponent = number(self.exponent, "exponent")
            k = self._number()
            counts, vocabulary, _ = table_of_pairs(self, X)
            table = pmi_table(counts, positive=self.positive, shift=self.shift, smoothing=self.smoothing)
            if k > len(vocabulary):
                raise ValueError(f"n_components={k} is more than the {len(vocabulary)} symbols: ask for fewer")
            run = Run(self, table, vocabulary.counts)
            scheme = ClosedForm(
                Sparse(table, Squared()), Problem(k, Squared(), Free(), Orthonormal()), "auto", run.rng, float(self.tol)
            )
            why = "squared loss, pairs that never meet are zeros: the leading singular vectors are the answer"
            title, reason = spectral_words(scheme, "closed form (singular value decomposition)", why)
            state = run.through(
                scheme,
                Plan(f"PMI of {len(vocabulary)} symbols, {table.nnz} pairs", title, "", "", "none needed", [reason]),
            )
            V, svd = state["components"].T, scheme.svd
            assert svd is not None  # a finished scheme has one
            s = svd.s.astype(np.float64)
            left = scheme.objective.rows_given(np.ascontiguousarray(V.T)).cross  # U·Σ
            self.singular_values_ = svd.s
            self.context_vectors_ = (V * _power(s, 1 - exponent)).astype(V.dtype)
            self.vocabulary_ = vocabulary
            vectors = (left * _power(s, exponent - 1)).astype(V.dtype)
            self.vectors_ = Vectors(vocabulary.symbols, vectors, vocabulary.counts)
            run.close(float(self.history_.objective[-1]))
        return self


def _power(s, exponent: float):
    """Powers of singular values; zero for those that vanish."""
    return np.power(s, exponent, out=np.zeros_like(s), where=s > 1e-6 * s.max(initial=0.0))


def pmi_table(
    counts: sp.csr_array, *, positive: bool = True, shift: float = 1.0, smoothing: float = 0.75
) -> sp.csr_array:
    """Return log(p(i, j)/(p(i)·p_s(j))) − log shift of the pairs that meet, those above zero if `positive`; float32.

    >>> pmi_table(sp.csr_array([[0.0, 2.0], [2.0, 4.0]]), smoothing=1.0).toarray().round(3)
    array([[0.   , 0.288],
           [0.288, 0.   ]], dtype=float32)
    """
    if not isinstance(positive, bool):
        raise TypeError(f"positive must be True or False, got {positive!r}")
    if number(shift, "shift") <= 0:
        raise ValueError(f"shift must be above 0, got {shift}")
    rows, columns = np.asarray(counts.sum(axis=1)).ravel(), np.asarray(counts.sum(axis=0)).ravel()
    contexts = columns ** number(smoothing, "smoothing")
    contexts[columns == 0] = 0
    with np.errstate(divide="ignore"):
        of_rows, of_columns = np.log(rows), np.log(contexts / contexts.sum()) + np.log(shift)
    values = np.log(counts.data)
    values -= np.repeat(of_rows, np.diff(counts.indptr))
    values -= of_columns[counts.indices]
    if not positive:
        return canonical_csr(values.astype(np.float32), counts.indices, counts.indptr, counts.shape)
    kept = values > 0
    if not kept.any():
        raise ValueError("no pair meets more often than by chance: set positive=False, or a smaller shift")
    ends = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
    return canonical_csr(values[kept].astype(np.float32), counts.indices[kept], ends, counts.shape)
