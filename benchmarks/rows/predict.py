"""A target told from raw tables: error in five folds, of ours, of boosted trees, and of a linear model.

Tables are those that scikit-learn brings and the categorical ones, splice and promoters with a column for each letter;
at most 2000 rows of each are drawn.
Peers are scikit-learn's with what is usual before them: HistGradientBoosting with its defaults on ordinal codes that it
is told are categories, and logistic or ridge regression on standardised numbers, one-hot levels and mean-filled holes.
The error is the share of wrong rows, or the root of the mean square over the spread of the target. On every table the
errors are ranked, 1 the least; what is compared is the mean rank. ``python -m benchmarks.rows.predict --data FOLDER``
prints every table.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import need
from benchmarks.harness import Fit, Row
from benchmarks.rows.strings import sequences

OURS, FOLDS, MOST_ROWS = "unweave", 5, 2000
NUMBERS = ("iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud")
# name, whether there is a header, and where the class stands
WORDS = (("car", True, -1), ("house-votes-84", False, 0), ("tic-tac-toe", True, -1), ("zoo", True, -1),
         ("kr-vs-kp", False, -1), ("mushroom", True, 0), ("nursery", True, -1))  # fmt: skip


@dataclass
class Case:
    """A table, what is told, and the fold of each row."""

    name: str
    X: Any
    y: np.ndarray
    fold: np.ndarray
    classes: bool


def load(folder: Path, size: str, most: int = MOST_ROWS) -> list[Case]:
    tables = list(bundled())
    if size != "tiny":
        tables += [*categorical(folder), *letters(folder)]
    most = most if size == "full" else 150
    return [_case(*table, most) for table in tables[: None if size != "tiny" else 2]]


def bundled():
    """scikit-learn's small tables."""
    import pandas
    from sklearn import datasets

    for name in NUMBERS:
        bunch = getattr(datasets, f"load_{name}")()
        y = bunch.target[:, 0] if bunch.target.ndim == 2 else bunch.target
        frame = pandas.DataFrame(bunch.data, columns=[f"{c}" for c in bunch.feature_names])
        yield name, frame, np.asarray(y), name not in ("diabetes", "linnerud")


def categorical(folder: Path):
    import pandas

    for name, header, place in WORDS:
        path = need(folder / "uci-categorical", f"{name}.csv.gz")
        frame = pandas.read_csv(path, dtype=str, header=0 if header else None, na_values=["?"], skipinitialspace=True)
        frame.columns = [f"c{j}" for j in range(frame.shape[1])]
        target = frame.columns[place]
        y = frame.pop(target).to_numpy(dtype=str)
        if name == "zoo":  # the name of each animal tells nothing
            frame = frame.drop(columns=[c for c in frame if frame[c].nunique() > 0.9 * len(frame)])
        yield name, frame.astype(object).where(frame.notna(), None), y, True


def letters(folder: Path):
    import pandas

    for name in ("promoters", "splice"):
        texts, labels = sequences(folder, name)
        frame = pandas.DataFrame([list(text) for text in texts])
        frame.columns = [f"p{j}" for j in range(frame.shape[1])]
        yield name, frame, np.array(labels), True


def _case(name: str, X: Any, y: np.ndarray, classes: bool, most: int) -> Case:
    from sklearn.model_selection import KFold, StratifiedKFold

    rows = np.random.default_rng(0).permutation(len(y))[:most]
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    if classes:  # a class that is rarer than folds would be missing from a fit
        kept = np.isin(y, [c for c in np.unique(y) if (y == c).sum() >= FOLDS])
        X, y = X[kept].reset_index(drop=True), y[kept]
    fold = np.empty(len(y), dtype=np.int64)
    kind = StratifiedKFold if classes else KFold
    for i, (_, test) in enumerate(kind(FOLDS, shuffle=True, random_state=0).split(X, y)):
        fold[test] = i
    return Case(name, X, y, fold, classes)


def ours(case: Case) -> Any:
    import unweave

    kind = unweave.RepresentationClassifier if case.classes else unweave.RepresentationRegressor
    return kind(random_state=0)


def _split(case: Case) -> tuple[list[str], list[str]]:
    numbers = list(case.X.select_dtypes("number").columns)
    return numbers, [name for name in case.X.columns if name not in numbers]


def boosting(case: Case) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    numbers, words = _split(case)
    code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    kind = HistGradientBoostingClassifier if case.classes else HistGradientBoostingRegressor
    categories = np.arange(len(case.X.columns)) < len(words)
    return make_pipeline(
        make_column_transformer((code, words), ("passthrough", numbers)),
        kind(categorical_features=categories if words else None, random_state=0),
    )


def linear(case: Case) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers, words = _split(case)
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), words),
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        ),
        LogisticRegression(max_iter=1000) if case.classes else Ridge(),
    )


PEERS = {"HistGradientBoosting": boosting, "logistic or ridge": linear}


def error(case: Case, make: Any) -> tuple[float, float]:
    """Error on rows left out, and seconds of the processor."""
    started, answers = time.process_time(), np.empty(len(case.y), dtype=case.y.dtype if case.classes else float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(FOLDS):
            train, test = np.flatnonzero(case.fold != i), np.flatnonzero(case.fold == i)
            answers[test] = make(case).fit(case.X.iloc[train], case.y[train]).predict(case.X.iloc[test])
    spent = time.process_time() - started
    if case.classes:
        return float((answers != case.y).mean()), spent
    return float(np.sqrt(np.square(answers - case.y).mean()) / case.y.std()), spent


def ranks(errors: np.ndarray) -> np.ndarray:
    """The place of each contender (columns) on each table (rows), 1 the least error; equals share theirs."""
    from scipy.stats import rankdata

    return rankdata(np.round(errors, 12), axis=1)


def _run(make: Any):
    def call(cases: list[Case], _: Any) -> Fit:
        found = [error(case, make) for case in cases]
        return Fit(np.array([one for one, _ in found]), 1)

    return call


def mean_error(cases: list[Case], errors: np.ndarray) -> float:
    return float(errors.mean())


ROWS = [
    Row(
        name="predict-tables", title="15 raw tables told in five folds: mean error", target=0.0, load=load,
        ours=_run(ours), peers={name: _run(make) for name, make in PEERS.items()}, objective=mean_error, aim="below",
        value="mean error", dtype="float64", repeats=1, tuned_on="not written down when it was set",
    )
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--size", default="full")
    parser.add_argument("--most", type=int, default=MOST_ROWS, help="rows of a table, at most")
    parser.add_argument("--only", default="", help="names of tables, separated by commas")
    options = parser.parse_args()
    contenders, rows = {OURS: ours, **PEERS}, []
    for case in load(options.data, options.size, options.most):
        if options.only and case.name not in options.only.split(","):
            continue
        found = [error(case, make) for make in contenders.values()]
        rows.append([one for one, _ in found])
        shown = "  ".join(f"{name} {e:.4f} {t:.1f}s" for name, (e, t) in zip(contenders, found))
        print(f"{case.name:15} {case.X.shape!s:12} {shown}", flush=True)
    for name, rank, mean in zip(contenders, ranks(np.array(rows)).mean(axis=0), np.mean(rows, axis=0)):
        print(f"{name}: mean rank {rank:.2f}, mean error {mean:.4f}")


if __name__ == "__main__":
    main()
