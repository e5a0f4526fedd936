"""Cover the cells of an access table by the fewest roles, and find cells of which no two fit into one.

Cells are the nodes of a graph in which neighbours fit into one role; a role covers a clique. `near` holds the
neighbours of every cell as bits, itself included. Random numbers come from one word of state, so that a search that was
saved goes on alike.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.roles import ONE, ZERO, list_ones


@kernel
def draw(state, n):
    """A whole number from 0 to n - 1 (xorshift; `state` holds one word that is not zero)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(n))


@kernel
def near_range(rows, cells, near, start, stop):
    """Mark the cells that fit into one role with each of ``[start, stop)``: both users hold both permissions."""
    for c in range(start, stop):
        u, p = cells[c, 0], cells[c, 1]
        for d in range(cells.shape[0]):
            a, b = cells[d, 0], cells[d, 1]
            fits = (rows[u, b >> 6] >> np.uint64(b & 63)) & (rows[a, p >> 6] >> np.uint64(p & 63)) & ONE
            near[c, d >> 6] |= fits << np.uint64(d & 63)


@kernel
def grow_clique(near, first, interest, state, clique, open_, places):
    """Grow a maximal clique from the cell `first`: next the open cell that keeps most of `interest` open; the work.

    `interest` is what every cell is worth. Of equal cells one is drawn.
    """
    width, work = near.shape[1], 0
    for w in range(width):
        clique[w] = ZERO
        open_[w] = near[first, w]
    chosen = first
    while chosen >= 0:
        clique[chosen >> 6] |= ONE << np.uint64(chosen & 63)
        for w in range(width):
            open_[w] &= near[chosen, w]
        open_[chosen >> 6] &= ~(ONE << np.uint64(chosen & 63))
        for w in range(width):
            open_[w] &= ~clique[w]
        count = list_ones(open_, places)
        best, chosen, ties = -1, -1, 1
        work += width
        for i in range(count):
            x = places[i]
            score = 0
            for j in range(count):
                y = places[j]
                if (near[x, y >> 6] >> np.uint64(y & 63)) & ONE != ZERO:
                    score += interest[y]
            score = score * 4 + (interest[x] > 0)
            ties = 1 if score > best else ties + (score == best)
            if score > best or (score == best and draw(state, ties) == 0):
                best, chosen = score, x
        work += count * count
    return work


@kernel
def cover_rounds(
    near, cliques, numbers, counts, weights, born, best, state, interest, clique, open_, places, least, budget
):
    """Search for fewer cliques that cover every cell, for `budget` elementary steps.

    In every round the clique goes that is missed least (by the weights of what it alone covers), a cell that is not
    covered is drawn, and a clique is grown about it; what is not covered gains weight. When all is covered the cliques
    are kept in `best`. `numbers` holds how many cliques there are, in the best cover, the round, and how many cells are
    not covered. Ends early when the best has `least`.
    """
    cells, width = near.shape
    work = 0
    while work < budget:
        n, round_ = numbers[0], numbers[2]
        if numbers[3] == 0:
            if n < numbers[1]:
                for r in range(n):
                    for w in range(width):
                        best[r, w] = cliques[r, w]
                numbers[1] = n
            if n <= least:
                break
        for _ in range(1 + (numbers[3] == 0)):
            n = numbers[0]
            lowest, which = -1, -1
            for r in range(n):
                count = list_ones(cliques[r], places)
                loss = 0
                for i in range(count):
                    if counts[places[i]] == 1:
                        loss += weights[places[i]]
                work += count + width
                if born[r] == round_ - 1 and n > 1:
                    continue
                if which < 0 or loss < lowest or (loss == lowest and born[r] < born[which]):
                    lowest, which = loss, r
            count = list_ones(cliques[which], places)
            for i in range(count):
                counts[places[i]] -= 1
                numbers[3] += counts[places[i]] == 0
            for w in range(width):
                cliques[which, w] = cliques[n - 1, w]
            born[which] = born[n - 1]
            numbers[0] = n - 1
        # A cell that is not covered, drawn; cells that are covered once come next, so that another clique gets free.
        seen, first = 0, -1
        for c in range(cells):
            interest[c] = 0
            if counts[c] == 0:
                interest[c] = 64 * weights[c]
                seen += 1
                if draw(state, seen) == 0:
                    first = c
            elif counts[c] == 1:
                interest[c] = 1
        work += cells
        n = numbers[0]
        work += grow_clique(near, first, interest, state, clique, open_, places)
        count = list_ones(clique, places)
        for i in range(count):
            numbers[3] -= counts[places[i]] == 0
            counts[places[i]] += 1
        for w in range(width):
            cliques[n, w] = clique[w]
        born[n] = round_
        numbers[0] = n + 1
        for c in range(cells):
            weights[c] += counts[c] == 0
        numbers[2] = round_ + 1
    return work


@kernel
def apart_rounds(near, chosen, tight, banned, best, numbers, state, places, budget):
    """Search for more cells of which no two are neighbours, for `budget` elementary steps.

    A cell with no neighbour among the chosen is added; else one with a single such neighbour takes its place, unless it
    left a short while ago; else a random one comes in and all its neighbours go. `tight` counts chosen neighbours
    (itself included), `banned` is the round until which a cell stays out. `numbers` holds how many are chosen, the most
    so far, and the round.
    """
    cells = near.shape[0]
    work = 0
    while work < budget:
        round_ = numbers[2]
        free, swap, n_free, n_swap = -1, -1, 0, 0
        for c in range(cells):
            if chosen[c]:
                continue
            if tight[c] == 0:
                n_free += 1
                if draw(state, n_free) == 0:
                    free = c
            elif tight[c] == 1 and banned[c] <= round_:
                n_swap += 1
                if draw(state, n_swap) == 0:
                    swap = c
        work += cells
        new = free if free >= 0 else swap
        if new < 0 or (free < 0 and draw(state, 1000) == 0):
            new = draw(state, cells)
            if chosen[new]:
                numbers[2] = round_ + 1
                continue
        count = list_ones(near[new], places)
        work += count
        if tight[new] > 0:
            for i in range(count):
                old = places[i]
                if chosen[old]:
                    chosen[old] = 0
                    numbers[0] -= 1
                    banned[old] = round_ + 3 + draw(state, 8)
                    for d in range(cells):
                        tight[d] -= np.int64((near[old, d >> 6] >> np.uint64(d & 63)) & ONE)
                    work += cells
        chosen[new] = 1
        numbers[0] += 1
        for i in range(count):
            tight[places[i]] += 1
        if numbers[0] > numbers[1]:
            numbers[1] = numbers[0]
            for c in range(cells):
                best[c] = chosen[c]
        numbers[2] = round_ + 1
    return work
