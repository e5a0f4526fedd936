"""The simulation of a cluster keeps the laws that a cluster keeps."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from benchmarks.imagined import imagined
from benchmarks.simulate import DURABLE, Setting, bounds, simulate, table, told

rng = random.Random(0)
WORK = [rng.uniform(0.5, 1.5) for _ in range(40)]


def test_one_worker_takes_as_long_as_all_blocks_together():
    assert simulate(Setting(WORK, passes=2)) == pytest.approx([sum(WORK)] * 2)
    slow = Setting(WORK, ahead=0.01, own=0.1, driver=3.0)
    assert simulate(slow) == pytest.approx([sum(WORK) + 40 * 0.11 + 3.0])


def test_more_workers_are_never_slower_and_never_faster_than_their_share():
    before = sum(WORK)
    for workers in range(2, 50):
        (now,) = simulate(Setting(WORK, workers))
        assert max(max(WORK), sum(WORK) / workers) - 1e-9 <= now <= before + max(WORK)
        before = now
    assert before == pytest.approx(max(WORK))


def test_idle_workers_take_over_what_others_have_left():
    uneven = [1.0] * 10 + [0.0] * 10  # neighbours begin on one worker
    assert simulate(Setting(uneven, 2)) == pytest.approx([5.0])


@pytest.mark.parametrize("depth", [0, 3, DURABLE - 1])
def test_a_death_costs_at_most_what_is_made_again(depth):
    setting = Setting(WORK, 4, depth=depth, back=2.0, passes=1)
    (alive,) = simulate(setting)
    (one,) = simulate(replace(setting, killed=[(0, alive / 2, 1)]))
    lost = sum(WORK[10:20])  # of worker 1
    most = max(WORK) * (depth + 1)  # of the block that is made again last
    assert alive < one <= alive + lost * (depth + 1) / 3 + 2 * most
    # What rows do not keep need not be made again but for this pass.
    (light,) = simulate(replace(setting, killed=[(0, alive / 2, 1)], keeps=False))
    assert light <= one


def test_the_last_worker_is_waited_for():
    (one,) = simulate(Setting([1.0] * 6, 1, killed=[(0, 2.5, 0)], back=10.0))
    assert one == pytest.approx(2.5 + 10.0 + 6.0)


def test_writing_down_what_rows_keep_bounds_what_is_made_again():
    passes = Setting(WORK, 4, passes=DURABLE + 2, write=0.01)
    late = simulate(replace(passes, killed=[(DURABLE + 1, 3.0, 0)]))[-1]
    early = simulate(replace(passes, killed=[(DURABLE - 1, 3.0, 0)]))[DURABLE - 1]
    assert late < 0.6 * early


def test_the_scheduler_bounds_many_small_blocks():
    small = Setting([1e-4] * 2000, 100, ahead=1e-3, after=1e-3)
    assert simulate(small)[0] == pytest.approx(4.0, rel=0.01)
    found = bounds(small)
    assert max(("work", "network", "scheduler", "stragglers"), key=found.__getitem__) == "scheduler"


def test_a_state_goes_to_fifty_at_once_or_by_a_tree():
    setting = Setting([1.0] * 200, 100, state=1e9, send=1e9, through=1e8)
    assert told(setting)[0] == pytest.approx(10.0) and max(told(setting)) == pytest.approx(10.0 + 50 + 1)
    assert max(told(replace(setting, by_tree=True))) == pytest.approx(10.0 + 7)
    # Two hundred summaries of a hundred megabytes: seven of eight are sent in each of three rounds, then back.
    (took,) = simulate(Setting([1.0] * 200, 200, added=1e8, send=1e9, through=1e8))
    assert 2.0 + 3 * 0.3 <= took <= 2.0 + 3 * 0.7 + 0.5


def test_deaths_are_drawn_at_the_rate_that_is_told():
    setting = Setting([30.0] * 40, 4, passes=30, deaths=3.0, back=30.0)
    assert simulate(setting) == simulate(setting)
    assert sum(simulate(setting)) > 1.05 * sum(simulate(replace(setting, deaths=0.0)))
    assert sum(simulate(replace(setting, deaths=1e-9))) == sum(simulate(replace(setting, deaths=0.0)))


def test_fits_that_nobody_has_run_make_a_table():
    for title, setting in imagined().items():
        if "users" in title:
            lines = table(title, setting, machines=(1, 4))
            assert lines[0].strip() == title and len(lines) == 4
    slowest = bounds(replace(imagined()["10⁹ ratings, k = 64, 1,600 blocks: the users"], workers=1600))
    assert slowest["network"] > 0.9 * slowest["pass"]
