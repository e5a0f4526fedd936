"""Ctrl-C, as a real signal to a real process: it ends searches, keeps what a fit has reached, and exits with 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import unweave as library

pytestmark = pytest.mark.slow
_SOON = 10  # seconds: a second on a quiet machine, and tests run on others


class Running:
    """A command under way, in a folder."""

    def __init__(self, folder, *words):
        command = [sys.executable, "-m", "unweave", *map(str, words)]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def interrupted(self) -> tuple[int, str, float]:
        """Send Ctrl-C, and return the exit code, what was said on stderr, and how long it took to end."""
        began = time.perf_counter()
        os.kill(self.process.pid, signal.SIGINT)
        try:
            _, said = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
        return self.process.returncode, said, time.perf_counter() - began


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    folder = tmp_path_factory.mktemp("big")
    np.save(folder / "big.npy", np.random.default_rng(0).random((20_000, 200)))
    return folder


def test_a_search_ends_at_once_and_leaves_nothing(big):
    running = Running(big, "group", "big.npy")
    assert "20,000 rows" in running.process.stderr.readline()
    time.sleep(2)
    code, said, seconds = running.interrupted()
    assert code == 130 and seconds < _SOON, (code, said, seconds)
    told = [line for line in said.splitlines() if line.startswith("unweave: ")]
    assert len(told) == 1 and "nothing was written" in told[0] and "give -k a number" in told[0]
    assert "Traceback" not in said and not list(big.glob("big-group*"))


def test_a_fit_leaves_what_it_has_reached(big):
    words = ["explain", "big.npy", "-k", "20", "--max-iter", "100000", "--checkpoint", "run.ckpt", "--out", "parts"]
    running = Running(big, *words)
    deadline = time.monotonic() + 120
    while not (big / "run.ckpt").exists() and time.monotonic() < deadline:  # written after the first iteration
        time.sleep(0.05)
    time.sleep(0.3)
    code, said, seconds = running.interrupted()
    assert code == 130 and seconds < _SOON and "interrupted after" in said and "parts/ has" in said, (code, said)
    assert library.load(big / "parts" / "model.unweave").components_.shape == (20, 200)
    for name in ("codes.csv", "components.csv", "report.html"):
        assert (big / "parts" / name).stat().st_size > 0


@pytest.mark.parametrize("wait", [0.1, 0.2, 0.3, 0.5, 0.7])
def test_while_it_starts_it_is_one_sentence_too(big, wait):
    """Imports are where an exception may be lost: the command must end all the same."""
    words = ["explain", "big.npy", "-k", "20", "--max-iter", "100000"]  # never ends by itself in the time of a test
    running = Running(big, *words)
    time.sleep(wait)
    code, said, seconds = running.interrupted()
    python_itself = code == -signal.SIGINT  # before the first line of ours
    assert seconds < _SOON and (python_itself or (code == 130 and "unweave: interrupted" in said)), (code, said)
    assert not list(big.glob("big-explain*"))
