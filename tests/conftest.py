"""What every test shares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

try:
    from hypothesis import settings
except ImportError:  # the other tests still run without hypothesis
    settings = None

if settings is not None:
    # A first example may compile a kernel: no deadline. Derandomised: a red build can be run again.
    settings.register_profile("unweave", deadline=None, derandomize=True, max_examples=40)
    settings.load_profile("unweave")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that is the same in every test."""
    return np.random.default_rng(0)


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> type:
    """Both types in turn."""
    return request.param


@pytest.fixture
def two_threads():
    """Run a call on one thread and then on two, and hand back both answers."""
    from unweave.parallel import get_num_threads, set_num_threads

    former = get_num_threads()

    def both(call):
        answers = []
        for n in (1, 2):
            set_num_threads(n)
            answers.append(call())
        return answers

    yield both
    set_num_threads(former)
