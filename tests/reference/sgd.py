"""Stochastic gradient steps, one entry and one vector at a time."""

import numpy as np


def descend_block(
    users, items, values, order, U, Z, dU, dZ, user_ridge, item_ridge, rate, momentum, held_user, held_item
):  # fmt: skip
    for e in order:
        i, j = users[e], items[e]
        u, z = U[i].copy(), Z[j].copy()
        error = values[e] - u @ z
        dU[i] = momentum * dU[i] + rate * (error * z - user_ridge[i] * u)
        dZ[j] = momentum * dZ[j] + rate * (error * u - item_ridge[j] * z)
        free_u = np.arange(len(u)) != held_user
        free_z = np.arange(len(z)) != held_item
        U[i, free_u] += dU[i, free_u]
        Z[j, free_z] += dZ[j, free_z]
