"""Pages in a real browser: no errors, no sideways scrolling, no labels on top of each other, light and dark.

Needs Chromium on the path (Debian's package ``chromium``). Without it these tests skip, unless UNWEAVE_NEED_BROWSER=1.
"""

from __future__ import annotations

import os
import shutil
import warnings
from itertools import pairwise

import numpy as np
import pytest

import unweave
from tests.report.pages import NASTY, blobs, pictures, ratings, topics
from unweave import report
from unweave.data.named import NamedTable

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--no-first-run"]
NEEDED = os.environ.get("UNWEAVE_NEED_BROWSER") == "1"


def skip(reason: str):
    if NEEDED:
        pytest.fail(f"UNWEAVE_NEED_BROWSER=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip("playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        skip("no chromium on the path: apt-get install chromium")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


def make(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return report.render(report.gather(model.fit(data), data))


def nasty_table():
    return NamedTable(blobs(), columns=NASTY[:6], rows=[NASTY[i % 12] for i in range(60)], source=NASTY[0])


def labelled_texts():
    """Documents with labels that mean harm and dates beside them."""
    labels = np.array([NASTY[i % 5][:40] for i in range(40)])
    days = np.datetime64("2020-01-01") + np.arange(40)
    return topics(rows=[NASTY[i % 12] for i in range(40)]).with_(labels=labels, times=days, label_name=NASTY[0])


PAGES = {
    "states": lambda: make(unweave.HiddenMarkov(4, random_state=0), blobs()),
    "texts": lambda: make(unweave.LDA(6, random_state=0), labelled_texts()),
    "pictures": lambda: make(unweave.NMF(20, max_iter=20), pictures()),
    "topics": lambda: make(unweave.NMF(20, loss="kl", max_iter=20), topics()),
    "groups": lambda: make(unweave.KMeans(20), pictures().X),
    "axes": lambda: make(unweave.PCA(20), np.random.default_rng(0).normal(size=(100, 40)) * np.arange(1, 41)),
    "ratings": lambda: make(unweave.MatrixCompletion(20), ratings()),
    "nasty": lambda: make(unweave.NMF(3, max_iter=20), nasty_table()),
}


@pytest.fixture(scope="module")
def page_of():
    made: dict[str, str] = {}

    def page(name: str) -> str:
        return made.setdefault(name, PAGES[name]()) if name not in made else made[name]

    return page


def opened(browser, page: str, path, width: int, scheme: str = "light"):
    """The page in a window of this width, and what the browser complained of."""
    path.write_text(page, encoding="utf-8")
    complaints: list[str] = []
    window = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = window.new_page()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: (complaints.append("a dialog opened"), dialog.dismiss()))
    tab.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
    tab.goto(path.as_uri())
    return tab, complaints


# Rectangles of all text that can be seen: each run of characters as it is laid out, cut to boxes that hide the rest.
BOXES = """() => {
  let count = 0; const out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode; count++;
    if (!node.data.trim() || !node.parentElement.checkVisibility({contentVisibilityAuto: true})) continue;
    const folded = node.parentElement.closest('details:not([open])');
    if (folded && !node.parentElement.closest('summary')) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    let clip = null;
    for (let e = node.parentElement; e; e = e.parentElement)
      if (getComputedStyle(e).overflowX !== 'visible') { clip = e.getBoundingClientRect(); break; }
    for (const r of range.getClientRects()) {
      const left = clip ? Math.max(r.left, clip.left) : r.left, right = clip ? Math.min(r.right, clip.right) : r.right;
      const top = clip ? Math.max(r.top, clip.top) : r.top, end = clip ? Math.min(r.bottom, clip.bottom) : r.bottom;
      if (right - left > 1 && end - top > 1)
        out.push([left, top, right, end, node.data.trim().slice(0, 30), count]);
    }
  }
  return out;
}"""


def overlapping(boxes: list) -> list:
    """Pairs of texts that cover each other by more than a hair; line boxes are a little higher than their letters."""
    at = np.array([box[:4] for box in boxes])
    high = at[:, 3] - at[:, 1]
    top, bottom = at[:, 1] + 0.2 * high, at[:, 3] - 0.2 * high
    wide = np.minimum(at[:, None, 2], at[None, :, 2]) - np.maximum(at[:, None, 0], at[None, :, 0])
    tall = np.minimum(bottom[:, None], bottom[None]) - np.maximum(top[:, None], top[None])
    node = np.array([box[5] for box in boxes])  # a name that is cut has a box with and one without its ellipsis
    first, second = np.nonzero(np.triu((wide > 1) & (tall > 1) & (node[:, None] != node[None]), 1))
    return [(boxes[i][4], boxes[j][4]) for i, j in zip(first, second)]


def test_overlaps_are_seen(browser, tmp_path):
    page = '<body><p style="position:absolute;top:9px">one word</p><p style="position:absolute;top:12px">another</p>'
    tab, _ = opened(browser, page, tmp_path / "p.html", 400)
    assert overlapping(tab.evaluate(BOXES)) == [("one word", "another")]
    tab.context.close()


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_and_labels_keep_apart(browser, page_of, tmp_path, name, width):
    tab, complaints = opened(browser, page_of(name), tmp_path / "p.html", width)
    folded = tab.evaluate(BOXES)
    tab.evaluate("document.querySelectorAll('details.how').forEach(part => { part.open = true; })")
    for boxes in (folded, tab.evaluate(BOXES)):
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert len(boxes) > 50 and max(box[2] for box in boxes) <= width
        assert overlapping(boxes) == []
    assert len(boxes) > len(folded)
    broken = tab.evaluate("[...document.images].filter(i => !i.complete || !i.naturalWidth).length")
    assert broken == 0 and complaints == []
    tab.context.close()


CONTRAST = """() => {
  const rgb = s => (s.match(/[\\d.]+/g) || []).map(Number);
  const light = c => c.slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const worst = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const ink = rgb(e.closest('svg') ? getComputedStyle(e).fill : getComputedStyle(e).color);
    let under = null;
    for (let p = e; p && !under; p = p.parentElement) {
      const c = rgb(getComputedStyle(p).backgroundColor);
      if (c.length === 3 || c[3] > 0) under = c;
    }
    const [a, b] = [light(ink), light(under)].sort((x, y) => y - x);
    worst.push((a + .05) / (b + .05));
  }
  return Math.min(...worst);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_schemes(browser, page_of, tmp_path, scheme):
    for name in ("groups", "topics", "axes"):
        tab, _ = opened(browser, page_of(name), tmp_path / "p.html", 1200, scheme)
        assert tab.evaluate(CONTRAST) >= 4.5
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = np.mean([int(v) for v in ground.strip("rgb()").split(",")])
        assert brightness < 40 if scheme == "dark" else brightness > 240
        tab.context.close()


def test_print_is_black_on_white_even_where_the_screen_is_dark(browser, page_of, tmp_path):
    tab, _ = opened(browser, page_of("pictures"), tmp_path / "p.html", 1000, "dark")
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.evaluate("getComputedStyle(document.querySelector('.map')).filter") == "none"
    assert tab.evaluate("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
    tab.context.close()


def test_every_chart_and_image_has_a_name_and_headings_have_an_order(browser, page_of, tmp_path):
    for name in PAGES:
        tab, _ = opened(browser, page_of(name), tmp_path / "p.html", 800)
        nameless = "[...document.querySelectorAll('svg.chart, img')]"
        nameless += ".filter(e => !e.getAttribute('alt') && !e.getAttribute('aria-label')).length"
        assert tab.evaluate(nameless) == 0
        levels = tab.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        tab.context.close()
