"""Ratings: complete a table of users × items of which little is known (:class:`unweave.MatrixCompletion`).

How a fit walks through this room:

1. `table.py` makes a :class:`Ratings` table of triples; `features.py` reads what is known of users and items,
   `drift.py` the times of ratings; `side_information.py` puts both beside the entries (:class:`SideInformation`).
2. `units.py` brings the ratings to mean 0 and spread 1; from then on a frozen :class:`Task` (`least_squares.py`)
   carries all that the running fit needs. Nothing of it is kept on the estimator.
3. `fit.py` carries it out: `choice.py` finds rank, ridges and bins of time on held-out entries (:class:`Chosen`), and
   a scheme runs in the one loop: alternating least squares with or without side information (`least_squares.py`),
   stochastic gradient descent (`sgd.py`), or draws (`gibbs.py`).
4. `matrix_completion.py`, the estimator, keeps what was learned. Questions (codes of rows, newcomers, reasons, times)
   are answered by an object made of these attributes: :class:`Factors` (`answers.py`) after least squares,
   :class:`Posterior` (`posterior.py`) after sampling. `growth.py` adds more ratings to a fitted model.
"""

from unweave.complete.ratings.table import Ratings, ratings, refuse_triples

__all__ = ["Ratings", "ratings", "refuse_triples"]
