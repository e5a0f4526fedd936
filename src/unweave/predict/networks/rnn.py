"""The recurrent network: a state that is carried along a sequence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.predict.networks.architecture import Recurrent
from unweave.predict.networks.base import Network, level_and_spread
from unweave.predict.networks.sequences import are_texts, counted, pad_texts, read_numbers

CELLS = ("gru", "plain")


class RNN(Network):
    """Predict the class (or an amount) of sequences by a state that is carried from step to step (recurrent network).

    The state after the last step is what the answer is made of. In a gated recurrent unit (GRU) gates say how much of
    the state is kept, so that it remembers over dozens of steps; the plain cell is tanh(W·x + V·state + b). Use it for
    texts, strings of letters and series whose order matters, of up to some hundred steps.

    Sequences are a list of texts (each letter is a step), a list of arrays (length,) or (length, d), an array
    (n, steps, d), or a table whose columns are the steps. Those of unequal length are padded to the longest; what is
    padded does not touch the state, and ``plan_`` says so. Numbers are brought to mean 0 and variance 1 over all steps.
    A letter that the fit did not see says nothing.

    It needs torch: ``pip install 'unweave[neural]'``.

    Parameters
    ----------
    n_units : int, default=32
        Numbers of the state.
    cell : {"gru", "plain"}, default="gru"
    task, loss, solver, step, decay, schedule, dropout, batch_size, validation, patience, max_iter, tol
        As of :class:`MLP`; Adam's `step` is 0.01 and `max_iter` 20 by default. Dropout is on the last state.
    random_state, callback, checkpoint, verbose
        As of :class:`MLP`.

    Attributes
    ----------
    alphabet_ : str or None
        Letters of the texts of the fit; None where sequences are of numbers.
    classes_, weights_, mean_, scale_, held_out_loss_
        As of :class:`MLP`.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> from unweave import RNN
    >>> words = ["abab", "ab", "ababab", "ba", "baba", "bababa"] * 20
    >>> begins = [word[0] for word in words]
    >>> RNN(8, random_state=0).fit(words, begins).predict(["abababab", "babababa"]).tolist()  # doctest: +SKIP
    ['a', 'b']

    References
    ----------
    Elman (1990), Finding structure in time. Cho and others (2014), Learning phrase representations using RNN
    encoder–decoder for statistical machine translation.
    """

    mean_: NDArray[np.float64]
    scale_: NDArray[np.float64]

    def __init__(
        self,
        n_units=32,
        *,
        cell="gru",
        task="auto",
        loss="auto",
        solver="adam",
        step=0.01,
        decay=0.0,
        schedule="constant",
        dropout=0.0,
        batch_size=64,
        validation=0.0,
        patience=5,
        max_iter=20,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_units = n_units
        self.cell = cell
        self.task = task
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
        texts = are_texts(X)
        if reset:
            self.alphabet_ = "".join(sorted(set().union(*X))) if texts else None
        if texts != (self.alphabet_ is not None):
            fitted, given = ("numbers", "texts") if texts else ("texts", "numbers")
            raise ValueError(f"the model was fitted to {fitted}, and X holds {given}: give the same kind")
        if texts:
            if not self.alphabet_:
                raise ValueError("every text of X is empty: there is nothing to learn from")
            steps, lengths = counted(self, pad_texts(X, self.alphabet_), reset=reset)
        else:
            steps, lengths = read_numbers(self, X, reset=reset)
        d = steps.shape[2]
        if reset:
            self._width = d
            at = np.arange(steps.shape[1]) < lengths[:, None]
            self.mean_, self.scale_ = (np.zeros(d), np.ones(d)) if texts else level_and_spread(steps[at])
        if d != self._width:
            raise ValueError(f"each step of X has {d} numbers, those of fit had {self._width}")
        return ((steps - self.mean_) / self.scale_).astype(np.float32), lengths

    def _architecture(self, n_outputs):
        if not isinstance(self.cell, str) or self.cell not in CELLS:
            raise ValueError(f"cell must be 'gru' or 'plain', got {self.cell!r}")
        network = Recurrent(self._width, whole(self.n_units, "n_units", 1), n_outputs, self.cell == "gru")
        what = "letters" if self.alphabet_ is not None else f"{self._width} numbers a step"
        return network, f"sequences of {what}"

    def _reasons(self, arrays):
        shortest, longest = int(arrays[1].min()), int(arrays[1].max())
        if shortest == longest:
            return [f"all sequences have {longest} steps"]
        return [f"sequences of {shortest} to {longest} steps are padded to {longest}; what is padded is not read"]

    def _check_loaded(self, looked_at: bool) -> None:
        d = self._width
        if type(d) is not int or np.shape(self.mean_) != (d,) or np.shape(self.scale_) != (d,):
            raise ValueError("the inputs of the network are not described")
        if self.alphabet_ is not None and (not isinstance(self.alphabet_, str) or len(self.alphabet_) != d):
            raise ValueError("alphabet_ does not fit the weights")
        super()._check_loaded(looked_at)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
