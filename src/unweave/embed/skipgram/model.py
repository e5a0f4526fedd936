"""Words as vectors that predict the words around them (skip-gram), or are predicted by them (CBOW)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, whole
from unweave.embed.base import Embedding
from unweave.embed.corpus import Corpus, Vocabulary, read_corpus
from unweave.embed.names import UnknownSymbolError
from unweave.embed.skipgram.descent import PARTS, Descent, Terms
from unweave.embed.skipgram.drawing import Drawing
from unweave.embed.skipgram.inputs import Inputs, Spelling, Windows, Words
from unweave.embed.skipgram.noise import Noise
from unweave.embed.skipgram.words import grown, widened
from unweave.embed.vectors import Vectors
from unweave.factorization.run import Run, fitting
from unweave.solve.plan import Plan


class Predictive(Embedding):
    """Vectors by stochastic descent over a corpus. Subclasses say what predicts what, and list their parameters."""

    n_tokens_: int
    input_vectors_: Any  # these three are None where nobody asked for them
    biases_: Any
    context_biases_: Any

    def fit(self, X, y=None):
        """Learn from texts, lists of symbols, paths of files (each line a text), or a corpus."""
        with fitting(self):
            corpus = read_corpus(
                X, min_count=self.min_count, max_vocabulary=self.max_vocabulary, lowercase=self.lowercase
            )
            self._learn(corpus, None, whole(self.epochs, "epochs", 1), decay=True)
        return self

    def partial_fit(self, X, y=None):
        """Go once over more texts, at the full learning rate: words that are new join the vocabulary.

        A word joins when it occurs `min_count` times in one call; those that are known keep their numbers and go on
        from where they are.
        """
        with fitting(self):
            start, known = None, None
            if hasattr(self, "vectors_"):
                known, start = self.vocabulary_, self._rows()
            corpus = grown(X, known, self.min_count, self.max_vocabulary, self.lowercase)
            self._learn(corpus, start, 1, decay=False)
        return self

    def vector(self, word) -> NDArray[np.float32]:
        """The vector of a word; with `subwords` also of one that was never seen, by the n-grams that it is made of.

        >>> model = SkipGram(4, subwords=(2, 3), min_count=1, random_state=0).fit(["red green", "green blue"] * 3)
        >>> bool((model.vector("blue") == model.vectors_["blue"]).all()), model.vector("bluegreen").shape
        (True, (4,))
        """
        check_is_fitted(self, "vectors_")
        if self.subwords is None or word in self.vectors_:
            return self.vectors_[word]
        # of all that is learned the n-grams alone are needed
        grams = Spelling([], self.subwords, self.buckets).grams(word)
        if not len(grams):
            raise UnknownSymbolError(word, self.vectors_.symbols)
        return self.input_vectors_[grams].mean(axis=0)

    # -- a fit ---------------------------------------------------------------------------------------------------------

    @abstractmethod
    def _inputs(self, spelling: Spelling | None) -> Inputs:
        """What predicts."""

    def _terms(self, epochs: int, decay: bool) -> Terms:
        """The parameters, checked."""
        if self.contexts not in ("separate", "shared"):
            raise ValueError(f"contexts={self.contexts!r} is not known; use 'separate' or 'shared'")
        for name in ("biases", "dynamic_window"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.biases and self.contexts == "shared":
            raise ValueError("biases=True needs contexts of their own: with contexts='shared' leave biases=False")
        rate = number(self.learning_rate, "learning_rate")
        if not rate:
            raise ValueError("learning_rate must be above 0, got 0")
        return Terms(
            negatives=whole(self.negatives, "negatives", 1),
            sharing=whole(self.sharing, "sharing", 1),
            rate=rate,
            decay=decay,
            epochs=epochs,
            biases=self.biases,
            shared=self.contexts == "shared",
        )

    def _spelling(self, vocabulary: Vocabulary) -> Spelling | None:
        if self.subwords is None:
            return None
        if not isinstance(self.subwords, tuple | list) or len(self.subwords) != 2:
            raise ValueError(f"subwords must be None or (shortest, longest) n-gram, got {self.subwords!r}")
        least = whole(self.subwords[0], "subwords[0]", 1)
        most = whole(self.subwords[1], "subwords[1]", least)
        return Spelling(vocabulary.symbols, (least, most), whole(self.buckets, "buckets", 1))

    def _learn(self, corpus: Corpus, start: tuple[NDArray, NDArray] | None, epochs: int, *, decay: bool) -> None:
        terms, vocabulary, k = self._terms(epochs, decay), corpus.vocabulary, self._number()
        threshold = number(0 if self.subsample is None else self.subsample, "subsample")
        drawing = Drawing.of(whole(self.window, "window", 1), self.dynamic_window, vocabulary.counts, threshold)
        noise = Noise.of(vocabulary.counts ** number(self.noise_exponent, "noise_exponent"), PARTS)
        if len(vocabulary) < 2:
            raise ValueError("only one symbol is left, and nothing to tell it from; lower min_count or give more texts")
        if not (np.diff(corpus.bounds) > 1).any():
            raise ValueError(
                "no two symbols stand near each other: sequences have one symbol each once rare ones are dropped; "
                "lower min_count, or give longer sequences"
            )
        spelling = self._spelling(vocabulary)
        run = Run(self, corpus.ids, corpus.bounds, *(start or ()), max_iter=1)
        first = widened(start, len(vocabulary), 0 if spelling is None else spelling.buckets, k, terms, run.rng)
        scheme = Descent(corpus.ids, corpus.bounds, self._inputs(spelling), drawing, noise, terms, first)
        state = run.through(scheme, self._plan(corpus, terms, k))
        self._publish(scheme.tables(state), vocabulary, spelling, k)
        self.n_tokens_ = corpus.n_tokens
        run.close(float(self.history_.objective[-1]))

    def _publish(self, tables: tuple[NDArray, NDArray], vocabulary: Vocabulary, spelling: Spelling | None, k: int):
        """Set what was learned, in arrays of its own without the columns of biases."""
        U, V = tables
        if not (np.isfinite(U).all() and np.isfinite(V).all()):
            raise ValueError("the vectors grew beyond all numbers: lower learning_rate")
        self.vocabulary_ = vocabulary
        self.input_vectors_ = self.biases_ = self.context_biases_ = None
        words = U
        if spelling is not None:
            self.input_vectors_ = np.ascontiguousarray(U[:, :k])
            words = spelling.mean(np.arange(len(vocabulary))).of(U)
        if self.biases:
            self.biases_, self.context_biases_ = words[:, k].copy(), V[:, k + 1].copy()
        self.vectors_ = Vectors(vocabulary.symbols, np.ascontiguousarray(words[:, :k]), vocabulary.counts)
        self.context_vectors_ = np.array(V[:, :k])

    def _rows(self) -> tuple[NDArray, NDArray]:
        """The tables that the vectors came from, with the columns of biases: where `partial_fit` goes on."""
        U = self.vectors_.array if self.input_vectors_ is None else self.input_vectors_
        if not self.biases:
            return U, self.context_vectors_
        own = np.zeros(len(U), np.float32)
        own[len(U) - len(self.biases_) :] = self.biases_
        one, other = np.ones(len(U), np.float32), np.ones(len(self.context_vectors_), np.float32)
        return np.column_stack([U, own, one]), np.column_stack([self.context_vectors_, other, self.context_biases_])

    def _plan(self, corpus: Corpus, terms: Terms, k: int) -> Plan:
        why = f"{PARTS} parts of the words meet in rounds, so that no two threads touch one row"
        return Plan(
            f"{len(corpus.ids)} tokens of {len(corpus.vocabulary)} symbols, {terms.negatives} negatives each "
            f"≈ {k} numbers a symbol",
            f"stochastic descent, {terms.epochs} passes from rate {terms.rate:g}",
            "",
            "",
            "small random vectors",
            [why],
        )


class SkipGram(Predictive):
    """Learn a vector for each word by which the words around it can be told from words drawn at random.

    max Σ log σ(u_w·v_c) + Σ log σ(−u_w·v_c') over each word w and each c within `window` of it, with `negatives`
    words c' drawn as noise. The best u_w·v_c of unlimited size is PMI(w, c) − log negatives, so words that keep the
    same company get the same vector (noise of exponent 1, no sub-sampling).

    Use it for words, and for any symbols that come in sequences (songs, products, walks on a graph), from some hundred
    thousand tokens on. Fewer are better served by :class:`unweave.PMIEmbedding`; :class:`unweave.CBOW` is faster
    and somewhat worse. Answers are the same on any number of threads, to the bit.

    Parameters
    ----------
    n_components : int, default=100
    window : int, default=5
        Most words to each side.
    negatives : int, default=5
        Words drawn as noise for each word that occurs.
    epochs : int, default=5
        Passes over the corpus.
    min_count, max_vocabulary, lowercase
        As in :func:`unweave.read_corpus`.
    subsample : float or None, default=1e-3
        A word of frequency f stays with chance √(t/f) + t/f: of very frequent words only some are looked at.
    noise_exponent : float, default=0.75
        Words are drawn as noise in proportion to this power of their counts.
    dynamic_window : bool, default=True
        Whether the reach is drawn anew for every word, from 1 to `window`, so that near words count more.
    contexts : "separate" or "shared", default="separate"
        Whether words have other vectors v where they are predicted, or one for both.
    biases : bool, default=False
        Whether words have a number of their own on both sides, added to u·v.
    subwords : None or (int, int), default=None
        Shortest and longest n-gram of characters; each has a vector (hashed to `buckets`), and a word is the mean of
        its own and these. :meth:`vector` then knows words never seen. Slower by half or more.
    buckets : int, default=200_000
    sharing : int, default=1
        So many words of a window share their negatives: 1/sharing as many are drawn, and count as much more. 3 is
        half as fast again, and costs a little of the analogies.
    learning_rate : float, default=0.025
        Falls linearly to nearly nothing.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. A callback is asked after two million tokens, and after each pass.

    Attributes
    ----------
    vectors_ : Vectors
        u, by word.
    context_vectors_ : float32 array (words, n_components)
        v.
    biases_, context_biases_ : arrays (words,) or None
    input_vectors_ : array (buckets + words, n_components) or None
        With `subwords`, the vectors of n-grams and, behind them, of words themselves.
    vocabulary_ : Vocabulary
    n_tokens_ : int
        Of the corpus, rare words among them.
    objective_, history_, n_iter_, plan_
        As in :class:`unweave.Factorization`; the objective is the mean loss of a word that occurs with its negatives.

    Examples
    --------
    >>> from unweave import SkipGram
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 5
    >>> model = SkipGram(4, window=2, random_state=0).fit(texts)
    >>> model.vectors_["cat"].shape, model.vocabulary_.symbols[:3]
    ((4,), ['the', 'sat', 'on'])

    References
    ----------
    Mikolov, Sutskever, Chen, Corrado and Dean (2013), Distributed representations of words and phrases. Levy and
    Goldberg (2014), Neural word embedding as implicit matrix factorization. Bojanowski, Grave, Joulin and Mikolov
    (2017), Enriching word vectors with subword information. Gemulla, Nijkamp, Haas and Sismanis (2011), Large-scale
    matrix factorization with distributed stochastic gradient descent (the rounds).
    """

    def __init__(
        self,
        n_components=100,
        *,
        window=5,
        negatives=5,
        epochs=5,
        min_count=5,
        max_vocabulary=None,
        lowercase=True,
        subsample=1e-3,
        noise_exponent=0.75,
        dynamic_window=True,
        contexts="separate",
        biases=False,
        subwords=None,
        buckets=200_000,
        sharing=1,
        learning_rate=0.025,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.window = window
        self.negatives = negatives
        self.epochs = epochs
        self.min_count = min_count
        self.max_vocabulary = max_vocabulary
        self.lowercase = lowercase
        self.subsample = subsample
        self.noise_exponent = noise_exponent
        self.dynamic_window = dynamic_window
        self.contexts = contexts
        self.biases = biases
        self.subwords = subwords
        self.buckets = buckets
        self.sharing = sharing
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _inputs(self, spelling):
        return Words(spelling)


class CBOW(Predictive):
    """Learn a vector for each word so that the mean of a window tells the word in its middle from words at random.

    max Σ log σ(ū·v_w) + Σ log σ(−ū·v_w') over each word w, ū being the mean of u over the words within `window` of it,
    with `negatives` words w' drawn as noise.

    Use it in place of :class:`unweave.SkipGram` where time counts: it looks once at each word, not once at each pair.
    The words of a window move only after a block of some thousand tokens, together.

    Parameters
    ----------
    n_components, window, negatives, epochs, min_count, max_vocabulary, lowercase, subsample, noise_exponent
        As in :class:`unweave.SkipGram`.
    dynamic_window, contexts, biases, subwords, buckets, random_state, callback, checkpoint, verbose
        As in :class:`unweave.SkipGram`.
    learning_rate : float, default=0.025

    Attributes
    ----------
    vectors_, context_vectors_, biases_, context_biases_, input_vectors_, vocabulary_, n_tokens_
        As of :class:`unweave.SkipGram`.
    objective_, history_, n_iter_, plan_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> from unweave import CBOW
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 5
    >>> CBOW(4, window=2, random_state=0).fit(texts).vectors_["dog"].shape
    (4,)

    References
    ----------
    Mikolov, Chen, Corrado and Dean (2013), Efficient estimation of word representations in vector space.
    """

    sharing = 1  # a word that is predicted shares its negatives with nobody

    def __init__(
        self,
        n_components=100,
        *,
        window=5,
        negatives=5,
        epochs=5,
        min_count=5,
        max_vocabulary=None,
        lowercase=True,
        subsample=1e-3,
        noise_exponent=0.75,
        dynamic_window=True,
        contexts="separate",
        biases=False,
        subwords=None,
        buckets=200_000,
        learning_rate=0.025,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.window = window
        self.negatives = negatives
        self.epochs = epochs
        self.min_count = min_count
        self.max_vocabulary = max_vocabulary
        self.lowercase = lowercase
        self.subsample = subsample
        self.noise_exponent = noise_exponent
        self.dynamic_window = dynamic_window
        self.contexts = contexts
        self.biases = biases
        self.subwords = subwords
        self.buckets = buckets
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _inputs(self, spelling):
        return Windows(spelling)
