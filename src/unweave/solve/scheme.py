"""What the one loop and the estimators may ask of a method that fits in steps.

Every iterative method of the library (alternating half-steps, EM, Lloyd, Gibbs sampling, agglomerative trees, even a
closed form) is a :class:`Scheme`. The loop (:func:`unweave.solve.iterate.iterate`) knows nothing else of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unweave.solve.iterate import Loop
    from unweave.solve.search import SVDResult
    from unweave.updates import Update

State = dict  # a flat dict of arrays, scalars and random generators, so that every state can be saved


class Scheme(ABC):
    """A method that improves a state step by step. Subclasses must write `begin` and `step`; the rest has a default.

    Attributes
    ----------
    rises : bool
        Whether a step may raise the objective: samplers and stochastic steps say True, all others never rise.
    reuses : tuple of str
        Names in the state whose arrays a step may overwrite in place (bounds, momentum). A step leaves every other
        array of the old state as it was, because the old state is the answer if the step is interrupted.
    ending : str
        Why the fit ended, in words for the user, when `settled` or `fixed` ended it.

    Examples
    --------
    >>> from unweave.solve.iterate import Loop, iterate
    >>> class Halve(Scheme):
    ...     def begin(self, rng=None):
    ...         return {"x": 8.0}
    ...     def step(self, state):
    ...         return {"x": state["x"] / 2}, state["x"] / 2
    ...     def settled(self, state):
    ...         return state["x"] <= 1
    >>> state, history = iterate(Halve(), {"x": 8.0}, Loop(tol=None))
    >>> state, len(history), history.stopped
    ({'x': 1.0}, 3, 'nothing changes any more')
    """

    rises: bool = False
    reuses: tuple[str, ...] = ()
    ending: str = "nothing changes any more"

    @abstractmethod
    def begin(self, rng=None) -> State:
        """The first state; random starts draw from the generator `rng`."""

    @abstractmethod
    def step(self, state: State) -> tuple[State, float]:
        """A new state, and the objective of it."""

    def settled(self, state: State) -> bool:
        """Whether nothing worth the while changes any more. Not asked when the user set ``tol=0``."""
        return False

    def fixed(self, state: State) -> bool:
        """Whether the next step would give this very state, to the bit. Ends the fit whatever `tol` is."""
        return False

    def adapt(self, loop: Loop) -> Loop:
        """The limits of the loop as this method needs them (one step for a closed form, a stopping rule of its own)."""
        return loop

    def finish(self, state: State) -> State:
        """The state to publish, made from the last one of the loop."""
        return state


class FactorScheme(Scheme):
    """A scheme whose finished state holds `components` (and `codes`, where rows are tied together).

    Attributes
    ----------
    left : Update
        The half-step that finds the codes of rows, old and new.
    svd : SVDResult or None
        The decomposition that the fit was, once it is finished: certificates and variances come from it.
    weights : array or None
        Of the rows, where it weighs them.
    """

    left: Update
    svd: SVDResult | None = None
    weights: NDArray | None = None
