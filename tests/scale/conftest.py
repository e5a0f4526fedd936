"""A cluster of real processes for the tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Tests of one file share a cluster, so one process runs them (with ``--dist loadgroup``)."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="module")
def client():
    """A client of two workers, which are stopped after the last test of a file."""
    pytest.importorskip("distributed")
    from unweave.scale.cluster import start_cluster

    with start_cluster(2) as made:
        yield made
