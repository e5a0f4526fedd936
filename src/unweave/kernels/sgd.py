"""One pass of stochastic gradient steps over the ratings of a block of users and items."""

from __future__ import annotations

from unweave.kernels import kernel


@kernel
def descend_block(
    users, items, values, order, U, Z, dU, dZ, user_ridge, item_ridge, bias, rate, momentum, held_user, held_item
):  # fmt: skip
    """For each entry e in `order`: ``u += rate*(error*z - ridge*u)`` and the same for z, each with its momentum.

    `U` (n x k) and `Z` (m x k) are changed in place, with their velocities `dU` and `dZ`; column `held_user` of U and
    `held_item` of Z stay as they are (the ones beside the biases, whose ridge is `bias` times the other). Blocks that
    share no user and no item may run side by side.
    """
    k = U.shape[1]
    for o in range(order.shape[0]):
        e = order[o]
        i, j = users[e], items[e]
        u, z, du, dz = U[i], Z[j], dU[i], dZ[j]
        error = values[e]
        for t in range(k):
            error -= u[t] * z[t]
        a, b = user_ridge[i], item_ridge[j]
        for t in range(k):
            up, zp = u[t], z[t]
            pull, push = a * up, b * zp
            if t == held_item:
                pull *= bias
            if t == held_user:
                push *= bias
            du[t] = momentum * du[t] + rate * (error * zp - pull)
            dz[t] = momentum * dz[t] + rate * (error * up - push)
            if t != held_user:
                u[t] = up + du[t]
            if t != held_item:
                z[t] = zp + dz[t]
