"""Run forward–backward over all segments: the sums that Baum–Welch needs, and what each step says of its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.markov.chain import Chain, Filtered, filtered, keep_ends, rows_of
from unweave.group.markov.segments import Lanes, Segments, agree, from_before, from_both, until_agreed
from unweave.kernels.markov import backward

Answer = TypeVar("Answer")


@dataclass
class Sums:
    """Hold expected counts under the posterior: first states, moves from state to state, and sums of the emission."""

    log_likelihood: float
    start: NDArray
    moves: NDArray
    emission: NDArray


@dataclass
class _Pack:
    """Take the segments that run together through both passes; `arrived` are the values at their far ends."""

    X: NDArray
    chain: Chain
    which: NDArray
    lanes: Lanes
    opens: NDArray

    def forwards(self, before: NDArray, arrived: NDArray) -> Iterator[Filtered]:
        """Yield blocks of filtered steps."""
        end = np.empty((self.chain.n_states, len(self.lanes)))
        for block in filtered(self.X, self.chain, self.lanes, before[:, self.which], self.opens):
            keep_ends(block, self.lanes, end)
            yield block
        arrived[:, self.which] = end

    def backwards(
        self, blocks: list[Filtered], after: NDArray, arrived: NDArray
    ) -> Iterator[tuple[Filtered, NDArray, NDArray]]:
        """Yield every block with its pairs and posterior probabilities, from the last to the first; use them up."""
        message = after[:, self.which].copy()
        pairs, gamma = np.empty(blocks[-1].b.shape), np.empty(blocks[-1].b.shape)
        while blocks:
            block = blocks.pop()
            if pairs.shape != block.b.shape:
                pairs, gamma = np.empty(block.b.shape), np.empty(block.b.shape)
            backward(
                block.b, self.chain.transition, block.alpha, block.norm, self.lanes.length, block.first, message,
                pairs, gamma,
            )  # fmt: skip
            yield block, pairs, gamma
        arrived[:, self.which] = message


def _packs(X: NDArray, chain: Chain, segments: Segments, work: Callable[[_Pack], Answer]) -> list[Answer]:
    """Call `work` on every pack of segments, on the pool."""

    def part(start: int, _: int) -> Answer:
        which = segments.packs[start]
        return work(_Pack(X, chain, which, segments.lanes(which), segments.opens[which]))

    return parallel.run(part, len(segments.packs), 1)


def _both_ways(
    X: NDArray, chain: Chain, segments: Segments, run_up: int, work: Callable[[_Pack, Iterator], Answer]
) -> tuple[list[Answer], int]:
    """Call `work` on the blocks of every pack as they come back; return its answers and the run-up that was needed."""
    inner = np.flatnonzero(~segments.opens)

    def attempt(run_up: int) -> tuple[list[Answer], bool]:
        before, after = from_both(X, chain, segments, run_up)
        last, first = before.copy(), after.copy()

        def both(pack: _Pack) -> Answer:
            return work(pack, pack.backwards(list(pack.forwards(before, last)), after, first))

        answers = _packs(X, chain, segments, both)
        agreed = agree(before[:, inner], last[:, inner - 1]) and agree(after[:, inner - 1], first[:, inner])
        return answers, agreed

    return until_agreed(attempt, run_up)


def expected_sums(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> tuple[Sums, int]:
    """Take the E-step of Baum–Welch: nothing of the length of X is kept, only sums."""
    k = chain.n_states

    def work(pack: _Pack, blocks: Iterator) -> Sums:
        sums = Sums(0.0, np.zeros(k), np.zeros((k, k)), chain.emission.zeros())
        for block, pairs, gamma in blocks:
            sums.log_likelihood += float(block.step_logs(pack.lanes).sum())
            size = gamma[0].size
            sums.moves += block.alpha.reshape(k, -1)[:, :size] @ pairs.reshape(k, -1).T
            x = rows_of(X, pack.lanes, block.first, block.first + gamma.shape[1])
            chain.emission.add(sums.emission, x.reshape(X.shape[1], -1), gamma.reshape(k, -1))
            if block.first == 0:
                sums.start += gamma[:, 0, pack.opens].sum(axis=1)
        return sums

    parts, run_up = _both_ways(X, chain, segments, run_up, work)
    total = parts[0]
    for part in parts[1:]:
        total.log_likelihood += part.log_likelihood
        total.start += part.start
        total.moves += part.moves
        total.emission += part.emission
    total.moves *= chain.transition
    return total, run_up


def posterior(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> NDArray:
    """Compute p(state | all rows of the sequence) for every row, in the type of X."""
    out = np.empty((len(X), chain.n_states), X.dtype)

    def work(pack: _Pack, blocks: Iterator) -> None:
        for block, _, gamma in blocks:
            step, lane = _live(pack.lanes, block)
            out[pack.lanes.begin[lane] + block.first + step] = gamma[:, step, lane].T

    _both_ways(X, chain, segments, run_up, work)
    return out


def step_scores(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> NDArray:
    """Compute log p(row | rows before it in its sequence) for every row."""
    out = np.empty(len(X))

    inner = np.flatnonzero(~segments.opens)

    def attempt(run_up: int) -> tuple[None, bool]:
        before = from_before(X, chain, segments, run_up)
        last = before.copy()

        def work(pack: _Pack) -> None:
            for block in pack.forwards(before, last):
                step, lane = _live(pack.lanes, block)
                out[pack.lanes.begin[lane] + block.first + step] = block.step_logs(pack.lanes)[step, lane]

        _packs(X, chain, segments, work)
        return None, agree(before[:, inner], last[:, inner - 1])

    until_agreed(attempt, run_up)
    return out


def _live(lanes: Lanes, block: Filtered) -> tuple[NDArray, NDArray]:
    """Find (step, lane) of every entry of a block that is a row."""
    step, lane = np.nonzero(block.first + np.arange(block.norm.shape[0])[:, None] < lanes.length)
    return step, lane
