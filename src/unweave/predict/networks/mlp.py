"""The multilayer perceptron: fully connected layers for tables."""

from __future__ import annotations

from unweave.predict.networks.architecture import Layers, check_activation
from unweave.predict.networks.base import Network, level_and_spread, sizes, standardised
from unweave.predict.predictor import dense_table


class MLP(Network):
    """Predict classes or amounts by layers of units, x → σ(W·x + b), trained together (multilayer perceptron).

    min over all weights of the mean loss of the outputs: cross-entropy of their softmax for classes, half the squares
    (or absolute, or Huber's loss) for amounts. Use it on tables of numbers with thousands of rows and curved relations
    between many columns; on small tables a kernel machine or a forest is easier to get right. Columns and amounts are
    brought to mean 0 and variance 1 before. The problem is not convex: another `random_state` ends elsewhere.

    It needs torch: ``pip install 'unweave[neural]'``.

    Parameters
    ----------
    hidden_layers : int or tuple of int, default=(100,)
        Units of each hidden layer; ``()`` is a linear model.
    task : {"auto", "classes", "numbers"}, default="auto"
        What y is; "auto" takes whole numbers and words as classes.
    activation : {"relu", "tanh", "logistic", "arctan", "softsign", "identity"}, default="relu"
        σ of the hidden units.
    loss : {"auto", "cross-entropy", "squared", "absolute", "huber"}, default="auto"
    solver : {"adam", "sgd", "momentum", "nesterov", "adagrad", "l-bfgs"} or a rule, default="adam"
        By mini-batches; "l-bfgs" by all rows, for small tables. A rule such as ``Adam(step=0.01, decay=0.1)`` is one of
        :mod:`unweave.solve.optimise`.
    step : float, optional
        Length of the first step: 0.001 for Adam, 0.1 for the others.
    decay : float, default=0.0
        Weight decay: weights are drawn to zero by step·decay of themselves in each step; for "l-bfgs" ½ decay·‖w‖² is
        added to the loss.
    schedule : {"constant", "inverse", "exponential", "cosine"} or callable, default="constant"
        How steps shorten with the epochs.
    dropout : float, default=0.0
        Share of hidden units that are silenced by chance in each step.
    batch_size : int, default=64
    validation : float, default=0.0
        Share of rows that are held out to end by: after `patience` epochs without a better loss on them training ends,
        and the weights of the best epoch are kept. 0 trains on all rows to the last epoch.
    patience : int, default=5
    max_iter : int, default=50
        Epochs, or steps of "l-bfgs".
    tol : float, default=1e-4
        Largest entry of the gradient at which "l-bfgs" ends.
    random_state : int, Generator or None, default=None
        Draws first weights, batches, dropout and the rows held out; None is 0, so that fits repeat.
    callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; an iteration is an epoch.

    Attributes
    ----------
    classes_ : array
        Where y is classes.
    weights_ : dict of arrays
        Weights and biases of each layer.
    mean_, scale_ : arrays (m,)
        Of the columns.
    held_out_loss_ : array
        After each epoch; empty without `validation`.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`; the objective is the mean loss of the batches of an epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import MLP
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = MLP((16,), solver="l-bfgs", max_iter=200, random_state=0)  # doctest: +SKIP
    >>> model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.9  # doctest: +SKIP
    True

    References
    ----------
    Rumelhart, Hinton and Williams (1986), Learning representations by back-propagating errors. Srivastava, Hinton,
    Krizhevsky, Sutskever and Salakhutdinov (2014), Dropout.
    """

    def __init__(
        self,
        hidden_layers=(100,),
        *,
        task="auto",
        activation="relu",
        loss="auto",
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
        self.hidden_layers = hidden_layers
        self.task = task
        self.activation = activation
        self.loss = loss
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

    def _inputs(self, X, *, reset):
        table = dense_table(self, X, reset=reset)
        if reset:
            self.mean_, self.scale_ = level_and_spread(table)
        return (standardised(table, self.mean_, self.scale_),)

    def _architecture(self, n_outputs):
        hidden = sizes(self.hidden_layers, "hidden_layers")
        layers = Layers((self.n_features_in_, *hidden, n_outputs), check_activation(self.activation))
        return layers, f"rows of {self.n_features_in_} columns"
