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


def test_before_anything_is_read_it_is_one_sentence_too(big):
    running = Running(big, "compress", "big.npy", "-k", "2")
    time.sleep(0.3)
    code, said, seconds = running.interrupted()
    assert code in (130, -signal.SIGINT) and seconds < _SOON, (code, said)
    assert not list(big.glob("big-compress*"))
