"""Decision trees that split a column of kinds into as many branches as it has (ID3, C4.5).

``model`` is the estimator; ``columns`` reads tables of words and numbers; ``growth`` is the scheme that grows the tree
level by level, by the splits that ``gains`` finds; ``pruning`` cuts it back; ``nodes`` is the tree itself, its text
and how rows go down it; ``drawing`` its picture.
"""

from unweave.predict.trees.model import DecisionTree

__all__ = ["DecisionTree"]
