"""Viterbi: the most probable states of every sequence, all at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.hmm_boundaries import ranked, settle
from unweave.group.hmm_chain import Chain, rows_of
from unweave.group.hmm_segments import LANES, Lanes, Segments
from unweave.kernels.markov import best_paths, trace_back

_LEAST = 1e-300  # a transition of probability zero counts as this
_SAME = 1e-8  # largest difference of log-probabilities that is rounding


class _Logs(NamedTuple):
    start: NDArray
    into: NDArray


def _logs(chain: Chain) -> _Logs:
    return _Logs(np.log(np.maximum(chain.start, _LEAST)), np.log(np.maximum(chain.into, _LEAST)))


def _forwards(X: NDArray, chain: Chain, lanes: Lanes, delta: NDArray, opens: NDArray, back: NDArray) -> NDArray:
    """Relative log-probabilities of the best paths to each state at the end of every lane; pointers go to `back`."""
    logs, width = _logs(chain), len(lanes)
    delta = np.where(opens, logs.start[:, None], delta)
    for first, last in lanes.blocks():
        x = rows_of(X, lanes, first, last).reshape(X.shape[1], -1)
        shown = chain.emission.logs(x).reshape(-1, last - first, width)
        best_paths(shown, logs.into, lanes.length, first, delta, opens, back[first:last])
    return delta


def _pointers(lanes: Lanes, n_states: int) -> NDArray:
    return np.empty((lanes.steps, n_states, len(lanes)), np.uint8 if n_states <= 256 else np.uint16)


def _entered(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> NDArray:
    """Relative log-probabilities at the step before every segment: by run-ups, or (0) from end to end."""
    before = np.zeros((chain.n_states, len(segments)))
    if run_up:
        inner = np.flatnonzero(~segments.opens)

        def part(start: int, stop: int) -> None:
            which = inner[start:stop]
            begin = np.maximum(segments.begin[which] - run_up, segments.low[which])
            lanes = Lanes(begin, segments.begin[which] - begin)
            back = _pointers(lanes, chain.n_states)
            before[:, which] = _forwards(X, chain, lanes, before[:, which], begin == segments.low[which], back)

        parallel.run(part, len(inner), LANES)
        return before
    for group in ranked(segments):
        which = group[~segments.closes[group]]
        if len(which):
            lanes = segments.lanes(which)
            back = _pointers(lanes, chain.n_states)
            before[:, which + 1] = _forwards(X, chain, lanes, before[:, which], segments.opens[which], back)
    return before


def most_probable(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> NDArray:
    """The states of the most probable path of every sequence, one a row of X.

    Segments are entered by run-ups as in :mod:`unweave.group.hmm_boundaries`: survivors of different starts soon come
    from one state, and from there on their differences are equal.
    """
    inner = np.flatnonzero(~segments.opens)

    def attempt(run_up: int) -> tuple[tuple[list[NDArray], NDArray], bool]:
        before = _entered(X, chain, segments, run_up)
        ends = np.empty_like(before)

        def part(start: int, _: int) -> NDArray:
            which = segments.packs[start]
            back = _pointers(segments.lanes(which), chain.n_states)
            ends[:, which] = _forwards(X, chain, segments.lanes(which), before[:, which], segments.opens[which], back)
            return back.reshape(-1)

        backs = parallel.run(part, len(segments.packs), 1)
        apart = np.abs(before[:, inner] - ends[:, inner - 1])
        return (backs, ends), bool((apart <= _SAME).all())

    (backs, ends), _ = settle(attempt, run_up)
    return _follow(len(X), segments, backs, ends)


def _follow(n: int, segments: Segments, backs: list[NDArray], ends: NDArray) -> NDArray:
    """Back along the pointers, sequence by sequence."""
    width, lane, pack = (np.empty(len(segments), np.int64) for _ in range(3))
    for number, which in enumerate(segments.packs):
        width[which], lane[which], pack[which] = len(which), np.arange(len(which)), number
    state = ends.argmax(axis=0)
    path = np.empty(n, np.int64)
    now = 0
    for s in range(len(segments) - 1, -1, -1):
        if segments.closes[s]:
            now = int(state[s])
        now = trace_back(
            backs[pack[s]],
            width[s],
            lane[s],
            len(ends),
            now,
            path[segments.begin[s] : segments.begin[s] + segments.length[s]],
        )
    return path


def path_score(X: NDArray, chain: Chain, path: NDArray, lengths: NDArray) -> float:
    """log p(X, path)."""
    logs = _logs(chain)
    begin = np.cumsum(lengths) - lengths

    def part(start: int, stop: int) -> float:
        x = np.ascontiguousarray(X[start:stop].T, dtype=np.float64)
        return float(chain.emission.logs(x)[path[start:stop], np.arange(stop - start)].sum())

    moves = logs.into[path[1:], path[:-1]]
    moves[begin[1:] - 1] = 0.0  # from the end of one sequence to the beginning of the next is no move
    return sum(parallel.run(part, len(X), 4096)) + float(logs.start[path[begin]].sum() + moves.sum())
