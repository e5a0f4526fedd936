"""The ``unweave`` command."""
