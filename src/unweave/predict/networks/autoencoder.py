"""The autoencoder: a network that gives back its input through a few numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import generator, number, whole
from unweave.factorization.run import Run, fitting
from unweave.predict.networks.architecture import Chance, Coding, Layers, check_activation
from unweave.predict.networks.backend import torch_for
from unweave.predict.networks.base import check_weights, share, sizes, standardised, train
from unweave.predict.networks.problem import answers
from unweave.predict.predictor import Saved, dense_table


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Saved):
    """Squeeze rows through a few numbers and back, by curved maps: what PCA is, with networks in place of matrices.

    min over encoder ψ and decoder φ of mean ½‖x − φ(ψ(x))‖², columns being brought to mean 0, and all of them together
    to variance 1 (as PCA, it weighs columns by their spread: bring those of different units to one scale before). With
    `noise` the encoder sees x with Gaussian noise added and must give back x without it (denoising autoencoder), so
    that codes follow the shape of the data instead of copying it. With `prior` codes are drawn, and prior·KL(codes ‖
    standard Gaussian) is added (variational autoencoder): near codes then mean alike rows, and ``sample`` makes new
    ones. Use it where PCA needs many components because the rows lie on something curved; it is slower, and not convex.

    It needs torch: ``pip install 'unweave[neural]'``.

    Parameters
    ----------
    n_components : int, default=2
        Numbers of a code.
    hidden_layers : int or tuple of int, default=(100,)
        Units of the encoder's hidden layers; the decoder has them in turned order.
    activation : as of :class:`MLP`, default="tanh"
    noise : float, default=0.0
        Spread of what is added, in spreads of the table.
    prior : float, default=0.0
        How strongly codes are held to a standard Gaussian: 1 is the bound of the likelihood, 0 draws no codes.
    solver, step, decay, schedule, dropout, batch_size, validation, patience, max_iter, tol
        As of :class:`MLP`.
    random_state, callback, checkpoint, verbose
        As of :class:`MLP`.

    Attributes
    ----------
    weights_ : dict of arrays
    mean_, scale_ : arrays (m,)
        Mean of each column, and the spread of all.
    reconstruction_err_ : float
        ‖X − φ(ψ(X))‖ of the fit, in units of X.
    held_out_loss_, objective_, n_iter_, history_, plan_, certificate_
        As of :class:`MLP`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import PCA, Autoencoder
    >>> turn = np.random.default_rng(0).uniform(0, 4, 500)
    >>> X = np.column_stack([np.sin(turn), np.cos(turn)])  # a bent line: one number tells all
    >>> model = Autoencoder(1, solver="l-bfgs", max_iter=200, random_state=0).fit(X)  # doctest: +SKIP
    >>> model.reconstruction_err_ < 0.2 * PCA(1).fit(X).reconstruction_err_  # doctest: +SKIP
    True

    References
    ----------
    Hinton and Salakhutdinov (2006), Reducing the dimensionality of data with neural networks. Vincent, Larochelle,
    Bengio and Manzagol (2008), Extracting and composing robust features with denoising autoencoders. Kingma and Welling
    (2014), Auto-encoding variational Bayes.
    """

    _limits_shape = True

    def __init__(
        self,
        n_components=2,
        *,
        hidden_layers=(100,),
        activation="tanh",
        noise=0.0,
        prior=0.0,
        solver="adam",
        step=None,
        decay=0.0,
        schedule="constant",
        dropout=0.0,
        batch_size=64,
        validation=0.0,
        patience=5,
        max_iter=50,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.hidden_layers = hidden_layers
        self.activation = activation
        self.noise = noise
        self.prior = prior
        self.solver = solver
        self.step = step
        self.decay = decay
        self.schedule = schedule
        self.dropout = dropout
        self.batch_size = batch_size
        self.validation = validation
        self.patience = patience
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None) -> Autoencoder:
        """Train encoder and decoder.

        Parameters
        ----------
        X : array or data frame (n, m)
        """
        with torch_for(type(self).__name__) as torch, fitting(self):
            table = dense_table(self, X, reset=True)
            run = Run(self, table)
            self.mean_, spread = table.mean(axis=0, dtype=np.float64), float(table.std(axis=0, dtype=np.float64).max())
            every = np.sqrt(np.mean(np.square(table - self.mean_, dtype=np.float64))) if spread > 0 else 1.0
            self.scale_ = np.full(len(self.mean_), every)
            Z = standardised(table, self.mean_, self.scale_)
            architecture, prior = self._architecture(), number(self.prior, "prior")
            self._n_features_out = architecture.decoder.sizes[0]
            n, m = table.shape
            kind = "drawn codes" if prior else "codes with noise" if self.noise else "codes"
            what = f"{n}×{m} table → {self._n_features_out} {kind} → {n}×{m} table"
            loss = _loss(prior)
            train(self, torch, architecture, (Z,), Z, loss, run, what, [], share(self.dropout, "dropout"))
            away = np.asarray(table, dtype=np.float64) - self.inverse_transform(self._codes(Z))
            self.reconstruction_err_ = float(np.sqrt((away * away).sum()))
        return self

    def transform(self, X) -> NDArray[np.float64]:
        """The code of each row of X; the mean of it where codes are drawn."""
        check_is_fitted(self)
        table = dense_table(self, X, reset=False)
        return self._codes(standardised(table, self.mean_, self.scale_))

    def inverse_transform(self, U) -> NDArray[np.float64]:
        """Rows that codes stand for, in units of the table."""
        check_is_fitted(self)
        U, k = np.asarray(U, dtype=np.float64), self._n_features_out
        if U.ndim != 2 or U.shape[1] != k:
            raise ValueError(f"U must have {k} columns, one for each number of a code, got the shape {U.shape}")
        decoder = self._architecture().decoder
        with torch_for(type(self).__name__) as torch:
            back = answers(torch, self.weights_, (U,), lambda W, batch: decoder.forward(torch, W, batch, Chance(torch)))
        return back * self.scale_ + self.mean_

    def sample(self, n_samples=1, random_state=None) -> NDArray[np.float64]:
        """Draw new rows: codes from a standard Gaussian, decoded. Needs ``prior > 0``."""
        check_is_fitted(self)
        if not self.prior:
            raise ValueError("sample needs a variational autoencoder: fit with prior=1.0, which says how codes spread")
        n = whole(n_samples, "n_samples", 1)
        return self.inverse_transform(generator(random_state).normal(size=(n, self._n_features_out)))

    def score(self, X, y=None) -> float:
        """The share of the variance of X that codes keep (R²), of all columns together."""
        check_is_fitted(self)
        table = dense_table(self, X, reset=False)
        Z = standardised(table, self.mean_, self.scale_).astype(np.float64)
        away = Z - (self.inverse_transform(self._codes(Z)) - self.mean_) / self.scale_
        spread = float(((Z - Z.mean(axis=0)) ** 2).sum())
        return 1.0 - float((away * away).sum()) / spread if spread else 1.0

    def _codes(self, Z: NDArray) -> NDArray[np.float64]:
        architecture = self._architecture()
        with torch_for(type(self).__name__) as torch:

            def ask(W, batch):
                return architecture.encode(torch, W, batch[0], Chance(torch))[0]

            return answers(torch, self.weights_, (Z,), ask)

    def _architecture(self) -> Coding:
        k, hidden = whole(self.n_components, "n_components", 1), sizes(self.hidden_layers, "hidden_layers")
        activation, m, draws = check_activation(self.activation), self.n_features_in_, number(self.prior, "prior") > 0
        encoder = Layers((m, *hidden, 2 * k if draws else k), activation, "encoder")
        decoder = Layers((k, *reversed(hidden), m), activation, "decoder")
        return Coding(encoder, decoder, draws, number(self.noise, "noise"))

    def _check_loaded(self, looked_at: bool) -> None:
        m = self.n_features_in_
        if type(m) is not int or m < 1 or np.shape(self.mean_) != (m,) or np.shape(self.scale_) != (m,):
            raise ValueError("the columns are not described")
        check_weights(self, self._architecture())


def _loss(prior: float):
    """Half the squares of a row, and how far the codes are from a standard Gaussian."""

    def loss(torch, found, x):
        back, mean, spread = found
        squares = 0.5 * ((back - x) ** 2).sum(dim=1).mean()
        if spread is None:
            return squares
        return squares + prior * 0.5 * (mean**2 + spread.exp() - 1 - spread).sum(dim=1).mean()

    return loss
