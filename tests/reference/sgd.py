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
        dU[i] = momentum * dU[i] + rate * (error * z - of_user * u)
        dZ[j] = momentum * dZ[j] + rate * (error * u - of_item * z)
        free_u = np.arange(len(u)) != held_user
        free_z = np.arange(len(z)) != held_item
        U[i, free_u] += dU[i, free_u]
        Z[j, free_z] += dZ[j, free_z]
