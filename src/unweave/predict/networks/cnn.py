"""The convolutional network: the same small filters everywhere on a picture, or along a signal."""

from __future__ import annotations

import numpy as np

from unweave.data.arguments import whole
from unweave.data.named import NamedTable
from unweave.predict.networks.architecture import Convolutions, check_activation
from unweave.predict.networks.base import Network, sizes
from unweave.predict.predictor import dense_table


class CNN(Network):
    """Predict the class (or an amount) of pictures or signals by filters that slide over them (convolutional network).

    Each convolution is followed by σ and by maxima of 2×2 pixels, which halve the picture; then come fully connected
    layers. A filter finds its pattern wherever it is, with few weights. Use it on pictures of one size with a thousand
    or more examples. All pixels are brought to mean 0 and variance 1 together.

    Pictures are arrays (n, height, width) or (n, height, width, channels), or rows of their pixels with `shape`. Rows
    without `shape` are signals: filters slide along the columns.

    It needs torch: ``pip install 'unweave[neural]'``.

    Parameters
    ----------
    channels : int or tuple of int, default=(16, 32)
        Filters of each convolution.
    shape : (height, width), (height, width, channels) or None, default=None
        Of the picture that each row of a table is.
    kernel_size : int, default=3
        Odd side of the filters.
    hidden_layers : int or tuple of int, default=(64,)
    task, activation, loss, solver, step, decay, schedule, dropout, batch_size, validation, patience, max_iter, tol
        As of :class:`MLP`; `max_iter` is 10 by default.
    random_state, callback, checkpoint, verbose
        As of :class:`MLP`.

    Attributes
    ----------
    image_shape_ : (channels, height, width)
    classes_, weights_, held_out_loss_
        As of :class:`MLP`.
    mean_, scale_ : float
        Of all pixels.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from unweave import CNN
    >>> X, y = load_digits(return_X_y=True)
    >>> model = CNN(shape=(8, 8), random_state=0).fit(X[:1000], y[:1000])  # doctest: +SKIP
    >>> model.score(X[1000:], y[1000:]) > 0.9  # doctest: +SKIP
    True

    References
    ----------
    LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document recognition.
    """

    image_shape_: tuple[int, int, int]

    def __init__(
        self,
        channels=(16, 32),
        *,
        shape=None,
        kernel_size=3,
        hidden_layers=(64,),
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
        max_iter=10,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.channels = channels
        self.shape = shape
        self.kernel_size = kernel_size
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
        pictures = self._pictures(X, reset=reset)
        if reset:
            spread = float(pictures.std(dtype=np.float64))
            self.mean_, self.scale_ = float(pictures.mean(dtype=np.float64)), spread if spread > 0 else 1.0
        return (((pictures - self.mean_) / self.scale_).astype(np.float32),)

    def _pictures(self, X, *, reset):
        """Arrays (n, channels, height, width)."""
        shape = self.shape
        if isinstance(X, NamedTable):
            shape = X.image if shape is None else shape
        elif hasattr(X, "ndim") and X.ndim in (3, 4):
            sides = tuple(int(side) for side in X.shape[1:])
            if shape is not None and sides[: len(shape)] != tuple(shape):
                raise ValueError(f"the pictures of X are {_words(sides)}, and shape says {_words(shape)}")
            X, shape = np.asarray(X).reshape(len(X), -1), sides
        if not reset:
            c, h, w = self.image_shape_
            if shape is not None and _channels_last(shape) != (h, w, c):
                raise ValueError(
                    f"the pictures of X are {_words(shape)}, those of fit were {_words((h, w, c))}: bring them to one "
                    "size"
                )
        table = dense_table(self, X, reset=reset)
        m = table.shape[1]
        if reset:
            h, w, c = (1, m, 1) if shape is None else _channels_last(shape)
            if h * w * c != m:
                raise ValueError(
                    f"shape={_words(shape)} means {h * w * c} numbers a picture, and rows of X have {m}: give the "
                    "right shape=(height, width), or pictures as an array (n, height, width)"
                )
            self.image_shape_ = (c, h, w)
        c, h, w = self.image_shape_
        return np.moveaxis(table.reshape(len(table), h, w, c), 3, 1)

    def _architecture(self, n_outputs):
        side = whole(self.kernel_size, "kernel_size", 1)
        if side % 2 == 0:
            raise ValueError(f"kernel_size must be odd, so that filters have a middle, got {side}")
        c, h, w = self.image_shape_
        network = Convolutions(
            self.image_shape_, sizes(self.channels, "channels"), (side if h > 1 else 1, side if w > 1 else 1),
            (*sizes(self.hidden_layers, "hidden_layers"), n_outputs), check_activation(self.activation),
        )  # fmt: skip
        return network, f"pictures of {_words((h, w, c))}"

    def _check_loaded(self, looked_at: bool) -> None:
        shape = self.image_shape_
        sound = isinstance(shape, tuple) and len(shape) == 3 and all(type(n) is int and n > 0 for n in shape)
        if not sound or int(np.prod(shape)) != self.n_features_in_:
            raise ValueError("image_shape_ does not fit the columns")
        super()._check_loaded(looked_at)


def _channels_last(shape) -> tuple[int, int, int]:
    """(height, width, channels) of a shape that may leave out the channels."""
    try:
        sides = tuple(whole(side, "shape", 1) for side in shape)
    except TypeError:
        sides = ()
    if len(sides) not in (2, 3):
        raise ValueError(f"shape must be (height, width) or (height, width, channels), got {shape!r}")
    return sides[0], sides[1], sides[2] if len(sides) == 3 else 1


def _words(sides) -> str:
    return "×".join(map(str, sides)) if isinstance(sides, tuple | list) else str(sides)
