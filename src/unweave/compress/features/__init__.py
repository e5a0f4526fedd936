"""Select columns of a table instead of making new ones: by variance, by what they tell of a target, by an ℓ1 path.

``base`` is what the selectors share (scikit-learn's manners: `get_support`, `transform`, `inverse_transform`,
`get_feature_names_out`); each of the others is one of them.
"""

from unweave.compress.features.information import SelectByInformation
from unweave.compress.features.path import SelectByPath
from unweave.compress.features.variance import SelectByVariance

__all__ = ["SelectByVariance", "SelectByInformation", "SelectByPath"]
