"""Reduce a table of who may do what to the cells that decide how many roles it takes, 64 permissions a word.

A table is held twice, by rows (users) and by columns (permissions), as bits of 64-bit words. Two cells fit into one
role if each user holds the other's permission too. `left` marks the cells that still have to be covered.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

_5 = np.uint64(0x5555555555555555)
_3 = np.uint64(0x3333333333333333)
_F = np.uint64(0x0F0F0F0F0F0F0F0F)
_1 = np.uint64(0x0101010101010101)
ONE, ZERO = np.uint64(1), np.uint64(0)


@kernel
def count_ones(word):
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & _5)
    word = (word & _3) + ((word >> np.uint64(2)) & _3)
    word = (word + (word >> np.uint64(4))) & _F
    return np.int64((word * _1) >> np.uint64(56))


@kernel
def list_ones(words, places):
    """Write the places of the bits that are set, ascending; how many."""
    found = 0
    for w in range(words.shape[0]):
        word = words[w]
        while word != ZERO:
            low = word & (~word + ONE)
            places[found] = w * 64 + count_ones(low - ONE)
            found += 1
            word ^= low
    return found


@kernel
def reduce_range(
    rows, columns, left, cells, words, places, near, shared, who, offsets, parents, log, found, start, stop
):
    """Go over the cells of ``[start, stop)``: take the roles that must be, drop the cells that are covered whenever
    another one is.

    Cells that fit into one role with the cell (u, p): users U and permissions P. If every one of U holds all of P there
    is one role worth having that covers (u, p): it is taken. Otherwise the cell covers for every (u', p') where u'
    holds all of P and p' is held by all of U. Every one of `rows` is a cell, numbered from `offsets[u]` on: `parents`
    says for a dropped cell which cell covers for it, or -1 - r for the role r; `log` lists what was dropped, in order.
    Returns how many roles have been found, how many cells are in the log, and how many words were looked at; `found` is
    the first two before.
    """
    width, height = rows.shape[1], columns.shape[1]
    roles, dropped, work = found[0], found[1], 0
    for c in range(start, stop):
        u, p = cells[c, 0], cells[c, 1]
        if (left[u, p >> 6] >> np.uint64(p & 63)) & ONE == ZERO:
            continue
        active = 0
        for w in range(width):
            near[w] = ZERO
            shared[w] = rows[u, w]
            if rows[u, w] != ZERO:
                words[active] = w
                active += 1
        for w in range(height):
            who[w] = columns[p, w]
        count = list_ones(who, places)
        work += 2 * count * active
        for i in range(count):
            a = places[i]
            met = ZERO
            for j in range(active):
                w = words[j]
                both = left[a, w] & rows[u, w]
                near[w] |= both
                met |= both
            if met != ZERO:
                for j in range(active):
                    shared[words[j]] &= rows[a, words[j]]
        more = ZERO
        for j in range(active):
            more |= near[words[j]] & ~shared[words[j]]
        count = list_ones(near, places)
        work += count * height
        for i in range(count):
            for w in range(height):
                who[w] &= columns[places[i], w]
        me = number_of(rows, offsets, u, p)
        parent = me if more != ZERO else -1 - roles
        roles += more == ZERO
        count = list_ones(who, places)
        for i in range(count):
            a = places[i]
            for j in range(active):
                w = words[j]
                gone = left[a, w] & shared[w]
                if more != ZERO and a == u and w == p >> 6:
                    gone &= ~(ONE << np.uint64(p & 63))
                left[a, w] &= ~gone
                while gone != ZERO:
                    low = gone & (~gone + ONE)
                    gone ^= low
                    lost = number_of(rows, offsets, a, w * 64 + count_ones(low - ONE))
                    parents[lost] = parent
                    log[dropped] = lost
                    dropped += 1
    return roles, dropped, work


@kernel
def number_of(rows, offsets, u, p):
    """The number of a cell among all ones, row after row."""
    number = offsets[u]
    for w in range(p >> 6):
        number += count_ones(rows[u, w])
    return number + count_ones(rows[u, p >> 6] & ((ONE << np.uint64(p & 63)) - ONE))


@kernel
def inherit(parents, log, dropped, groups):
    """Put dropped cells, the last first, into the role of the cell that covers for them."""
    for i in range(dropped - 1, -1, -1):
        parent = parents[log[i]]
        groups[log[i]] = -1 - parent if parent < 0 else groups[parent]


@kernel
def code_range(ones, zeros, roles, missed, extra, most_extra, most, codes, once, twice, useful, costs, start, stop):
    """Switch the roles of every row on and off, best first, as long as that lowers what the row costs.

    A row costs `missed` for each one that no role of it covers, `extra` for each zero that one does. Roles that cover
    more than `most_extra` zeros are not considered; a row gets `most` roles at most, where that is not 0. A role that
    changes nothing is taken away. `codes` holds where to begin, and what comes of it; `costs` what the rows then cost.
    """
    k, width = roles.shape
    for i in range(start, stop):
        count, n_useful = 0, 0
        for w in range(width):
            once[w] = ZERO
            twice[w] = ZERO
        for r in range(k):
            good, bad = 0, 0
            for w in range(width):
                good += count_ones(roles[r, w] & ones[i, w])
                bad += count_ones(roles[r, w] & zeros[i, w])
                if bad > most_extra:
                    break
            if good == 0 or bad > most_extra:
                codes[i, r] = 0
                continue
            useful[n_useful] = r
            n_useful += 1
            if codes[i, r]:
                count += 1
                for w in range(width):
                    twice[w] |= once[w] & roles[r, w]
                    once[w] |= roles[r, w]
        while True:
            best, which = -1.0, -1
            for j in range(n_useful):
                r = useful[j]
                on = codes[i, r] != 0
                good, bad = 0, 0
                for w in range(width):
                    alone = roles[r, w] & ~(twice[w] if on else once[w])
                    good += count_ones(alone & ones[i, w])
                    bad += count_ones(alone & zeros[i, w])
                gain = missed * good - extra * bad
                if on:
                    if -gain >= 0.0 and -gain > best:
                        best, which = -gain, r
                elif gain > 0.0 and gain > best and (most == 0 or count < most):
                    best, which = gain, r
            if which < 0:
                break
            codes[i, which] = 1 - codes[i, which]
            count = 0
            for w in range(width):
                once[w] = ZERO
                twice[w] = ZERO
            for j in range(n_useful):
                r = useful[j]
                if codes[i, r]:
                    count += 1
                    for w in range(width):
                        twice[w] |= once[w] & roles[r, w]
                        once[w] |= roles[r, w]
        good, bad = 0, 0
        for w in range(width):
            good += count_ones(ones[i, w] & ~once[w])
            bad += count_ones(zeros[i, w] & once[w])
        costs[i] = missed * good + extra * bad


@kernel
def cover_range(codes, roles, once, twice, start, stop):
    """Mark what the roles of each row grant, and what two of them or more do."""
    for i in range(start, stop):
        for r in range(roles.shape[0]):
            if codes[i, r] != 0:
                for w in range(roles.shape[1]):
                    twice[i, w] |= once[i, w] & roles[r, w]
                    once[i, w] |= roles[r, w]


@kernel
def grow_role(columns, left, u, p, open_, apart, most, items, who, counts, places, others):
    """Grow a role about the cell (u, p): permissions of `open_` one by one, as long as it covers more of what is left.

    `counts` holds zeros for every user, and is left so. Permissions that `apart` marks for one another do not go
    together (it has no rows where all do), and a role has `most` at most, where that is not 0. What is held by all who
    have the role comes in for nothing. Returns how many cells of `left` the role covers, and the work.
    """
    width, height = left.shape[1], columns.shape[1]
    for w in range(width):
        items[w] = ZERO
    for w in range(height):
        who[w] = columns[p, w]
    chosen, size, gain, work = p, 0, 0, 0
    while chosen >= 0:
        items[chosen >> 6] |= ONE << np.uint64(chosen & 63)
        size += 1
        open_[chosen >> 6] &= ~(ONE << np.uint64(chosen & 63))
        if apart.shape[0] > 0:
            for w in range(width):
                open_[w] &= ~apart[chosen, w]
        for w in range(height):
            who[w] &= columns[chosen, w]
        n_users = list_ones(who, places)
        gain = 0
        for i in range(n_users):
            a = places[i]
            counts[a] += np.int64((left[a, chosen >> 6] >> np.uint64(chosen & 63)) & ONE)
            gain += counts[a]
        if most > 0 and size >= most:
            break
        best, least = gain, -1
        chosen = -1
        count = list_ones(open_, others)
        for j in range(count):
            b = others[j]
            score, kept = 0, 0
            for i in range(n_users):
                a = places[i]
                if (columns[b, a >> 6] >> np.uint64(a & 63)) & ONE != ZERO:
                    kept += 1
                    score += counts[a] + np.int64((left[a, b >> 6] >> np.uint64(b & 63)) & ONE)
            # more cells; or as many with nobody lost, which can only help later
            if score > best or (score == best and kept > least and (kept == n_users or least >= 0)):
                best, least, chosen = score, kept, b
        work += count * n_users
    n_users = list_ones(columns[p], places)
    for i in range(n_users):
        counts[places[i]] = 0
    return gain, work


@kernel
def needed(roles, codes, r, marked, need, others):
    """Mark in `need` what users of role r get from none of their other roles, of the cells that are `marked`."""
    k, width = roles.shape
    for i in range(codes.shape[0]):
        if codes[i, r] == 0:
            continue
        for w in range(width):
            others[w] = ZERO
        for s in range(k):
            if codes[i, s] != 0 and s != r:
                for w in range(width):
                    others[w] |= roles[s, w]
        for w in range(width):
            need[w] |= roles[r, w] & ~others[w] & marked[i, w]


@kernel
def fit_roles(
    row_ones,
    row_zeros,
    column_ones,
    column_zeros,
    row_kinds,
    column_kinds,
    users,
    items,
    gains,
    missed,
    extra,
    most_extra,
    seed_users,
    seed_items,
    worth,
    rounds,
    start,
    stop,
):
    """Fit roles to cells that are free, each on its own: in turns the users for whom it pays and the permissions for
    which it does.

    Role s of ``[start, stop)`` begins at the permissions in `items[s]` (bits over all columns); the best role met is
    written to `users[s]` and `items[s]`, and what it gains to `gains[s]`. Rows and columns are kinds; `row_kinds` and
    `column_kinds` say of which kind each row and column is. It pays for a line if `missed` times its ones among the
    other side is above `extra` times its zeros, of which there are `most_extra` at most.
    """
    height, width = users.shape[1], items.shape[1]
    for s in range(start, stop):
        best = 0.0
        for w in range(width):
            seed_items[w] = items[s, w]
            items[s, w] = ZERO
        for w in range(height):
            users[s, w] = ZERO
        for _ in range(rounds):
            for i in range(row_ones.shape[0]):
                good, bad = 0, 0
                for w in range(width):
                    good += count_ones(row_ones[i, w] & seed_items[w])
                    bad += count_ones(row_zeros[i, w] & seed_items[w])
                worth[i] = missed * good - extra * bad if bad <= most_extra else 0.0
            for w in range(height):
                seed_users[w] = ZERO
            total = 0.0
            for i in range(row_kinds.shape[0]):
                value = worth[row_kinds[i]]
                total += max(value, 0.0)
                seed_users[i >> 6] |= np.uint64(value > 0.0) << np.uint64(i & 63)
            if total <= best:
                break
            best = total
            same = True
            for w in range(width):
                items[s, w] = seed_items[w]
            for w in range(height):
                same &= users[s, w] == seed_users[w]
                users[s, w] = seed_users[w]
            if same:
                break
            for i in range(column_ones.shape[0]):
                good, bad = 0, 0
                for w in range(height):
                    good += count_ones(column_ones[i, w] & seed_users[w])
                    bad += count_ones(column_zeros[i, w] & seed_users[w])
                worth[i] = missed * good - extra * bad if bad <= most_extra else 0.0
            for w in range(width):
                seed_items[w] = ZERO
            for i in range(column_kinds.shape[0]):
                seed_items[i >> 6] |= np.uint64(worth[column_kinds[i]] > 0.0) << np.uint64(i & 63)
        gains[s] = best


@kernel
def grow_concept(rows, free, copies, left, columns, holders, items, trial, best_items, places, others):
    """Grow a formal concept: the permission next by which it covers most of `free`, as long as it covers more.

    `rows` are kinds of users with `copies`, `left` counts what is free in each, `columns` are kinds of permissions as
    bits over the kinds of users. Writes who holds the concept's permissions to `holders` and these to `items`; returns
    how much of `free` it covers (Belohlavek and Vychodil's greedy).
    """
    width, height, best = rows.shape[1], columns.shape[1], 0
    while True:
        chosen = -1
        for j in range(columns.shape[0]):
            bound = 0
            for w in range(height):
                others[w] = holders[w] & columns[j, w]
            count = list_ones(others, places)
            for i in range(count):
                bound += copies[places[i]] * left[places[i]]
            if bound <= best:
                continue
            for w in range(width):
                trial[w] = ~ZERO
            for i in range(count):
                for w in range(width):
                    trial[w] &= rows[places[i], w]
            score = 0
            for i in range(count):
                a = places[i]
                for w in range(width):
                    score += copies[a] * count_ones(free[a, w] & trial[w])
            if score > best:
                best, chosen = score, j
                for w in range(width):
                    best_items[w] = trial[w]
        if chosen < 0:
            return best
        for w in range(width):
            items[w] = best_items[w]
        for w in range(height):
            holders[w] &= columns[chosen, w]


@kernel
def weigh_range(ones, zeros, copies, roles, missed, extra, most_extra, gains, start, stop):
    """What each of some roles gains if all rows for whom it pays get it."""
    for r in range(start, stop):
        total = 0.0
        for i in range(ones.shape[0]):
            good, bad = 0, 0
            for w in range(ones.shape[1]):
                good += count_ones(ones[i, w] & roles[r, w])
                bad += count_ones(zeros[i, w] & roles[r, w])
            worth = missed * good - extra * bad
            if worth > 0.0 and bad <= most_extra:
                total += copies[i] * worth
        gains[r] = total


@kernel
def grow_cover(rows, columns, left, cells, at, apart, most, roles, items, open_, who, counts, places, others):
    """Grow roles about the cells that are left, in the order of `cells` from `at` on, until `roles` is full.

    What a role covers is struck from `left`. Returns how many roles there are and where to go on.
    """
    found = 0
    while at < cells.shape[0] and found < roles.shape[0]:
        u, p = cells[at, 0], cells[at, 1]
        at += 1
        if (left[u, p >> 6] >> np.uint64(p & 63)) & ONE == ZERO:
            continue
        for w in range(rows.shape[1]):
            open_[w] = rows[u, w]
        grow_role(columns, left, u, p, open_, apart, most, items, who, counts, places, others)
        count = list_ones(who, places)
        for i in range(count):
            for w in range(rows.shape[1]):
                left[places[i], w] &= ~items[w]
        for w in range(rows.shape[1]):
            roles[found, w] = items[w]
        found += 1
    return found, at
