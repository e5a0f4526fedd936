"""Stochastic gradient steps, one entry and one vector at a time."""

import numpy as np


def descend_block(
    users, items, values, order, U, Z, dU, dZ, user_ridge, item_ridge, bias, rate, momentum, held_user, held_item
):  # fmt: skip
    for e in order:
        i, j = users[e], items[e]
        u, z = U[i].copy(), Z[j].copy()
        error = values[e] - u @ z
        of_user, of_item = np.full(len(u), user_ridge[i]), np.full(len(z), item_ridge[j])
        of_user[held_item] *= bias
        of_item[held_user] *= bias
        new_u = (u + momentum * dU[i] + rate * error * z) / (1 + rate * of_user)
        new_z = (z + momentum * dZ[j] + rate * error * u) / (1 + rate * of_item)
        new_u[held_user], new_z[held_item] = u[held_user], z[held_item]
        U[i], Z[j], dU[i], dZ[j] = new_u, new_z, new_u - u, new_z - z
