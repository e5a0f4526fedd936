"""Find the way from table to target that errs least on rows that were held out of its fit.

Rows are dealt into folds, and every candidate is fitted to all folds but one and judged on that one, in turn. Of a long
table a sample is used first, and the best few are judged again on more rows. Each trial is one step of a scheme, so
that callback, checkpoint, progress and Ctrl-C work as everywhere: a search that is ended early takes the best so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.predict.learned.columns import Columns, rows_of
from unweave.predict.learned.pipe import Candidate, Prepared, fit_pipe, prepare_rows
from unweave.predict.learned.predictors import PREDICTORS
from unweave.solve.scheme import Scheme, State

FIRST_ROWS, FINAL_ROWS = 2000, 10_000
FOLDS, FINAL_FOLDS = 5, 3
_FINALISTS = 3


@dataclass
class Task:
    """What is to be learned: the table, its columns, and the target as places of classes or as numbers."""

    table: NamedTable
    columns: Columns
    y: NDArray
    n_classes: int
    seed: int

    def losses(self, answers: NDArray, y: NDArray) -> NDArray:
        """Return what each row loses: whether it is wrong, and how unsure (Brier); or its squared error."""
        if not self.n_classes:
            return (answers[:, 0] - y) ** 2
        rows = np.arange(len(y))
        wrong = answers.argmax(axis=1) != y
        square = (answers**2).sum(axis=1) - 2 * answers[rows, y] + 1
        return wrong + square

    def errors(self, answers: NDArray, y: NDArray) -> NDArray:
        """Return the error of each row that is reported: whether it is wrong, or its squared error."""
        return (answers.argmax(axis=1) != y).astype(np.float64) if self.n_classes else self.losses(answers, y)


@dataclass
class Round:
    """Some rows and the fold that each of them is in."""

    rows: NDArray
    fold: NDArray
    n_folds: int


def make_rounds(task: Task) -> list[Round]:
    """Deal rows into folds: once for a short table; for a long one a sample, and then more of it for the best few."""
    rng, n = np.random.default_rng(task.seed), len(task.y)
    order = rng.permutation(n)
    first = np.sort(order[:FIRST_ROWS])
    rounds = [Round(first, *_folds(task, first, FOLDS, rng))]
    if n > FIRST_ROWS:
        more = np.sort(order[:FINAL_ROWS])
        rounds.append(Round(more, *_folds(task, more, FINAL_FOLDS, rng)))
    return rounds


def _folds(task: Task, rows: NDArray, most: int, rng: np.random.Generator) -> tuple[NDArray, int]:
    """Deal rows evenly: those of one class, or of near numbers, to different folds."""
    n_folds = min(most, len(rows))
    draw = rng.random(len(rows))
    order = np.lexsort((draw, task.y[rows]))
    fold = np.empty(len(rows), dtype=np.int64)
    if task.n_classes:
        fold[order] = np.arange(len(rows)) % n_folds
        return fold, n_folds
    for start in range(0, len(rows), n_folds):
        some = order[start : start + n_folds]
        fold[some] = rng.permutation(n_folds)[: len(some)]
    return fold, n_folds


class Trials(Scheme):
    """Judge one candidate after the other.

    Parameters
    ----------
    task : Task
    first : sequence of Candidate
        Judged in turn.
    representations : sequence
        Each is then judged with the best of the predictors that need one (trees find their own); a `Candidate` among
        them is judged as it is.
    """

    ending = "all were tried"

    def __init__(self, task: Task, first: Sequence[Candidate], representations: Sequence[Any]):
        self.task, self.first, self.representations = task, list(first), list(representations)
        self.rounds = make_rounds(task)
        self._folds: dict[tuple[int, int], tuple[Prepared, Any]] = {}

    @property
    def n_first(self) -> int:
        """Count what is judged in the first round."""
        return len(self.first) + len(self.representations)

    @property
    def n_trials(self) -> int:
        return self.n_first + (min(_FINALISTS, self.n_first) if len(self.rounds) > 1 else 0)

    def begin(self, rng=None) -> State:
        k = max(1, self.task.n_classes)
        state: State = {"place": 0}
        for i, one in enumerate(self.rounds):
            size = self.n_first if not i else self.n_trials - self.n_first
            state[f"errors_{i}"] = np.full((size, one.n_folds), np.nan)
            state[f"answers_{i}"] = np.zeros((size, len(one.rows), k))
        return state

    def step(self, state: State) -> tuple[State, float]:
        place = int(state["place"])
        i, at = (0, place) if place < self.n_first else (1, place - self.n_first)
        candidate = self.candidate(place, state)
        errors, answers = state[f"errors_{i}"].copy(), state[f"answers_{i}"].copy()
        for fold in range(self.rounds[i].n_folds):
            rows, test = self._prepared(i, fold)
            here = self.rounds[i].fold == fold
            found = fit_pipe(candidate, rows, self.task.seed).answers(test)
            answers[at, here] = found
            errors[at, fold] = self.task.losses(found, self.task.y[self.rounds[i].rows[here]]).mean()
        new = {**state, "place": place + 1, f"errors_{i}": errors, f"answers_{i}": answers}
        return new, self.objective(new)

    def objective(self, state: State) -> float:
        """Return the least mean error of any trial."""
        return float(min(np.nanmin(_means(state[f"errors_{i}"])) for i in self._tried(state)))

    def _tried(self, state: State) -> list[int]:
        return [i for i in range(len(self.rounds)) if np.isfinite(state[f"errors_{i}"]).any()]

    def settled(self, state: State) -> bool:
        return int(state["place"]) >= self.n_trials

    def fixed(self, state: State) -> bool:
        return self.settled(state)

    def candidate(self, place: int, state: State) -> Candidate:
        """Return what is judged at a place; what comes later depends on how the earlier ones did."""
        if place < len(self.first):
            return self.first[place]
        means = _means(state["errors_0"])
        if place < self.n_first:
            asked = self.representations[place - len(self.first)]
            if isinstance(asked, Candidate):
                return asked
            able = [i for i, one in enumerate(self.first) if not PREDICTORS[one.predictor].takes_holes]
            among = able or range(len(self.first))
            best = self.first[min(among, key=lambda i: (means[i], i))]
            return Candidate(asked, best.predictor, best.strength)
        order = np.argsort(means, kind="stable")
        return self.candidate(int(order[place - self.n_first]), state)

    def _prepared(self, i: int, fold: int) -> tuple[Prepared, Any]:
        if (i, fold) not in self._folds:
            one, task = self.rounds[i], self.task
            train, test = one.rows[one.fold != fold], one.rows[one.fold == fold]
            prepared = prepare_rows(task.columns, rows_of(task.table, train), task.y[train], task.n_classes)
            self._folds[i, fold] = prepared, prepared.reader.numbers(rows_of(task.table, test))
        return self._folds[i, fold]

    def finish(self, state: State) -> State:
        """Say what was found: the best candidate, and the answers on rows held out that judge the choice honestly.

        In each fold the candidate that judges is the one that is best on the other folds: so no fold has a say in the
        choice that it judges.
        """
        i = self._tried(state)[-1]
        errors, one = state[f"errors_{i}"], self.rounds[i]
        done = np.flatnonzero(np.isfinite(errors).all(axis=1))
        sizes = np.bincount(one.fold, minlength=one.n_folds)
        answers = np.empty_like(state[f"answers_{i}"][0])
        for fold in range(one.n_folds):
            others = sizes * (np.arange(one.n_folds) != fold)
            by = done[int(np.argmin(errors[done] @ others))] if others.any() else done[0]
            answers[one.fold == fold] = state[f"answers_{i}"][by, one.fold == fold]
        best = int(done[np.argmin(errors[done] @ sizes)])
        start = 0 if not i else self.n_first
        tried = {self.candidate(start + int(j), state).title: float(errors[j] @ sizes / sizes.sum()) for j in done}
        return {
            "candidate": self.candidate(start + best, state), "rows": one.rows, "fold": one.fold, "answers": answers,
            "tried": tried, "objective": float(errors[best] @ sizes / sizes.sum()),
        }  # fmt: skip


def _means(errors: NDArray) -> NDArray:
    """Average the folds; what was not tried is worst."""
    return np.where(np.isfinite(errors).all(axis=1), np.nan_to_num(errors).mean(axis=1), np.inf)


def affordable(task: Task, asked: Sequence[str], X: Any) -> list[Candidate]:
    """List candidates without a representation, those aside that take too long for so many rows or classes."""
    n, d = X.shape
    found = []
    for name in asked:
        way = PREDICTORS[name]
        if not isinstance(X, np.ndarray) and not way.takes_sparse:
            continue
        for i, strength in enumerate(way.strengths if task.n_classes else way.for_numbers):
            if len(asked) > 1 and (n > way.most_rows or (i and _work(name, n, d, task.n_classes) > 1)):
                continue
            if len(asked) > 1 and _work(name, n, d, task.n_classes) > 4:
                continue
            found.append(Candidate("none", name, strength))
    return found


def _work(name: str, n: int, d: int, k: int) -> float:
    """Count the work of one fit in units of about five seconds of one processor."""
    rows = min(n, FINAL_ROWS)
    if name == "boosting":
        return rows * d * max(1, k if k > 2 else 1) * 100 / 4e9 + max(1, k) * 100 / 4e3
    if name == "vectors":
        return rows**2 * d / 1e11 * max(1, k / 4)
    return rows * d * max(1, k) / 1e9
