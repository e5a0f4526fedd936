"""Find k centres and give every row to the nearest: k-means, from its start to a good optimum.

A fit (`model`) opens the table, makes its rows ready for the metric (`metrics`), draws the first centres (`start`) and
chooses a scheme (`plan`): Lloyd's iterations on an array (`lloyd`, with the passes over the rows and their bounds in
`passes`) or on a table that is sparse or has holes (`general`). Around it goes a scheme that leaves local optima
(`escape`, by the swaps that `moves` proposes): row by row on small tables, by swaps on others. The one loop runs it.
`labels` has what is asked of centres that are found, `stream` learns from blocks and coresets, `inside` is k-means as a
part of other models.
"""

from unweave.group.kmeans.model import KMeans

__all__ = ["KMeans"]
