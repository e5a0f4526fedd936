"""Networks of threshold units that are built, not trained: any formula in DNF or CNF, and PARITY with d + 1 units."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole

_NAME = re.compile(r"[^\W\d]\w*")
_AND, _OR, _NOT = ("&", "∧", "and"), ("|", "∨", "or"), ("~", "¬", "!", "not")


@dataclass(frozen=True)
class ThresholdNetwork:
    """One layer of hidden threshold units and one output unit; a unit says 1 if w·x reaches its threshold, otherwise 0.

    Attributes
    ----------
    inputs : list of str
        Names of the inputs, in the order of the columns.
    hidden : array (h, d), hidden_thresholds : array (h,)
        Weights and thresholds of the hidden units.
    output : array (h,), output_threshold : float
        Those of the output.

    Examples
    --------
    >>> network = threshold_network("(rain & ~coat) | snow")
    >>> network.inputs, network.hidden.tolist(), network.hidden_thresholds.tolist()
    (['rain', 'coat', 'snow'], [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], [0.5, 0.5])
    >>> network.predict([[1, 0, 0], [1, 1, 0]]).tolist()
    [1, 0]
    """

    inputs: list[str]
    hidden: NDArray[np.float64]
    hidden_thresholds: NDArray[np.float64]
    output: NDArray[np.float64]
    output_threshold: float

    def activations(self, X) -> NDArray[np.int64]:
        """What the hidden units say of each row of zeros and ones: an array (n, h) of zeros and ones."""
        X = np.asarray(self._named(X))
        d = len(self.inputs)
        if X.ndim != 2 or X.shape[1] != d:
            raise ValueError(f"X must have one column for each of the {d} inputs, got the shape {X.shape}")
        if X.dtype.kind not in "biuf" or not np.isin(X, (0, 1)).all():
            raise ValueError("X must hold zeros and ones: they are the truth values of the inputs")
        return (X.astype(np.float64) @ self.hidden.T >= self.hidden_thresholds).astype(np.int64)

    def predict(self, X) -> NDArray[np.int64]:
        """0 or 1 for each row of zeros and ones."""
        return (self.activations(X) @ self.output >= self.output_threshold).astype(np.int64)

    def _named(self, X):
        """The columns of a data frame in the order of the inputs; whatever has no names is taken by position."""
        names = list(getattr(X, "columns", []))
        if not any(isinstance(name, str) for name in names):
            return X
        if lost := [name for name in self.inputs if name not in names]:
            raise ValueError(f"X has no column {', '.join(map(repr, lost))}: the inputs are {', '.join(self.inputs)}")
        return X[self.inputs]


def parity_network(d: int) -> ThresholdNetwork:
    """Build the network of d + 1 hidden threshold units that says whether an odd number of d inputs is one.

    Hidden unit k = 0, …, d says whether at most k inputs are one (−Σx ≥ −(k + ½)); its weight in the output is +1 for
    odd k and −1 for even k. With s ones the units k ≥ s say 1, and their weights add up to 0 or −1 if d is even, so
    that the output's threshold is −½; to 1 or 0 if d is odd, so that it is +½. Circuits of AND, OR and NOT of constant
    depth need exponentially many gates for the same.

    Parameters
    ----------
    d : int
        How many inputs.

    Returns
    -------
    ThresholdNetwork

    Examples
    --------
    >>> parity_network(3).predict([[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]]).tolist()
    [0, 1, 0, 1]

    References
    ----------
    Hajnal, Maass, Pudlák, Szegedy and Turán (1993), Threshold circuits of bounded depth.
    """
    d = whole(d, "d", 1)
    k = np.arange(d + 1, dtype=np.float64)
    names = [f"x{i}" for i in range(d)]
    sign = 2.0 * (k % 2) - 1.0
    return ThresholdNetwork(names, np.full((d + 1, d), -1.0), -0.5 - k, sign, 0.5 if d % 2 else -0.5)


def threshold_network(formula: str) -> ThresholdNetwork:
    """Build the network of threshold units that computes a formula in disjunctive or conjunctive normal form.

    An AND of literals is a unit with weight +1 for an input and −1 for a negated one that must reach the number of
    plain inputs; an OR is the same with ½ less the number of negated ones. In DNF the hidden units are the ANDs and the
    output is their OR, in CNF the other way round. Use it to see what one hidden layer can represent: any Boolean
    function.

    Parameters
    ----------
    formula : str
        Such as ``"(a & ~b) | c"`` (DNF) or ``"(a | b) & (~a | c)"`` (CNF); also with the words and, or, not, or with
        ∧, ∨, ¬. In DNF the brackets may be left out.

    Returns
    -------
    ThresholdNetwork
        With the inputs in the order in which the formula names them.

    Examples
    --------
    >>> table = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> threshold_network("(a | b) & (~a | ~b)").predict(table).tolist()  # exclusive or
    [0, 1, 1, 0]
    """
    if not isinstance(formula, str):
        raise TypeError(f"formula must be a text such as '(a & ~b) | c', got {formula!r:.60}")
    outer, groups = _read(formula)
    names = list(dict.fromkeys(name for group in groups for name, _ in group))
    hidden, thresholds = np.zeros((len(groups), len(names))), np.zeros(len(groups))
    for unit, group in enumerate(groups):
        signs: dict[str, bool] = {}
        always = False
        for name, plain in group:
            always |= signs.setdefault(name, plain) != plain  # x and not x: an AND is never true, an OR always
        if always:
            thresholds[unit] = 1.0 if outer == "|" else 0.0  # all weights zero: never, or always
            continue
        for name, plain in signs.items():
            hidden[unit, names.index(name)] = 1.0 if plain else -1.0
        negated = sum(not plain for plain in signs.values())
        # A sum of ±1 over n literals is (true ones) − (negated ones): all n are true, or at least one.
        thresholds[unit] = (len(signs) if outer == "|" else 1) - negated - 0.5
    needed = 1 if outer == "|" else len(groups)
    return ThresholdNetwork(names, hidden, thresholds, np.ones(len(groups)), needed - 0.5)


def _read(formula: str) -> tuple[str, list[list[tuple[str, bool]]]]:
    """The operator between the groups, and the literals of each group."""
    tokens = _tokens(formula)
    pieces: list[list[str]] = [[]]
    between: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if depth not in (0, 1):
            raise _no_form(formula, "brackets stand in brackets, or one is missing")
        if depth == 0 and token in "&|":
            between.append(token)
            pieces.append([])
        else:
            pieces[-1].append(token)
    if depth:
        raise _no_form(formula, "a bracket is not closed")
    bracketed = any("(" in piece for piece in pieces)
    if "|" in between and "&" in between:
        if bracketed:
            raise _no_form(formula, "put every group in brackets, with one operator between all groups")
        return "|", [_literals(part, "&", formula) for part in _cut(tokens, "|")]  # & binds closer
    outer = between[0] if between else "|"
    if not bracketed and outer == "&":
        return "|", [_literals(tokens, "&", formula)]
    inner = "&" if outer == "|" else "|"
    if not between and any(token == "|" for token in pieces[0]):
        outer, inner = "&", "|"
    return outer, [_literals(_unwrapped(piece, formula), inner, formula) for piece in pieces]


def _tokens(formula: str) -> list[str]:
    tokens, at = [], 0
    while at < len(formula):
        if formula[at].isspace():
            at += 1
            continue
        name = _NAME.match(formula, at)
        word = name[0] if name else formula[at]
        at += len(word)
        low = word.lower()
        kind = next((sign for sign, words in (("&", _AND), ("|", _OR), ("~", _NOT)) if low in words), word)
        if kind not in "()&|~" and not name:
            raise _no_form(formula, f"{word!r} is not understood")
        tokens.append(kind)
    if not tokens:
        raise _no_form(formula, "it is empty")
    return tokens


def _cut(tokens: list[str], operator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == operator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _unwrapped(piece: list[str], formula: str) -> list[str]:
    if piece and piece[0] == "(" and piece[-1] == ")" and "(" not in piece[1:] and ")" not in piece[:-1]:
        return piece[1:-1]
    if "(" in piece or ")" in piece:
        raise _no_form(formula, "a bracket must hold one whole group, and only single inputs are negated")
    return piece


def _literals(piece: list[str], operator: str, formula: str) -> list[tuple[str, bool]]:
    literals = []
    for part in _cut(piece, operator):
        negated = sum(token == "~" for token in part)
        if len(part) != negated + 1 or not _NAME.fullmatch(part[-1]) or part[:-1] != ["~"] * negated:
            raise _no_form(formula, "every group is inputs, plain or negated, joined by one operator")
        literals.append((part[-1], negated % 2 == 0))
    return literals


def _no_form(formula: str, why: str) -> ValueError:
    return ValueError(
        f"formula={formula!r:.80} is neither in disjunctive nor in conjunctive normal form ({why}): write it as "
        "'(a & ~b) | c' or '(a | b) & (~a | c)'"
    )
