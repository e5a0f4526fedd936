"""Group: rows that belong together."""

from unweave.group.kmeans import KMeans

__all__ = ["KMeans"]
