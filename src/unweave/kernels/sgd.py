"""One pass of stochastic gradient steps over the ratings of a block of users and items."""

from __future__ import annotations

from unweave.kernels import kernel


@kernel
def descend_block(
    users, items, values, order, U, Z, dU, dZ, user_ridge, item_ridge, bias, rate, momentum, held_user, held_item
):  # fmt: skip
    """For each entry e in `order`: ``u = (u + rate*error*z) / (1 + rate*ridge)`` and the same for z, with momentum.

    Dividing (a proximal step) has the same fixed point as subtracting ``rate*ridge*u`` and is stable for any ridge.
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
            pull = a * bias if t == held_item else a
            push = b * bias if t == held_user else b
            if t != held_user:
                u[t] = (up + momentum * du[t] + rate * error * zp) / (1 + rate * pull)
                du[t] = u[t] - up
            if t != held_item:
                z[t] = (zp + momentum * dz[t] + rate * error * up) / (1 + rate * push)
                dz[t] = z[t] - zp
