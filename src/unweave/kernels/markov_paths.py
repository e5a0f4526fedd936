"""Viterbi's recursion for many chains at once, one lane a chain, and the way back along its pointers."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def best_paths(logs, into, length, first, delta, start, back):
    """Viterbi over a block: ``delta[j] = max_i delta[i] + into[j, i] + logs[j, t]``, and the i in ``back[t, j]``.

    Where `start` is true, delta holds the log-probabilities of the state at the very first step. The largest of delta
    is taken out after every step, so that differences keep their digits; past its length a lane stays as it is.
    """
    states, steps, lanes = logs.shape
    new, best, arg, top = np.empty((states, lanes)), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for t in range(steps):
        for j in range(states):
            for lane in range(lanes):
                best[lane], arg[lane] = delta[0, lane] + into[j, 0], 0.0
            for i in range(1, states):
                log = into[j, i]
                for lane in range(lanes):
                    value = delta[i, lane] + log
                    better = value > best[lane]
                    best[lane] = value if better else best[lane]
                    arg[lane] = i if better else arg[lane]
            for lane in range(lanes):
                begins = first + t == 0 and start[lane]
                new[j, lane] = logs[j, t, lane] + (delta[j, lane] if begins else best[lane])
                back[t, j, lane] = int(arg[lane])
        for lane in range(lanes):
            top[lane] = new[0, lane]
        for j in range(1, states):
            for lane in range(lanes):
                top[lane] = new[j, lane] if new[j, lane] > top[lane] else top[lane]
        for j in range(states):
            for lane in range(lanes):
                delta[j, lane] = new[j, lane] - top[lane] if first + t < length[lane] else delta[j, lane]


@kernel
def trace_back(back, width, lane, states, last, path):
    """Follow the pointers of one lane from its last state; the state before its first step.

    `back` holds the pointers (step, state, lane) of a pack of `width` lanes.
    """
    now = last
    for t in range(len(path) - 1, -1, -1):
        path[t] = now
        now = int(back[(t * states + now) * width + lane])
    return now


@kernel
def walk(start, ends, draws, states):
    """A path of the chain whose cumulative probabilities are `start` and the rows of `ends`, from uniform draws."""
    last = len(start) - 1
    for t in range(len(states)):
        state = 0
        while state < last and draws[t] >= (start[state] if t == 0 else ends[states[t - 1], state]):
            state += 1
        states[t] = state
