"""Hidden Markov chains, many at once: the recursions over time, one lane per chain.

A recursion over time is bound by latency, so kernels run several chains side by side: arrays are (states, steps, lanes)
and the innermost loop is over lanes, which the compiler turns into SIMD. A lane shorter than the others is padded with
steps at which nothing was observed. Sums are float64 whatever the type of X.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

_FAINT = 1e-280  # a total below this holds no information: the step is left out of the sums


@kernel
def take_lanes(X, begin, length, first, out):
    """Rows ``begin[l] + first + t`` of X as ``out[:, t, l]``; NaN past the lane's own length."""
    columns, steps, lanes = out.shape
    for lane in range(lanes):
        seen = min(max(length[lane] - first, 0), steps)
        row = begin[lane] + first
        for t in range(seen):
            for j in range(columns):
                out[j, t, lane] = X[row + t, j]
        for t in range(seen, steps):
            for j in range(columns):
                out[j, t, lane] = np.nan


@kernel
def diagonal_densities(x, mean, precision, constant, out):
    """``out[k] = sum_j constant[k, j] - precision[k, j] (x_j - mean[k, j])^2 / 2`` over the entries seen."""
    columns, size = x.shape
    for k in range(out.shape[0]):
        for e in range(size):
            out[k, e] = 0.0
        for j in range(columns):
            centre, half, top = mean[k, j], 0.5 * precision[k, j], constant[k, j]
            for e in range(size):
                apart = x[j, e] - centre
                value = top - half * apart * apart
                out[k, e] += value if value == value else 0.0


@kernel
def full_densities(x, mean, root, constant, out):
    """``out[k] = constant[k] - |root[k] (x - mean[k])|^2 / 2`` with lower triangular roots; 0 where x is missing."""
    columns, size = x.shape
    white = np.empty(size)
    for k in range(out.shape[0]):
        for e in range(size):
            out[k, e] = constant[k]
        for i in range(columns):
            for e in range(size):
                white[e] = root[k, i, 0] * (x[0, e] - mean[k, 0])
            for j in range(1, i + 1):
                scale, centre = root[k, i, j], mean[k, j]
                for e in range(size):
                    white[e] += scale * (x[j, e] - centre)
            for e in range(size):
                out[k, e] -= 0.5 * white[e] * white[e]
        for e in range(size):
            out[k, e] = out[k, e] if out[k, e] == out[k, e] else 0.0


@kernel
def symbol_densities(x, table, out):
    """``out[k] = table[k, symbol]``, 0 where the symbol is missing (NaN)."""
    for k in range(out.shape[0]):
        for e in range(x.shape[1]):
            seen = x[0, e] == x[0, e]
            out[k, e] = table[k, int(x[0, e])] if seen else 0.0


@kernel
def mix(weights, source, out):
    """``out[j] = sum_i weights[j, i] source[i]`` for every lane."""
    states, lanes = source.shape
    whole = states - states % 4
    for j in range(states):
        for lane in range(lanes):
            out[j, lane] = 0.0
        for i in range(0, whole, 4):
            a, b, c, d = weights[j, i], weights[j, i + 1], weights[j, i + 2], weights[j, i + 3]
            for lane in range(lanes):
                out[j, lane] += (
                    a * source[i, lane] + b * source[i + 1, lane] + c * source[i + 2, lane] + d * source[i + 3, lane]
                )
        for i in range(whole, states):
            a = weights[j, i]
            for lane in range(lanes):
                out[j, lane] += a * source[i, lane]


@kernel
def forward(b, into, predicted, alpha, norm):
    """Filtered probabilities of a block of steps.

    ``alpha[:, t + 1] = predicted * b[:, t] / norm[t]``, then ``predicted = into alpha[:, t + 1]`` with `into` the
    transposed transition matrix; ``alpha[:, 0]`` is the caller's. `predicted` is carried on.
    """
    states, steps, lanes = b.shape
    now = np.empty((states, lanes))
    for t in range(steps):
        for lane in range(lanes):
            norm[t, lane] = 0.0
        for k in range(states):
            for lane in range(lanes):
                now[k, lane] = predicted[k, lane] * b[k, t, lane]
                norm[t, lane] += now[k, lane]
        for k in range(states):
            for lane in range(lanes):
                now[k, lane] /= norm[t, lane]
                alpha[k, t + 1, lane] = now[k, lane]
        mix(into, now, predicted)


