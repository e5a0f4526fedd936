"""Networks of units that are trained by gradients, which torch computes (the extra ``unweave[neural]``).

``base`` is the fit that all share; ``mlp``, ``cnn``, ``rnn`` and ``autoencoder`` are the estimators. A network is an
``architecture``: names and shapes of its weights, and what it makes of a batch. ``problem`` makes of it a function of
one flat array, with its gradient, so that the optimisers of :mod:`unweave.solve.optimise` train it, in epochs
(``training``) or by L-BFGS, in the one loop; ``solving`` reads from the parameters of a model how. torch is imported in
``backend``, when a fit or an answer needs it.
"""

from unweave.predict.networks.autoencoder import Autoencoder
from unweave.predict.networks.cnn import CNN
from unweave.predict.networks.mlp import MLP
from unweave.predict.networks.rnn import RNN

__all__ = ["CNN", "MLP", "RNN", "Autoencoder"]
