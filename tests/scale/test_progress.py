"""The bar of a fit in blocks shows the pass under way and its blocks, here and on a cluster."""

from __future__ import annotations

import numpy as np
import pytest

import unweave
from tests.scale.sources import Files, cut
from unweave.solve.progress import Bar

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_a_bar_shows_pass_and_block(capfd):
    bar = Bar("NMF", 5)
    bar.show_block(7, 12, 40)
    bar.close()
    assert "pass 7, block 12/40" in " ".join(capfd.readouterr().err.split())


@pytest.fixture
def heard(monkeypatch) -> list[tuple[int, int, int]]:
    """What bars are told from now on."""
    told: list[tuple[int, int, int]] = []
    shown = Bar.show_block
    monkeypatch.setattr(Bar, "show_block", lambda self, *now: told.append(now) or shown(self, *now))
    return told


def test_a_fit_in_this_process_tells_every_block(heard):
    X = np.random.default_rng(0).random((40, 5))
    unweave.NMF(2, max_iter=3, tol=0, random_state=0, verbose=True).fit(cut(X, 4))
    passes = sorted({number for number, _, _ in heard})
    assert len(passes) >= 3 and passes == list(range(passes[0], passes[-1] + 1))
    assert heard == [(number, done, 4) for number in passes for done in (1, 2, 3, 4)]


def test_a_fit_on_a_cluster_tells_of_blocks_within_a_pass(heard, client, tmp_path):
    X = np.random.default_rng(0).random((40, 5))
    model = unweave.NMF(2, max_iter=2, tol=0, random_state=0, verbose=True)
    model.fit(Files.of(tmp_path, cut(X, 8), seconds=0.3), client=client)
    assert all(blocks == 8 for _, _, blocks in heard)
    last = max(number for number, _, _ in heard)
    within = [done for number, done, _ in heard if number == last]
    assert within == sorted(within) and within[-1] == 8
    assert any(0 < done < 8 for _, done, _ in heard), "not only at the end of a pass"
