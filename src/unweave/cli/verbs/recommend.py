"""Run ``unweave recommend``: list the best items for users of a saved model, by id."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.output import open_model
from unweave.cli.say import Speaker


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    model, _, _ = open_model(settings.model)
    if not hasattr(model, "recommend"):
        raise ValueError(f"{settings.model} is a {type(model).__name__}, which does not recommend; use one of complete")
    users = _ids(settings.users, model.user_ids_)
    items, scores = model.recommend(users, settings.n, unknown=settings.unknown)
    lists = [_listed(*pair) for pair in zip(items, scores, strict=True)]
    rows = [
        [user if place == 0 else "", str(place + 1), str(item), f"{score:.4g}"]
        for user, best in zip(settings.users, lists, strict=True)
        for place, (item, score) in enumerate(best)
    ]
    speaker.table("", ["user", "", "item", "score"], rows)
    for user, best in zip(settings.users, lists, strict=True):
        if len(best) < settings.n:
            speaker.note(f"user {user} has {len(best)} items that are not rated yet")
    answer = [
        {"user": user, "items": [item for item, _ in best], "scores": [score for _, score in best]}
        for user, best in zip(settings.users, lists, strict=True)
    ]
    speaker.result({"verb": "recommend", "model": str(settings.model), "recommended": answer})
    return 0


def _ids(texts: list[str], ids: np.ndarray | None) -> list[Any]:
    """Look ids up as the model knows them, or read positions; one that is not known stays, for the model to name."""
    if ids is None:
        wrong = next((text for text in texts if not text.isdecimal()), None)
        if wrong is not None:
            raise ValueError(f"the model knows users by position alone: give whole numbers from 0, not {wrong!r}")
        return [int(text) for text in texts]
    known = {str(name): name for name in ids.tolist()}
    return [known.get(text, text) for text in texts]


def _listed(items: np.ndarray, scores: np.ndarray) -> list[tuple[Any, float]]:
    """Return items and scores of one user, without the marks of a short list."""
    pairs = zip(items.tolist(), scores.tolist(), strict=True)
    return [(item, score) for item, score in pairs if np.isfinite(score)]
