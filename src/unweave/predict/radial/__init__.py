"""Networks of radial units: bumps around centres, added up."""

from unweave.predict.radial.model import RBFNetwork

__all__ = ["RBFNetwork"]
