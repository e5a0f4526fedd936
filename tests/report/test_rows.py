"""Rows are known by name: in facts, in the pictures of a page, and to those who look for one."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import unweave
from tests.report.pages import blobs, pictures, read, topics
from tests.report.test_browser import browser, opened  # noqa: F401
from unweave import report
from unweave.data.named import NamedTable

NAMED = NamedTable(blobs(), columns=list("abcdef"), rows=[f"bottle {i} of ten" for i in range(60)], source="wine.csv")
EARLIER = json.loads(Path(__file__).with_name("facts_of_earlier_code.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def groups():
    return report.gather(unweave.KMeans(3, random_state=0).fit(NAMED), NAMED)


def text_of(facts: dict) -> str:
    return " ".join(read(report.render(facts)).text)


def test_every_point_bears_the_name_of_its_row(groups):
    page = report.render(groups)
    for i in (0, 17, 59):
        assert re.search(rf'<path [^>]*data-row="{i}"><title>bottle {i} of ten</title>', page)
        assert f"bottle {i} of ten" in groups["rows"]["name"]
    assert groups["scatter"]["rows"] == list(range(60)) and set(groups["matrix"]["rows"]) <= set(range(60))


def test_columns_are_named_below_heat_maps(groups):
    page = report.render(groups)
    assert sorted(groups["matrix"]["columns"]) == list("abcdef")
    assert all(page.count(f'<li title="{name}"><bdi>{name}</bdi></li>') == 2 for name in "abcdef")


def test_rows_of_one_name_are_told_apart():
    table = NAMED.with_(rows=["twin"] * 60)
    names = report.gather(unweave.PCA(2).fit(table), table)["rows"]["name"]
    assert names[6] == "twin (row 7)" and len(set(names)) == 60
    bare = report.gather(unweave.PCA(2).fit(blobs()), blobs())["rows"]["name"]
    assert bare[:2] == ["row 1", "row 2"]


def test_a_hundred_thousand_rows_are_sampled_alike_in_every_picture_and_said_to_be(rng):
    X = rng.normal(size=(3, 5))[rng.integers(3, size=100_000)] * 5 + rng.normal(size=(100_000, 5))
    table = NamedTable(X, rows=[f"customer number {i}" for i in range(len(X))])
    facts = report.gather(unweave.KMeans(3, random_state=0).fit(table), table)
    page = report.render(facts)
    assert len(page) < 1_000_000 and len(facts["rows"]["name"]) == 1500
    assert set(facts["matrix"]["rows"]) < set(facts["rows"]["number"]) == set(facts["scatter"]["rows"])
    assert "1,500 of 100,000 rows" in page


def test_centres_are_in_the_units_of_the_file():
    X = blobs() * np.array([1, 10, 100, 1000, 1e4, 1e5])
    ready, recipe = unweave.prepare(NAMED.with_(X=X))
    model = unweave.KMeans(3, random_state=0).fit(ready)
    facts = report.gather(model, ready, recipe=recipe)
    for g, part in enumerate(facts["factors"]["parts"]):
        for (name, deviations), value in zip(part["top"], part["units"]):
            column = X[:, "abcdef".index(name)]
            assert value == pytest.approx(column[model.labels_ == g].mean(), rel=1e-6)
            assert deviations == pytest.approx((value - column.mean()) / column.std(), abs=1e-6)
    assert recipe.notes[0] in text_of(facts) and "in the units of the table" in text_of(facts)


def test_means_of_flags_and_levels_are_shares(tmp_path):
    lines = [f"{30 + 20 * (i % 2)},{'Bath' if i % 2 else 'York'},{'yes' if i % 2 else 'no'}" for i in range(60)]
    (tmp_path / "people.csv").write_text("age,town,member\n" + "\n".join(lines), encoding="utf-8")
    ready, recipe = unweave.prepare(unweave.read(tmp_path / "people.csv"))
    facts = report.gather(unweave.KMeans(2, random_state=0).fit(ready), ready, recipe=recipe)
    assert "age" not in facts["factors"]["shares"] and "member" in facts["factors"]["shares"]
    for part in facts["factors"]["parts"]:
        values = {name: value for (name, _), value in zip(part["top"], part["units"])}
        assert values["member"] in (0.0, 1.0) and values["age"] in (pytest.approx(30), pytest.approx(50))


def test_the_lines_on_the_page_run_as_pasted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = blobs() * np.array([1, 10, 100, 1000, 1e4, 1e5])
    lines = ["a,b,c,d,e,f", *(",".join(map(repr, map(float, row))) for row in X)]
    (tmp_path / "wine.csv").write_text("\n".join(lines), encoding="utf-8")
    ready, recipe = unweave.prepare(unweave.read("wine.csv"))
    model = unweave.KMeans(3, random_state=0).fit(ready)
    page = report.render(report.gather(model, ready, recipe=recipe))
    pasted = unescape(re.search(r"<pre>(.*?)</pre>", page, re.DOTALL)[1])
    scope: dict = {}
    exec(pasted, scope)
    assert np.array_equal(scope["model"].labels_, model.labels_) and (tmp_path / "report.html").exists()


# -- why so many -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [unweave.PCA("auto", random_state=0), unweave.KMeans("auto", random_state=0)])
def test_one_page_gives_one_number_and_the_curve_that_chose_it(model):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3)) @ rng.normal(size=(3, 12)) * 3 + rng.normal(size=(120, 12))
    facts = report.gather(model.fit(X), X)
    assert facts["choice"]["best"] == model.choice_.best == facts["components"]
    text = text_of(facts)
    assert f"Why {facts['components']} " in text and f"{facts['components']} taken" in text
    assert "bends after" not in text and "knee" not in text


def test_a_bend_is_a_hint_where_the_number_was_given():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3)) @ rng.normal(size=(3, 12)) * 3 + rng.normal(size=(120, 12))
    facts = report.gather(unweave.PCA(5).fit(X), X)
    assert "choice" not in facts and set(re.findall(r"bends after (\d+)", text_of(facts))) == {"3"}


# -- documents ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    kinds = ["bees honey hive wax queen", "court judge law trial jury"]
    lines = [
        f"Number {'xyz'[i % 3]} {' '.join(kinds[i % 2].split()[j % 5] for j in range(i, i + 9))}." for i in range(80)
    ]
    path = tmp_path_factory.mktemp("texts") / "news.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    table = unweave.read(path)
    days = np.datetime64("2020-01-01") + 10 * np.arange(80)
    return lines, table.with_(labels=np.array(["insects", "courts"] * 40), times=days)


def test_topics_quote_documents_and_go_with_labels_and_times(news):
    lines, table = news
    facts = report.gather(unweave.LDA(2, random_state=0).fit(table), table)
    for part in facts["factors"]["parts"]:
        for number, name in zip(part["numbers"], part["rows"]):
            assert lines[number][:40] in name
    assert facts["by_label"]["labels"] == ["courts", "insects"] and facts["by_label"]["counts"] == [40, 40]
    assert min(max(shares) for shares in facts["by_label"]["shares"]) > 0.9
    assert facts["over_time"]["from"][0] == "2020-01-01" and sum(facts["over_time"]["counts"]) == 80
    text = text_of(facts)
    assert "Topics by label" in text and "Topics over time" in text and "Find a document" in report.render(facts)


def test_texts_that_are_gone_leave_the_numbers_of_their_lines(news, tmp_path):
    _, table = news
    moved = table.with_(source=str(tmp_path / "nowhere.txt"))
    facts = report.gather(unweave.LDA(2, random_state=0).fit(moved), moved)
    assert facts["rows"]["name"][0] == "line 1" and facts["notes"] == []


# -- earlier facts, and strangers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EARLIER)
def test_facts_of_earlier_code_are_still_drawn(name):
    text = text_of(EARLIER[name])
    assert "How this was found" in text and "The same again in Python" in text
    assert ' data-row="' not in report.render(EARLIER[name])


def test_only_our_own_script_may_run(groups):
    page = report.render(groups)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rule = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#x27;", "'")
    assert rule.startswith("default-src 'none'; img-src data:;") and f"script-src 'sha256-{digest}'" in rule
    assert page.count("<script") == 1 and page.index("<meta http-equiv") < page.index("<style")


# -- in a browser ------------------------------------------------------------------------------------------------------


def marked(tab) -> dict[str, int]:
    return {kind: tab.locator(kind).count() for kind in ("path.on", "tr.on", ".chip", ".heat .line", ".flag.on")}


def test_a_row_is_found_and_stays_marked_everywhere(browser, groups, tmp_path):  # noqa: F811
    tab, complaints = opened(browser, report.render(groups), tmp_path / "p.html", 1200)
    tab.fill(".finder input", "BOTTLE 17 ")
    assert tab.locator(".told").text_content() == "1 row"
    tab.keyboard.press("Enter")
    both = {"path.on": 1, "tr.on": 1, ".chip": 1, ".heat .line": 2, ".flag.on": 1}
    assert marked(tab) == both and tab.locator(".flag.on").text_content() == "bottle 17 of ten"
    assert tab.locator("path.on").get_attribute("data-row") == "17"
    tab.fill(".finder input", "bottle 4")
    tab.locator(".hits button").nth(2).click()
    assert marked(tab)["path.on"] == 2
    tab.locator(".chip").first.click()
    tab.locator(".chip").first.click()
    assert not any(marked(tab).values()) and complaints == []
    tab.context.close()


def test_a_marked_row_is_marked_among_the_states_too(browser, tmp_path):  # noqa: F811
    facts = report.gather(unweave.HiddenMarkov(3, random_state=0).fit(NAMED), NAMED)
    assert sum(end - begin for begin, end, _ in facts["sequence"]["runs"]) == 60
    tab, complaints = opened(browser, report.render(facts), tmp_path / "p.html", 900)
    tab.fill(".finder input", "bottle 30 ")
    tab.keyboard.press("Enter")
    first, step = (float(tab.locator(".lanes").get_attribute(f"data-{name}")) for name in ("first", "step"))
    assert float(tab.locator(".cursor.on").get_attribute("x1")) == pytest.approx(first + 30.5 * step)
    assert complaints == []
    tab.context.close()


def test_pointing_clicking_and_keys_name_rows(browser, groups, tmp_path):  # noqa: F811
    tab, complaints = opened(browser, report.render(groups), tmp_path / "p.html", 1200)
    point = tab.locator("path[data-row='30']")
    point.hover()
    shown = tab.locator(".tip").text_content()
    assert shown.startswith("bottle ") and shown.endswith(" of ten")
    point.click()
    assert marked(tab)["path.on"] == 1
    tab.locator("svg.scatter").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowUp")
    assert tab.locator("path.here").count() == 1
    name = tab.locator(".told").text_content()
    tab.keyboard.press("Enter")
    assert tab.locator(".told").text_content() in (f"{name} is marked", f"{name} is no longer marked")
    tab.locator(".heat").first.scroll_into_view_if_needed()
    box = tab.locator(".heat").first.bounding_box()
    tab.mouse.move(box["x"] + 3, box["y"] + 3)
    first = groups["rows"]["name"][groups["matrix"]["rows"][0]]
    assert tab.locator(".tip").text_content().startswith(f"{first} · {groups['matrix']['columns'][0]}: ")
    assert complaints == []
    tab.context.close()


def test_without_script_everything_is_there_but_the_box(browser, groups, tmp_path):  # noqa: F811
    path = tmp_path / "p.html"
    path.write_text(report.render(groups), encoding="utf-8")
    window = browser.new_context(java_script_enabled=False)
    tab = window.new_page()
    tab.goto(path.as_uri())
    assert not tab.locator(".finder").is_visible() and not tab.locator(".copy").is_visible()
    tab.locator("details.all summary").click()
    assert tab.locator("tr[data-row='59']").is_visible() and tab.locator("path title").count() == 60
    window.close()


def test_the_lines_of_python_are_copied(browser, groups, tmp_path):  # noqa: F811
    tab, complaints = opened(browser, report.render(groups), tmp_path / "p.html", 1200)
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.locator(".copy").click()
    tab.wait_for_function("document.querySelector('.copy').textContent === 'Copied'")
    assert tab.evaluate("navigator.clipboard.readText()") == groups["code"] and complaints == []
    tab.context.close()


def test_two_reports_on_one_page_keep_their_rows_apart(browser, groups, tmp_path):  # noqa: F811
    words, images = topics(rows=[f"text {i}" for i in range(40)]), pictures()
    others = {"a": groups, "b": report.gather(unweave.NMF(2, max_iter=20).fit(images), images)}
    others["c"] = report.gather(unweave.NMF(2, max_iter=20, loss="kl").fit(words), words)
    tab, complaints = opened(browser, report.render_all("three", others), tmp_path / "p.html", 900)
    tab.locator("#part-2 .finder input").fill("text 3")
    tab.keyboard.press("Enter")
    assert tab.locator("#part-2 tr.on").count() == 1 and tab.locator("#part-0 tr.on, #part-1 tr.on").count() == 0
    assert complaints == []
    tab.context.close()
