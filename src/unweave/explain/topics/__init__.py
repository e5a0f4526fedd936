"""Find topics in counts of words: LDA, PLSA and SimplexTopics.

All three models share `base` (words of a topic, shares of a document, reading tables and texts) and are judged by
`measures`. A fit of :class:`LDA` cuts the table into blocks (`corpus`), takes priors and seed words from `priors`, and
runs one of the methods `collapsed`, `gibbs` or `variational` in the one loop; `moves` merges and splits topics so that
none is missed. :class:`PLSA` is expectation–maximisation with the same moves, and :class:`SimplexTopics` a
factorisation on the engine that begins where PLSA does.
"""

from unweave.explain.topics.lda import LDA
from unweave.explain.topics.plsa import PLSA
from unweave.explain.topics.simplex import SimplexTopics

__all__ = ["LDA", "PLSA", "SimplexTopics"]
