"""The kernel of skip-gram takes the steps of its slow twin, and draws what it should."""

import numpy as np
import pytest

from tests.reference import skipgram as slow
from unweave.embed.skipgram.drawing import scattered
from unweave.embed.skipgram.noise import Noise
from unweave.kernels.skipgram import descend_part

PARTS, WORDS, WINDOW = 4, 37, 3


def case(rng, hole=0, width=11, words=WORDS):
    tokens = rng.integers(0, words, 200).astype(np.int32)
    here = np.arange(200)
    reach = rng.integers(1, WINDOW + 1, 200)
    U, V = (rng.normal(size=(words, width)).astype(np.float32) for _ in range(2))
    return tokens, np.maximum(here - reach, 0), np.minimum(here + reach + 1, 200), hole, tokens, U, V


def both(given, noise, *, part, share=1.3, weight=1.0, held=(-1, -1), watch=0):
    rows, low, high, hole, tokens, U, V = given
    visits = np.flatnonzero(rows % PARTS == 1)
    fast_U, fast_V, slow_U, slow_V = U.copy(), V.copy(), U.astype(float), V.astype(float)
    told, room = np.zeros(2), 200
    rest = (noise.keep, noise.other, np.float32(share), np.float32(weight), np.float32(0.05), np.uint64(99))
    ends = (np.uint64(watch), part, PARTS, np.array(held))
    descend_part(
        visits, rows, low, high, hole, tokens, fast_U, fast_V, *rest, *ends, np.empty(room, np.int64),
        np.empty(room, np.float32), np.empty(U.shape[1], np.float32), told,
    )  # fmt: skip
    found = slow.descend_part(visits, rows, low, high, hole, tokens, slow_U, slow_V, *rest, *ends)
    return (fast_U, fast_V, told), (slow_U, slow_V, found)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(
    "how", [{}, {"weight": 3.0, "share": 0.4}, {"held": (10, 9)}, {"watch": 3}, {"share": 0.0}], ids=str
)
def test_it_takes_the_steps_of_its_twin(rng, part, how):
    noise = Noise.of(rng.random(WORDS), PARTS)
    (U, V, told), (slow_U, slow_V, found) = both(case(rng), noise, part=part, **how)
    # 50 visits of about six float32 steps each, numbers of about one
    assert np.abs(U - slow_U).max() < 1e-4 and np.abs(V - slow_V).max() < 1e-4
    assert np.allclose(told, found, rtol=1e-5)
    assert told[1] > 0


def test_only_rows_of_its_parts_change(rng):
    given = case(rng)
    (U, V, _), _ = both(given, Noise.of(rng.random(WORDS), PARTS), part=2)
    assert set(np.flatnonzero((given[5] != U).any(axis=1)) % PARTS) == {1}
    assert set(np.flatnonzero((given[6] != V).any(axis=1)) % PARTS) == {2}


def test_fewer_words_than_parts(rng):
    given = case(rng, words=2)
    for part in range(PARTS):
        (U, V, told), (slow_U, slow_V, found) = both(given, Noise.of(np.ones(2), PARTS), part=part)
        assert np.abs(U - slow_U).max() < 1e-4 and np.abs(V - slow_V).max() < 1e-4
        assert np.allclose(told, found, rtol=1e-5)
        assert part < 2 or np.array_equal(V, given[6]), "a part without words has nothing to give"


def test_noise_comes_as_often_as_it_should(rng):
    weights = rng.random(WORDS) ** 3
    noise = Noise.of(weights, PARTS)
    wanted = weights / weights.sum()
    assert np.allclose(noise.shares, [wanted[part::PARTS].sum() for part in range(PARTS)])
    for part in range(PARTS):
        drawn, z = np.zeros(WORDS), slow.scattered(part)
        for _ in range(20_000):
            z, c = slow.draw(z, part, PARTS, WORDS, noise.keep, noise.other)
            drawn[c] += 1
        chances = np.where(np.arange(WORDS) % PARTS == part, wanted, 0)
        chances /= chances.sum()
        # five standard errors of a share
        assert (np.abs(drawn / 20_000 - chances) <= 5 * np.sqrt(chances / 20_000) + 1e-9).all()


def test_numbers_look_drawn():
    z = np.arange(1, 1000, dtype=np.uint64)
    assert [int(x) for x in scattered(z)] == [slow.scattered(int(x)) for x in z]
    bits = (scattered(z)[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.08  # five standard errors
