"""The decision tree of kinds: as many branches as a column has levels, by information gain (ID3, C4.5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, whole
from unweave.data.named import NamedTable
from unweave.data.table import refuse_blocks
from unweave.factorization.run import Run, fitting
from unweave.predict.predictor import Predictor
from unweave.predict.target import read_target
from unweave.predict.trees.columns import TreeColumns, columns_of, encode, learn_layout, names_of
from unweave.predict.trees.growth import Growth, grown
from unweave.predict.trees.nodes import TreeNodes, as_text
from unweave.predict.trees.pruning import by_cost, by_doubt, by_held_out
from unweave.solve.plan import Plan

CRITERIA = ("gain", "gain-ratio")
PRUNING = (None, "reduced-error", "pessimistic", "cost-complexity")


class DecisionTree(Predictor):
    """Ask one column after the other until the class is clear, with a branch for every level of a column (ID3).

    At each node that column is asked which tells most of the class, by information gain H(y) − H(y | column), in bits.
    A column of words has one branch a level; a column of numbers is cut in two at the threshold that tells most. Use it
    where the answer must be read, checked and explained: ``print(tree)`` is the whole model.

    Levels are taken as they are, so nothing needs to be encoded: data frames of pandas or polars, arrays of words, or
    of numbers. An empty cell (None, NaN) is a level of its own, since a hole may tell something. Where a row has a
    level, or a hole, that the fit did not see at that node, the answer is that of the node itself.

    The gain prefers columns with many levels (a number of a customer tells everything about the rows of the fit, and
    nothing of new ones): use ``criterion="gain-ratio"``, or leave such columns out. A split that tells nothing alone
    (either column of an exclusive or) is never made.

    Parameters
    ----------
    criterion : {"gain", "gain-ratio"}, default="gain"
        The gain in bits (ID3), or that over the entropy of the branches, among columns of at least average gain (C4.5).
    categorical : {"auto", "all"} or list of columns, default="auto"
        Which columns of numbers are kinds; words and truth values always are.
    pruning : {None, "reduced-error", "pessimistic", "cost-complexity"}, default=None
        Cut back branches that do not pay: those that help no row of a held-out part; those whose errors, at the upper
        end of the interval that `confidence` gives, are no fewer; those that save less than `alpha` of the rows.
    holdout : float, default=0.25
        Share of rows that "reduced-error" prunes by, and does not grow from.
    confidence : float, default=0.25
        Of "pessimistic": smaller prunes more. The default is C4.5's.
    alpha : float, default=0.01
        Of "cost-complexity": what a leaf costs, as a share of all rows in error.
    max_depth : int or None, default=None
        Most questions for one row.
    min_rows, min_leaf : int, default=2, 1
        Fewest rows of a node that is split, and of at least two of its branches (of both sides of a threshold).
    random_state : int, Generator or None, default=None
        Draws the rows held out.
    callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; an iteration is a level of the tree.

    Attributes
    ----------
    classes_ : array
    tree_ : TreeNodes
        The tree as flat arrays (parent, branch, column, threshold, gain, counts).
    gains_ : dict
        What each column tells at the root, in bits, by its name (x0, x1, … where it has none).
    feature_importances_ : array (m,)
        What each column told in all splits, rows counted; the sum is one.
    n_leaves_, depth_ : int
    layout_ : TreeColumns
        Names of the columns, and the levels of those that are kinds.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`; the objective is how many bits are left to ask, over all rows.

    Examples
    --------
    >>> from unweave import DecisionTree
    >>> students = [["male", "Math"], ["female", "History"], ["male", "CS"], ["female", "Math"],
    ...             ["female", "Math"], ["male", "CS"], ["male", "History"], ["female", "Math"]]
    >>> likes = ["yes", "no", "yes", "no", "no", "yes", "no", "yes"]
    >>> tree = DecisionTree().fit(students, likes)
    >>> {name: round(gain, 2) for name, gain in tree.gains_.items()}
    {'x0': 0.19, 'x1': 0.5}
    >>> print(tree)
    x1
    ├─ = CS: yes (2)
    ├─ = History: no (2)
    └─ = Math: x0
       ├─ = female: no (2, 1 others)
       └─ = male: yes (1)
    >>> tree.predict([["female", "CS"]]).tolist()
    ['yes']

    References
    ----------
    Quinlan (1986), Induction of decision trees. Quinlan (1993), C4.5: programs for machine learning. Breiman, Friedman,
    Olshen and Stone (1984), Classification and regression trees.
    """

    def __init__(
        self,
        criterion="gain",
        *,
        categorical="auto",
        pruning=None,
        holdout=0.25,
        confidence=0.25,
        alpha=0.01,
        max_depth=None,
        min_rows=2,
        min_leaf=1,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.criterion = criterion
        self.categorical = categorical
        self.pruning = pruning
        self.holdout = holdout
        self.confidence = confidence
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_rows = min_rows
        self.min_leaf = min_leaf
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y) -> DecisionTree:
        """Grow the tree, and prune it if asked.

        Parameters
        ----------
        X : data frame or array (n, m)
            Words, numbers or both.
        y : array (n,)
            Class of each row.
        """
        with fitting(self):
            names, columns = self._columns(X, reset=True)
            target = read_target(self, y, len(columns[0]), "classes", several=False)
            assert target.classes is not None
            self.classes_ = target.classes
            self.layout_ = learn_layout(names, columns, self.categorical)
            table = encode(self.layout_, columns)
            deepest = len(table) if self.max_depth is None else whole(self.max_depth, "max_depth", 1)
            run = Run(self, table, target.values, max_iter=deepest)
            held = self._held_out(target.values, run.rng)
            scheme = self._scheme(table[~held], target.values[~held])
            state = run.through(scheme, self._plan(table, held))
            tree = self._pruned(grown(state), table[held], target.values[held])
            self.tree_ = tree
            self.gains_ = dict(zip(names, scheme.gains().tolist(), strict=True))
            told = np.bincount(np.maximum(tree.column, 0), tree.gain * tree.counts.sum(axis=1), minlength=len(names))
            self.feature_importances_ = told / told.sum() if told.sum() > 0 else told
            self.n_leaves_, self.depth_ = int(tree.is_leaf().sum()), int(tree.depth.max())
            run.close(float(self.history_.objective[-1]))
        return self

    def apply(self, X) -> NDArray[np.int64]:
        """The node of ``tree_`` at which each row ends."""
        check_is_fitted(self)
        _, columns = self._columns(X, reset=False)
        return self.tree_.paths(encode(self.layout_, columns), self.layout_)[-1]

    def plot(self):
        """Draw the tree as a matplotlib figure."""
        from unweave.predict.trees.drawing import draw

        check_is_fitted(self)
        return draw(self.tree_, self.layout_, self.classes_)

    def __str__(self) -> str:
        return as_text(self.tree_, self.layout_, self.classes_) if hasattr(self, "tree_") else repr(self)

    def _outputs(self, X) -> NDArray[np.float64]:
        """Shares of the classes among the rows of the fit that came to the same leaf."""
        counts = self.tree_.counts[self.apply(X)]
        return counts / counts.sum(axis=1, keepdims=True)

    def _columns(self, X, *, reset: bool) -> tuple[list[str], list[NDArray]]:
        """Names and columns of a table, after scikit-learn's checks of both."""
        from sklearn.utils.validation import validate_data

        refuse_blocks(self, X, new=not reset)
        if isinstance(X, NamedTable):
            X = X.frame() if hasattr(X, "frame") else X.X
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not len(X) or not len(X.columns):
                raise ValueError(f"X has the shape {X.shape}: a tree needs at least one row and one column")
            return names_of(X), columns_of(X)
        if isinstance(X, list) and X and isinstance(X[0], list | tuple):
            X = np.array(X, dtype=object)  # NumPy would make words of the numbers beside them
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        if np.iscomplexobj(X):
            raise ValueError("Complex data not supported: X has an imaginary part; split it into two tables")
        if X.dtype.kind == "f" and np.isinf(X).any():
            raise ValueError("X contains infinity: only finite numbers and holes (NaN) can be split")
        return names_of(X), columns_of(X)

    def _scheme(self, table: NDArray, y: NDArray) -> Growth:
        if not isinstance(self.criterion, str) or self.criterion not in CRITERIA:
            raise ValueError(f"criterion must be 'gain' or 'gain-ratio', got {self.criterion!r}")
        least, leaf = whole(self.min_rows, "min_rows", 2), whole(self.min_leaf, "min_leaf", 1)
        return Growth(table, self.layout_, y, len(self.classes_), self.criterion == "gain-ratio", least, leaf)

    def _held_out(self, y: NDArray, rng) -> NDArray[np.bool_]:
        """The rows that pruning is judged by."""
        held = np.zeros(len(y), dtype=bool)
        if self.pruning not in PRUNING:
            raise ValueError(
                f"pruning={self.pruning!r} is not known; use None, {', '.join(repr(one) for one in PRUNING[1:])}"
            )
        if self.pruning == "reduced-error":
            share = number(self.holdout, "holdout")
            n = int(share * len(y))
            if not 0 < share < 1 or n < 1:
                raise ValueError(f"holdout={share:g} of {len(y)} rows leaves none to grow from or to prune by")
            held[rng.permutation(len(y))[:n]] = True
        return held

    def _pruned(self, nodes: TreeNodes, table: NDArray, y: NDArray) -> TreeNodes:
        if self.pruning == "reduced-error":
            return by_held_out(nodes, self.layout_, table, y)
        if self.pruning == "pessimistic":
            confidence = number(self.confidence, "confidence")
            if not 0 < confidence < 1:
                raise ValueError(f"confidence must lie between 0 and 1, got {confidence:g}")
            return by_doubt(nodes, confidence)
        return nodes if self.pruning is None else by_cost(nodes, number(self.alpha, "alpha"))

    def _plan(self, table: NDArray, held: NDArray) -> Plan:
        kinds = sum(levels is not None for levels in self.layout_.levels)
        n, m = table.shape
        reasons = [f"{kinds} columns of kinds with a branch for each level, {m - kinds} of numbers cut at thresholds"]
        if held.any():
            reasons.append(f"{held.sum()} rows are held out to prune by")
        what = f"{n}×{m} table → {len(self.classes_)} classes"
        return Plan(what, "splits by " + str(self.criterion).replace("-", " "), "", "", "all rows at the root", reasons)

    def _check_loaded(self, looked_at: bool) -> None:
        super()._check_loaded(looked_at)
        if not isinstance(self.tree_, TreeNodes) or not isinstance(self.layout_, TreeColumns):
            raise ValueError("the tree is missing")
        levels = self.layout_.levels
        sound = all(one is None or (isinstance(one, list) and all(isinstance(v, str) for v in one)) for one in levels)
        if not sound or len(levels) != self.n_features_in_ or len(self.layout_.names) != len(levels):
            raise ValueError("the columns of the tree are not those of the table")
        self.tree_.check(self.layout_, len(self.classes_))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
