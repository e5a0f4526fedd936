"""What every test shares."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

try:
    from hypothesis import settings
except ImportError:  # the other tests still run without hypothesis
    settings = None

# Shells start what they put in the background with Ctrl-C ignored, and every child would ignore it, too.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test-laws` looks further than every build can: more examples of each hypothesis test, and other draws of those
# whose seeds are written down.
SEEDS, DRAW = int(os.environ.get("UNWEAVE_SEEDS", "0")), int(os.environ.get("UNWEAVE_DRAW", "0"))

if settings is not None:
    # A first example may compile a kernel: no deadline. Derandomised: a red build can be run again.
    settings.register_profile("unweave", deadline=None, derandomize=True, max_examples=40)
    settings.register_profile("seeds", deadline=None, derandomize=False, max_examples=SEEDS or 1000, print_blob=True)
    settings.load_profile("seeds" if SEEDS else "unweave")

if DRAW:
    _default_rng = np.random.default_rng

    def _another_rng(seed=None):
        """The generator of a seed that is written down becomes another one, the same each time."""
        return _default_rng([DRAW, seed] if isinstance(seed, int) else seed)

    np.random.default_rng = _another_rng


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


@pytest.fixture
def full_disk():
    """A context in which no file can grow beyond four kilobytes."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def full():
        former = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, former[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, former)

    return full
