"""How many components, when nobody says: simple rules, each said when it is used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from unweave.data.named import NamedTable

_SAMPLE = 2000  # rows that are looked at
_MOST = 50


def wanted(text: str, table: NamedTable, choose: Callable[[NamedTable], tuple[int, str]], most: int, say) -> int:
    """The number asked for, or the one that `choose` finds; an error when the table cannot have so many."""
    if text != "auto":
        if int(text) > most:
            raise ValueError(f"-k {text} is too many for {table.source or 'this table'}: at most {most}")
        return int(text)
    k, why = choose(table)
    k = min(k, most)
    say(f"{k} component{'s' if k > 1 else ''}: {why}")
    return k


def enough_variance(table: NamedTable, *, centred: bool, share: float = 0.9) -> tuple[int, str]:
    """The fewest components that keep a share of the variance, at most 50."""
    s2, total = spectrum(table, centred=centred)
    reached = np.cumsum(s2) >= share * total
    if not reached.any():
        kept = float(s2.sum() / total)
        return len(s2), f"the most that are tried; they keep {kept:.0%} of the {_what(centred)}"
    return int(np.argmax(reached)) + 1, f"the fewest that keep {share:.0%} of the {_what(centred)}"


def _what(centred: bool) -> str:
    return "variance" if centred else "sum of squares"


def bend(table: NamedTable) -> tuple[int, str]:
    """Where the error bends, two or more: that of k components is the singular value after them."""
    from unweave.select import knee

    s = np.sqrt(spectrum(table, centred=False)[0])[:30]
    if len(s) < 4:
        return len(s), "as many as the table has"
    return max(2, knee(np.arange(1, len(s)), s[1:])), "where the singular values bend"


def spectrum(table: NamedTable, *, centred: bool) -> tuple[np.ndarray, float]:
    """Squared singular values (at most 50) and their total, of at most 2000 rows; holes count as column means."""
    from unweave.solve.svd import truncated_svd

    X = sample(table.X)
    if not sp.issparse(X) and np.isnan(X).any():
        X = np.where(np.isnan(X), np.nan_to_num(np.nanmean(X, axis=0)), X)
    k = min(_MOST, *X.shape)
    result = truncated_svd(X, k, shift="mean" if centred else None, codes=False)
    return np.square(result.s.astype(np.float64)), max(float(result.total), 1e-300)


def sample(X):
    """At most 2000 rows, spread over the table."""
    step = -(-X.shape[0] // _SAMPLE)
    return X if step == 1 else X[::step]


def silhouette(table: NamedTable, missing: str | None) -> tuple[int, str]:
    """From 2 to 10 groups, the number whose groups are tightest and farthest apart (mean silhouette of a sample)."""
    from unweave.group import KMeans
    from unweave.select import silhouette as mean_silhouette

    X = sample(table.X)
    if not sp.issparse(X) and np.isnan(X).any():
        filled = np.where(np.isnan(X), np.nan_to_num(np.nanmean(X, axis=0)), X)
    else:
        filled = X
    scores: dict[int, float] = {}
    for k in range(2, min(10, X.shape[0] - 1) + 1):
        labels = KMeans(k, missing=missing, random_state=0, max_iter=100, tol=1e-4).fit(X).labels_
        if len(np.unique(labels)) > 1:
            scores[k] = mean_silhouette(filled, labels)
    if not scores:
        return 1, "too few different rows for more"
    best = max(scores, key=lambda k: scores[k])
    return best, f"the best mean silhouette ({scores[best]:.2f}) from 2 to {max(scores)} groups"