@kernel
def carry_back(product, transition, live, message, spare):
    """``message = transition product``, scaled to sum to one, in the lanes that are alive."""
    states, lanes = message.shape
    mix(transition, product, spare)
    scale = np.zeros(lanes)
    for k in range(states):
        for lane in range(lanes):
            scale[lane] += spare[k, lane]
    for lane in range(lanes):
        scale[lane] = live[lane] / scale[lane] if scale[lane] > 0.0 else 0.0
    for k in range(states):
        for lane in range(lanes):
            message[k, lane] = spare[k, lane] * scale[lane] if scale[lane] > 0.0 else message[k, lane]


@kernel
def retreat(b, transition, length, first, message):
    """Carry `message`, what the steps after this block say of its last state, to the step before the block."""
    states, steps, lanes = b.shape
    product, spare, live = np.empty((states, lanes)), np.empty((states, lanes)), np.empty(lanes)
    for t in range(steps - 1, -1, -1):
        for lane in range(lanes):
            live[lane] = 1.0 if first + t < length[lane] else 0.0
        for k in range(states):
            for lane in range(lanes):
                product[k, lane] = b[k, t, lane] * message[k, lane]
        carry_back(product, transition, live, message, spare)


@kernel
def backward(b, transition, alpha, norm, length, first, message, pairs, gamma):
    """As :func:`retreat`, with what Baum–Welch needs on the way.

    ``gamma[:, t]`` are the posterior probabilities of the states, ``alpha[i, t] transition[i, j] pairs[j, t]`` those
    of the step from i (at t − 1) to j. Both are zero past the length of a lane.
    """
    states, steps, lanes = b.shape
    product, spare = np.empty((states, lanes)), np.empty((states, lanes))
    live, total = np.empty(lanes), np.empty(lanes)
    for t in range(steps - 1, -1, -1):
        for lane in range(lanes):
            live[lane] = 1.0 if first + t < length[lane] else 0.0
            total[lane] = 0.0
        for k in range(states):
            for lane in range(lanes):
                total[lane] += alpha[k, t + 1, lane] * message[k, lane]
        for lane in range(lanes):
            total[lane] = live[lane] / total[lane] if total[lane] > _FAINT else 0.0
        for k in range(states):
            for lane in range(lanes):
                gamma[k, t, lane] = alpha[k, t + 1, lane] * message[k, lane] * total[lane]
                product[k, lane] = b[k, t, lane] * message[k, lane]
                pairs[k, t, lane] = product[k, lane] * (total[lane] / norm[t, lane])
        carry_back(product, transition, live, message, spare)


@kernel
def diagonal_moments(x, shift, out):
    """Rows 1, y and y² of every column, y = x − shift; zeros where x is missing."""
    columns, size = x.shape
    for j in range(columns):
        centre = shift[j]
        for e in range(size):
            value = x[j, e] - centre
            seen = value == value
            out[j, e] = 1.0 if seen else 0.0
            out[columns + j, e] = value if seen else 0.0
            out[2 * columns + j, e] = value * value if seen else 0.0


@kernel
def full_moments(x, shift, out):
    """Rows 1, y and y_i y_j (i ≤ j, one after the other), y = x − shift; zeros where x is missing."""
    columns, size = x.shape
    at = 1 + columns
    for i in range(columns):
        for e in range(size):
            value = x[i, e] - shift[i]
            out[0, e] = 1.0 if value == value else 0.0
            out[1 + i, e] = value if value == value else 0.0
    for i in range(columns):
        for j in range(i, columns):
            for e in range(size):
                out[at, e] = out[1 + i, e] * out[1 + j, e]
            at += 1


@kernel
def count_symbols(x, gamma, counts):
    """``counts[k, symbol] += gamma[k]`` over the symbols seen."""
    for k in range(gamma.shape[0]):
        for e in range(x.shape[1]):
            if x[0, e] == x[0, e]:
                counts[k, int(x[0, e])] += gamma[k, e]


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
