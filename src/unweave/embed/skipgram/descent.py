"""The scheme of skip-gram and CBOW: stochastic descent over a corpus in blocks, the same on any number of threads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.embed.skipgram.drawing import Drawing, key_of
from unweave.embed.skipgram.inputs import Given, Inputs
from unweave.embed.skipgram.noise import Noise
from unweave.kernels import APART
from unweave.kernels.skipgram import descend_part
from unweave.solve.scheme import Scheme, State

PARTS = 8  # a power of two; as many threads can work. 4 made a fit of one thread 5 % faster, 1 by 15 %, on wiki_en_100m
PIECE = 1 << 21  # tokens of one step: what Ctrl-C loses, and a few seconds
_LEAST_BLOCK = 256
_ALL_HEARD = (
    1 << 17
)  # tokens of a corpus from which the loss is that of one visit in eight: adding up all took a seventh of a fit
_LAST_RATE = 1e-4 / 0.025  # the rate falls to this share of the first one, as in word2vec

# Inputs of part i meet outputs of part j in a round; a round is a list of tasks that share no row, a task a list of
# (i, j).
APART_ROUNDS = [[[(i, (i + r) % PARTS)] for i in range(PARTS)] for r in range(PARTS)]


def _tournament() -> list[list[list[tuple[int, int]]]]:
    """Rounds where inputs and outputs are the same rows: everybody meets everybody, each in one task of a round."""
    n = PARTS - 1
    rounds = [[[(i, i)] for i in range(PARTS)]]
    for r in range(n):
        pairs = [(n, r), *(((r + k) % n, (r - k) % n) for k in range(1, PARTS // 2))]
        rounds.append([[(i, j), (j, i)] for i, j in pairs])
    return rounds


SHARED_ROUNDS = _tournament()


@dataclass(frozen=True)
class Terms:
    """What is asked of a fit.

    Attributes
    ----------
    negatives : int
        Drawn for each word that occurs.
    sharing : int
        Words of a window that share their negatives: 1/sharing as many are drawn, and count sharing times.
    rate, decay : float, bool
        The first learning rate, and whether it falls to nearly nothing, linearly.
    epochs : int
    biases, shared : bool
        Whether words have a bias on both sides; whether both sides are the same rows.
    """

    negatives: int
    sharing: int
    rate: float
    decay: bool
    epochs: int
    biases: bool
    shared: bool

    @property
    def held(self) -> NDArray[np.int64]:
        """The columns of ones, from the end: of inputs (beside the biases of outputs), and of outputs."""
        return np.array([-1, -2] if self.biases else [0, 0], np.int64)


class Descent(Scheme):
    """Passes over a corpus. A step is a piece of one pass; its objective is the mean loss of a word that occurs,
    −log σ(u·v) − Σ log σ(−u·v'), as it was met on the way.

    Parameters
    ----------
    ids, bounds : arrays
        Tokens, and where sequences begin and end.
    inputs : Inputs
    drawing : Drawing
    noise : Noise
    terms : Terms
    start : (array, array)
        Inputs and outputs to begin with, float32; where they are shared, outputs are the last rows of the inputs. The
        last two columns belong to biases, if there are any.
    """

    rises = True

    def __init__(self, ids, bounds, inputs: Inputs, drawing: Drawing, noise: Noise, terms: Terms, start):
        self.ids, self.bounds, self.inputs, self.drawing = ids, bounds, inputs, drawing
        self.noise, self.terms, self._start = noise, terms, start
        self._size = min(inputs.size, max(_LEAST_BLOCK, int(inputs.meetings / drawing.largest)))
        self.steps_per_pass = max(1, -(-len(ids) // PIECE))
        self.work = (len(ids) / self.steps_per_pass, "words")

    def begin(self, rng=None) -> State:
        U, V = self._start
        state = {"inputs": U, "step": 0, "seed": 0 if rng is None else int(rng.integers(1 << 62))}
        return state if self.terms.shared else {**state, "outputs": V}

    def tables(self, state: State) -> tuple[NDArray, NDArray]:
        """Inputs and outputs of a state."""
        U = state["inputs"]
        return U, U[len(U) - len(self._start[1]) :] if self.terms.shared else state["outputs"]

    def step(self, state: State) -> tuple[State, float]:
        new = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        U, V = self.tables(new)
        epoch, piece = divmod(state["step"], self.steps_per_pass)
        start, stop = piece * PIECE, min((piece + 1) * PIECE, len(self.ids))
        told = np.zeros(2)
        for at, end in parallel.chunks(stop - start, self._size):
            told += self._block(U, V, start + at, start + end, epoch, state["seed"])
        new["step"] += 1
        return new, float(told[0] / max(told[1], 1.0))

    def adapt(self, loop):
        return replace(loop, max_iter=self.terms.epochs * self.steps_per_pass, tol=0.0, ending="all passes are done")

    def _rate(self, done: int, epoch: int) -> np.float32:
        share = (epoch + done / len(self.ids)) / self.terms.epochs
        fall = max(1 - share, _LAST_RATE) if self.terms.decay else 1.0
        return np.float32(self.terms.rate * fall)

    def _block(self, U, V, start: int, stop: int, epoch: int, seed: int) -> NDArray:
        block = self.drawing.block(self.ids, self.bounds, start, stop, key_of(seed, epoch))
        told = np.zeros((PARTS, 2))
        if block.first == block.last:
            return told.sum(axis=0)
        given = self.inputs.given(U, block)
        before = given.H.copy() if given.means else None
        own = slice(block.first, block.last)
        self._meet(given, block.tokens, own, V, self._rate(start, epoch), key_of(seed, epoch, start), told)
        if before is not None:
            moved = given.H - before
            # a curvature of 1/4 times a squared length of about 4 for each word predicted or drawn
            pull = np.minimum(given.looks * (self._rate(start, epoch) * (1.0 + self.terms.negatives)), 1)
            for mean in given.means[:0:-1]:  # means of means: by way of those
                between = np.zeros((mean.n_rows, U.shape[1]), np.float32)
                pull, moved = mean.back(between, moved, pull), between
            given.means[0].back(U, moved, pull)
            if self.terms.biases:
                U[:, -1] = 1
        return told.sum(axis=0)

    def _meet(self, given: Given, tokens, own: slice, V, rate, key: int, told) -> None:
        """All parts of the inputs meet all parts of the outputs."""
        terms, noise, width = self.terms, self.noise, V.shape[1]
        part = (given.rows[own] & (PARTS - 1)).astype(np.uint8)
        visits = own.start + np.argsort(part, kind="stable")
        cuts = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=PARTS))])
        shares = noise.shares * np.float32(terms.negatives / terms.sharing)
        held = np.where(terms.held < 0, width + terms.held, -1)
        most = 2 * self.drawing.window
        room = most + int(most * terms.negatives / terms.sharing) + 3
        weight, seed = np.float32(terms.sharing), np.uint64(key)
        watch = np.uint64(0 if len(self.ids) < _ALL_HEARD else 7)
        # with means, inputs are rows of the block's own: only outputs may be met twice
        rounds = SHARED_ROUNDS if terms.shared and not given.means else APART_ROUNDS

        for tasks in rounds:

            def meet(first, last, tasks=tasks):
                near, dots = np.empty(room, np.int64), np.empty(room, np.float32)
                grad = np.empty(width + 2 * APART, np.float32)[APART : APART + width]
                for task in range(first, last):
                    for i, j in tasks[task]:
                        descend_part(
                            visits[cuts[i] : cuts[i + 1]], given.rows, given.low, given.high, given.hole, tokens,
                            given.H, V, noise.keep, noise.other, shares[j], weight, rate, seed, watch, j, PARTS,
                            held, near, dots, grad, told[i],
                        )  # fmt: skip

            parallel.run(meet, len(tasks), 1)
