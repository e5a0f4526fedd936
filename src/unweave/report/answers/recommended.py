"""Answer what suits a few users, and how well hidden ratings or pairs are found."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.report.answers import Found
from unweave.report.answers.errors import error_words, held_out_errors
from unweave.report.numbers import counted, readable
from unweave.report.view import View

_USERS, _ITEMS = 3, 5


def recommended_answer(model: Any, view: View | None) -> Found:
    """Tell the best new items of the first users, by name, under any model that recommends."""
    rated = predicts_ratings(model)
    n, m = model.seen_.shape
    lists = best_items(model, np.arange(min(_USERS, n)), _ITEMS)
    what = "rating" if rated else "interaction"
    headline = f"{counted(n, 'user')}, {counted(m, 'item')}, {counted(int(model.seen_.nnz), what)}"
    thing = "predicted rating" if rated else "score"
    header = ["user", f"new items, best first ({thing})"]
    rows = [[one["user"], "; ".join(f"{i} ({readable(s)})" for i, s in _pairs(one))] for one in lists]
    errors = held_out_errors(model, view)
    lines = error_words(errors, "", column="item", row="user") if rated else _found_again(model)
    if rated and not int(getattr(model, "n_components_", 1)):
        lines.append("Users do not differ in what they like, as far as these ratings tell: everybody's list is alike.")
    data: dict[str, Any] = {"users": n, "items": m, f"{what}s": int(model.seen_.nnz), "examples": lists}
    return Found(headline, header, rows, lines, {**data, **({"errors": errors} if errors else {})})


def predicts_ratings(model: Any) -> bool:
    """Tell whether scores are ratings in the units of the data, not only an order."""
    return hasattr(model, "item_bias_")


def best_items(model: Any, users: np.ndarray, n: int) -> list[dict[str, Any]]:
    """List the best new items of users (by position), with names; predicted ratings stay in the range of the given."""
    items, scores = model.recommend([int(user) for user in users], n, rows=True)
    if predicts_ratings(model):
        kept = np.clip(scores, model.seen_.data.min(), model.seen_.data.max())
        scores = np.where(np.isfinite(scores), kept, scores)
    user_ids, item_ids = model.user_ids_, model.item_ids_
    lists = []
    for user, found, values in zip(users, items, scores, strict=True):
        good = np.isfinite(values)
        lists.append(
            {
                "user": str(user if user_ids is None else user_ids[user]),
                "items": [str(i if item_ids is None else item_ids[i]) for i in found[good]],
                "scores": [float(value) for value in values[good]],
            }
        )
    return lists


def _pairs(one: dict[str, Any]) -> zip:
    return zip(one["items"], one["scores"], strict=True)


def _found_again(model: Any) -> list[str]:
    path = getattr(model, "ridge_path_", None)
    if not path:
        return []
    return [f"Hidden interactions are found again with an NDCG@10 of {readable(max(path.values()))} (1 is perfect)."]
