"""Answer what axes, parts or topics a table is made of, and what each of them is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.answers import MOST, Found, left_out
from unweave.report.numbers import counted, percent, readable
from unweave.report.view import View, column_names, components_of, in_columns, strength_words, strengths
from unweave.report.words import called

_TOP = 5
_WORDS = 10
_LEAST = 0.2  # of the largest weight of a component: what is below plays no part worth naming
_PLURAL = {"axis": "axes"}


def axes_answer(model: Any, view: View | None) -> Found:
    """Tell how much of the spread each axis keeps, and the columns that it is made of."""
    shares = np.asarray(model.explained_variance_ratio_, dtype=np.float64)
    noun, names = called(model), column_names(model, view)
    Z = np.asarray(components_of(model), dtype=np.float64)
    in_all = np.cumsum(shares)
    axes: list[dict[str, Any]] = [
        {noun: i + 1, "share": float(shares[i]), "in_all": float(in_all[i]), "made_of": _largest(Z[i], names, _TOP)}
        for i in range(len(Z))
    ]
    rows = [
        [str(one[noun]), percent(one["share"]), percent(one["in_all"]), _weighted(one["made_of"])]
        for one in axes[:MOST]
    ]
    plural = _PLURAL.get(noun, f"{noun}s")
    keep = "keeps" if len(Z) == 1 else "keep"
    headline = (
        f"{counted(Z.shape[1], _column_noun(view))} in {counted(len(Z), noun, plural)} that {keep} "
        f"{percent(min(float(in_all[-1]), 1.0))} of the spread"
    )
    lines = [*left_out(len(Z), plural), *_ends(model, view, noun, len(Z))]
    data = {plural: axes, "kept": float(in_all[-1])}
    return Found(headline, [noun, "share of the spread", "in all", "made of (weights)"], rows, lines, data)


def basis_answer(model: Any, view: View | None) -> Found:
    """Tell how much of the energy is kept in how many numbers, and which coefficients have most of it."""
    shares = np.asarray(model.energy_ratio_, dtype=np.float64)
    total = float(np.sum(model.energies_))
    kept = 1 - 2 * float(model.objective_) / total if total > 0 else 1.0
    order = np.argsort(-shares, kind="stable")
    in_all = np.cumsum(shares[order])
    each: list[dict[str, Any]] = [
        {"coefficient": int(model.kept_[i]), "share": float(shares[i]), "in_all": float(reached)}
        for i, reached in zip(order, in_all, strict=True)
    ]
    rows = [[str(one["coefficient"]), percent(one["share"]), percent(one["in_all"])] for one in each[:MOST]]
    of = counted(len(model.energies_), _column_noun(view))
    headline = (
        f"{of} in {readable(model.numbers_per_row_)} coefficients of the basis {model.kind!r} that keep "
        f"{percent(kept)} of the energy"
    )
    data = {"coefficients": each, "kept": kept, "numbers_per_row": float(model.numbers_per_row_)}
    return Found(headline, ["coefficient", "share of the energy", "in all"], rows, left_out(len(each), "coefficients"),
                 data)  # fmt: skip


def topics_answer(model: Any, view: View | None) -> Found:
    """Tell the words of every topic and its share of all words, the most frequent topic first."""
    names = column_names(model, view)
    shares = np.asarray(model.topic_shares_, dtype=np.float64)
    topics: list[dict[str, Any]] = [
        {"topic": int(t), "share": float(shares[t]), "words": _words(model.topics_[t], names)}
        for t in np.argsort(-shares, kind="stable")
    ]
    rows = [[str(one["topic"]), percent(one["share"]), " ".join(one["words"])] for one in topics[:MOST]]
    n = len(model.codes_) if getattr(model, "codes_", None) is not None else None
    of = "" if n is None else f" in {counted(n, 'document')}"
    headline = f"{counted(len(topics), 'topic')}{of}"
    return Found(headline, ["topic", "share of all words", "words"], rows, left_out(len(topics), "topics"),
                 {"topics": topics})  # fmt: skip


def parts_answer(model: Any, view: View | None) -> Found:
    """Tell the columns or words that every part is made of, and how much each part carries."""
    noun = called(model)
    Z = np.asarray(components_of(model), dtype=np.float64)
    shares, names = strengths(model), column_names(model, view)
    counted_words = view is not None and view.kind in ("text", "counts") and in_columns(model)
    pictures = view is not None and view.image is not None
    parts: list[dict[str, Any]] = []
    for i, z in enumerate(Z):
        made: dict[str, Any] = {"words": _words(z, names)} if counted_words else {"made_of": _largest(z, names, _TOP)}
        parts.append({noun: i + 1, "share": None if shares is None else float(shares[i]), **made})
    header = [noun, f"share {strength_words(model)}".removesuffix(" of the total strength")]
    header += [] if pictures else ["words" if counted_words else "made of (weights)"]
    rows = [[str(one[noun]), "" if one["share"] is None else percent(one["share"])] for one in parts[:MOST]]
    if not pictures:
        told = [" ".join(one["words"]) if counted_words else _weighted(one["made_of"]) for one in parts[:MOST]]
        rows = [[*row, text] for row, text in zip(rows, told, strict=True)]
    plural = _PLURAL.get(noun, f"{noun}s")
    headline = f"{counted(len(Z), noun, plural)} that {_table(view, Z)} {'is' if view is None else 'are'} made of"
    lines = left_out(len(Z), plural)
    lines += ["The parts are pictures: the report shows them."] if pictures else []
    return Found(headline, header, rows, lines, {plural: parts})


def _table(view: View | None, Z: NDArray) -> str:
    if view is None:
        return f"a table of {counted(Z.shape[1], 'column')}"
    noun = {"text": "document", "counts": "document", "images": "picture"}.get(view.kind, "row")
    return counted(view.of_rows or view.n_rows, noun)


def _column_noun(view: View | None) -> str:
    return {"text": "word", "counts": "word", "images": "pixel"}.get("table" if view is None else view.kind, "column")


def _largest(z: NDArray, names: list[str], most: int) -> list[dict]:
    """Name the columns of the largest weights, with their weights."""
    best = np.argsort(-np.abs(z), kind="stable")[:most]
    floor = _LEAST * float(np.abs(z).max(initial=0.0))
    return [{"column": names[j], "weight": float(z[j])} for j in best if abs(z[j]) > 0 and abs(z[j]) >= floor]


def _words(z: NDArray, names: list[str]) -> list[str]:
    best = np.argsort(-np.asarray(z), kind="stable")[:_WORDS]
    return [names[j] for j in best if z[j] > 0]


def _weighted(made_of: list[dict]) -> str:
    return ", ".join(f"{one['column']} {readable(one['weight'])}" for one in made_of)


def _ends(model: Any, view: View | None, noun: str, k: int) -> list[str]:
    """Name the rows at both ends of the first two axes, where rows have names."""
    codes = getattr(model, "codes_", None)
    if view is None or view.rows is None or codes is None or len(codes) != len(view.rows):
        return []
    U = np.asarray(codes)
    ends = [(view.rows[int(U[:, i].argmin())], view.rows[int(U[:, i].argmax())]) for i in range(min(2, k))]
    return [f"{noun.capitalize()} {i + 1} runs from {low!r} to {high!r}." for i, (low, high) in enumerate(ends)]
