"""The fit that all networks share: inputs and target are read, weights are trained, and answers given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.factorization.run import Run, fitting
from unweave.predict.networks.architecture import Architecture, Chance
from unweave.predict.networks.backend import torch_for
from unweave.predict.networks.problem import FOR_CLASSES, FOR_NUMBERS, answers
from unweave.predict.networks.solving import share, train
from unweave.predict.predictor import Predictor
from unweave.predict.target import Target, read_target


def sizes(value, name: str) -> tuple[int, ...]:
    """Units of layers, as a tuple: one number is one layer."""
    given = (value,) if isinstance(value, int | np.integer) else value
    try:
        return tuple(whole(one, name, 1) for one in given)
    except TypeError:
        raise ValueError(f"{name} must be whole numbers such as (100,) or (64, 32), got {value!r}") from None


class Network(Predictor):
    """A network that predicts classes or amounts. Subclasses read their inputs, and say which network suits them."""

    _limits_shape = True  # steps shorten with the share of epochs that are done

    def fit(self, X, y):
        """Train the network.

        Parameters
        ----------
        X : table, pictures or sequences
            As the class says.
        y : array (n,), or (n, t) for several amounts
        """
        with torch_for(type(self).__name__) as torch, fitting(self):
            self.__dict__.pop("classes_", None)
            arrays = self._inputs(X, reset=True)
            target = read_target(self, y, len(arrays[0]), self.task)
            run = Run(self, *arrays, target.values)
            loss = self._loss(target)
            wanted = self._targets(target)
            n_outputs = len(target.classes) if target.classes is not None else wanted.shape[1]
            architecture, words = self._architecture(n_outputs)
            kind = f"{n_outputs} classes" if target.classes is not None else f"{n_outputs} amounts"
            what = f"{len(arrays[0])} {words} → {kind}"
            train(
                self, torch, architecture, arrays, wanted, loss, run, what, self._reasons(arrays),
                share(self.dropout, "dropout"),
            )  # fmt: skip
            if target.classes is not None:
                self.classes_ = target.classes
            self._single = target.values.ndim == 1
        return self

    def _inputs(self, X, *, reset: bool) -> tuple[NDArray, ...]:
        """Read X as arrays of numbers whose first side are the rows."""
        raise NotImplementedError

    def _architecture(self, n_outputs: int) -> tuple[Architecture, str]:
        """The network, and what it takes in words."""
        raise NotImplementedError

    def _reasons(self, arrays: tuple[NDArray, ...]) -> list[str]:
        """What the plan should say of the inputs."""
        return []

    def _loss(self, target: Target) -> Callable:
        known = FOR_NUMBERS if target.classes is None else FOR_CLASSES
        name = next(iter(known)) if isinstance(self.loss, str) and self.loss == "auto" else self.loss
        if not isinstance(name, str) or name not in known:
            kind = "amounts" if target.classes is None else "classes"
            raise ValueError(f"loss={self.loss!r} is not for {kind}; use 'auto' or one of {', '.join(known)}")
        return known[name]

    def _targets(self, target: Target) -> NDArray:
        """What the outputs are to be: classes as they are, amounts of mean 0 and spread 1."""
        if target.classes is not None:
            self._level = np.array([[0.0], [1.0]])
            return target.values
        amounts = target.values.reshape(len(target.values), -1)
        spread = amounts.std(axis=0)
        self._level = np.stack([amounts.mean(axis=0), np.where(spread > 0, spread, 1.0)])
        return (amounts - self._level[0]) / self._level[1]

    def _outputs(self, X) -> NDArray[np.float64]:
        check_is_fitted(self)
        arrays = self._inputs(X, reset=False)
        n_outputs = len(self.classes_) if self._is_classifier else self._level.shape[1]
        architecture, _ = self._architecture(n_outputs)
        with torch_for(type(self).__name__) as torch:

            def ask(W, batch):
                found = architecture.forward(torch, W, batch, Chance(torch))
                return torch.softmax(found, dim=1) if self._is_classifier else found

            found = answers(torch, self.weights_, arrays, ask)
        if self._is_classifier:
            return found
        amounts = found * self._level[1] + self._level[0]
        return amounts[:, 0] if self._single else amounts

    def _check_loaded(self, looked_at: bool) -> None:
        super()._check_loaded(looked_at)
        if not isinstance(self._level, np.ndarray) or self._level.ndim != 2 or len(self._level) != 2:
            raise ValueError("the level of the outputs is missing")
        check_weights(self, self._architecture(len(self.classes_) if self._is_classifier else self._level.shape[1])[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.task == "numbers"
        tags.non_deterministic = False
        return tags


def check_weights(model, architecture: Architecture) -> None:
    """Raise ValueError unless the weights of a model from a file are those of its architecture."""
    wanted = architecture.shapes()
    if not isinstance(model.weights_, dict) or list(model.weights_) != list(wanted):
        raise ValueError("weights_ does not hold the weights of this network")
    for name, shape in wanted.items():
        array = model.weights_[name]
        if not isinstance(array, np.ndarray) or array.dtype not in (np.float32, np.float64) or array.shape != shape:
            raise ValueError(f"weights_[{name!r}] should be an array of the shape {shape}")


def standardised(X: NDArray, mean: NDArray, scale: NDArray) -> NDArray[np.float32]:
    """Columns of mean 0 and spread 1, in single precision."""
    return ((np.asarray(X, dtype=np.float64) - mean) / scale).astype(np.float32)


def level_and_spread(X: NDArray) -> tuple[NDArray, NDArray]:
    """Mean and spread of each column; 1 for one that does not vary, or by no more than rounding of its mean."""
    X = np.asarray(X, dtype=np.float64)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    return mean, np.where(spread > 1e-6 * np.abs(mean), spread, 1.0)
