"""The map of words: neighbours stay neighbours, and the page works in a real browser without a network."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.report.pages import NASTY
from tests.report.test_browser import BOXES, CONTRAST, browser, opened, overlapping
from unweave import PMIEmbedding
from unweave.embed import Vectors
from unweave.embed.layout import map_facts, neighbour_map, principal_plane
from unweave.linalg.nearest import unit_rows
from unweave.report.word_page import render_word_map

__all__ = ["browser"]  # a fixture of the tests of reports


def blobs(rng, groups=6, size=40, width=20):
    middles = rng.standard_normal((groups, width))
    return np.repeat(middles, size, axis=0) + 0.3 * rng.standard_normal((groups * size, width))


def nearest(rows, n):
    apart = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1)[:, :n]


# -- places ------------------------------------------------------------------------------------------------------------


def test_neighbours_stay_neighbours(rng):
    rows = blobs(rng)
    spots, wanted = neighbour_map(rows), nearest(unit_rows(rows), 10)
    kept = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(nearest(spots, 10), wanted)])
    plane = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(nearest(principal_plane(rows), 10), wanted)])
    assert kept > 0.45 and kept > plane + 0.1
    group = np.arange(len(rows)) // 40
    assert np.mean(group[nearest(spots, 1)[:, 0]] == group) > 0.98


def test_a_map_is_the_same_again_and_on_two_threads(rng, two_threads):
    rows = blobs(rng)
    one, two = two_threads(lambda: neighbour_map(rows))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "rows",
    [np.ones((1, 3)), np.eye(4), np.ones((40, 3)), np.repeat(np.eye(2), 30, axis=0), np.arange(1.0, 51.0)[:, None]],
    ids=["one", "four", "all alike", "two places", "a line"],
)
def test_odd_tables_have_finite_places(rows):
    spots = neighbour_map(rows)
    assert spots.shape == (len(rows), 2) and np.isfinite(spots).all()


def test_the_principal_plane_is_that_of_the_singular_vectors(rng):
    rows = rng.standard_normal((50, 6)) * [5, 4, 1, 1, 1, 1]
    U, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(principal_plane(rows)), np.abs(U[:, :2] * s[:2]), atol=1e-8)


def test_facts_of_a_map(rng):
    table = blobs(rng, 3, 20)
    table[7] = 0
    vectors = Vectors([f"w{i}" for i in range(60)], table, np.arange(60, 0, -1))
    facts = map_facts(vectors, 30, "talk.txt")
    assert facts["words"] == [f"w{i}" for i in range(30) if i != 7]  # a vector of zeros has no place
    assert facts["counts"] == [60 - i for i in range(30) if i != 7] and facts["source"] == "talk.txt"
    assert min(facts["x"] + facts["y"]) >= 0 and max(facts["x"] + facts["y"]) <= 1000
    for i, word in enumerate(facts["words"]):
        named = [facts["words"][p] if isinstance(p, int) else p for p in facts["near"][i]]
        wanted = vectors.most_similar(word, 10)
        assert named == [near for near, _ in wanted]
        np.testing.assert_allclose(np.array(facts["cosines"][i]) / 1000, [score for _, score in wanted], atol=6e-4)
    with pytest.raises(ValueError, match="nothing to draw"):
        map_facts(Vectors(["a"], np.zeros((1, 2))))


# -- the page ----------------------------------------------------------------------------------------------------------


def talk():
    rng = np.random.default_rng(0)
    words = [[f"{kind}{i}" for i in range(25)] for kind in ("river", "bread", "violin")]
    return [[*rng.choice(words[i % 3], 12), "the"] for i in range(300)]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "words.html"
    return PMIEmbedding(10, random_state=0).fit(talk()).report(path)


@pytest.mark.parametrize("width", [400, 1200])
def test_a_page_fits_its_window_and_labels_keep_apart(browser, page, tmp_path, width):
    tab, complaints = opened(browser, page.read_text(encoding="utf-8"), tmp_path / "p.html", width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert overlapping([box for box in tab.evaluate(BOXES) if box[2] <= width]) == []
    inside = """() => { const m = document.getElementById('map').getBoundingClientRect();
      return [...document.querySelectorAll('#labels text')].map(t => t.getBoundingClientRect())
        .every(r => r.left > m.left - 2 && r.right < m.right + 2 && r.top > m.top - 2); }"""
    assert tab.locator("#labels text").count() > 10 and tab.evaluate(inside)
    assert complaints == []
    tab.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(browser, page, tmp_path, scheme):
    tab, _ = opened(browser, page.read_text(encoding="utf-8"), tmp_path / "p.html", 1200, scheme)
    tab.evaluate("document.querySelectorAll('.word title').forEach(hint => hint.remove())")  # not painted on the page
    assert tab.evaluate(CONTRAST) >= 4.5
    tab.context.close()


def test_search_and_click_show_the_nearest_words(browser, page, tmp_path):
    tab, complaints = opened(browser, page.read_text(encoding="utf-8"), tmp_path / "p.html", 1200)
    assert tab.inner_text("#which") != "the", "the page begins with a word that tells something"
    tab.fill("#query", "violin1")
    assert tab.locator("#found button").all_inner_texts()[0] == "violin1"
    assert set(tab.locator("#found button").all_inner_texts()) >= {"violin10", "violin19"}
    tab.keyboard.press("Enter")
    assert tab.inner_text("#which") == "violin1" and re.fullmatch(r"\d+ times", tab.inner_text("#count"))
    near = tab.locator("#near li .name").all_inner_texts()
    assert len(near) == 10 and all(word.startswith("violin") for word in near)
    assert tab.locator("#lines line").count() == 10
    tab.locator("#near button").nth(2).click()
    assert tab.inner_text("#which") == near[2]
    # a click on a dot, or near it
    x, y = tab.evaluate("""() => { const r = document.querySelector('.word[data-word="7"]').getBoundingClientRect();
                                   return [r.x + r.width / 2, r.y + r.height / 2]; }""")
    tab.mouse.click(x, y)
    word = tab.evaluate("document.querySelector('.word.on title').textContent")
    assert tab.inner_text("#which") == word
    before = tab.get_attribute("#map", "viewBox")
    tab.click("#closer")
    assert tab.get_attribute("#map", "viewBox") != before
    tab.click("#all")
    assert tab.get_attribute("#map", "viewBox") == before
    tab.fill("#query", "zzz")
    assert "not on the map" in tab.inner_text("#found")
    assert complaints == [], "the page asks for nothing and nothing goes wrong"
    tab.context.close()


def test_words_that_mean_harm_are_shown_as_they_are(browser, tmp_path):
    rng = np.random.default_rng(0)
    names = [*NASTY, "</script><script>alert(1)</script>", *(f"w{i}" for i in range(20))]
    names = list(dict.fromkeys(names))
    page = render_word_map(map_facts(Vectors(names, rng.standard_normal((len(names), 4))), source=NASTY[0]))
    tab, complaints = opened(browser, page, tmp_path / "p.html", 1200)
    tab.fill("#query", "</script>")
    tab.keyboard.press("Enter")
    assert tab.inner_text("#which").startswith("</script>") and tab.locator("#near li").count() == 10
    assert complaints == []
    tab.context.close()


def test_symbols_that_are_no_words(tmp_path):
    songs = Vectors([("song", i) for i in range(30)], np.random.default_rng(0).standard_normal((30, 3)))
    text = songs.report(tmp_path / "songs.html", most=12).read_text(encoding="utf-8")
    assert text.count('class="word"') == 12
    assert set(re.findall(r"https?://[^'\"\s<]*", text)) <= {"http://www.w3.org/2000/svg"}
