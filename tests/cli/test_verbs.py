"""Every verb on real files, through the installed program: what it prints, writes and returns."""

import csv
import json
import os
import resource
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_digits

import unweave as library
from tests.cli.conftest import PROGRAM

pytestmark = pytest.mark.slow


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_describe_suggests_a_job(unweave, wine, holes, ratings):
    said = unweave("describe", wine).stderr
    assert "178 rows × 14 columns" in said and "alcohol" in said and "suggested: unweave compress" in said
    assert "suggested: unweave complete" in unweave("describe", holes).stderr
    assert json.loads(unweave("describe", ratings, "--json").stdout)["suggested"] == "complete"


def test_group_standardises_drops_constants_and_keeps_names(unweave, wine, tmp_path):
    done = unweave("group", wine, "-k", "3", "--out", "groups")
    assert "unlike units" in done.stderr and "constant columns: 'bottles'" in done.stderr and done.stdout == ""
    table = rows(tmp_path / "groups" / "groups.csv")
    assert table[0] == ["row", "group", "distance"] and table[1][0] == "wine 0" and len(table) == 179
    groups = np.array([int(line[1]) for line in table[1:]])
    from sklearn.datasets import load_wine
    from sklearn.metrics import adjusted_rand_score

    assert adjusted_rand_score(load_wine().target, groups) > 0.8
    centres = rows(tmp_path / "groups" / "components.csv")
    assert centres[0][:2] == ["group", "alcohol"] and 11 < float(centres[1][1]) < 15, "centres are in units of the file"
    assert {p.name for p in (tmp_path / "groups").iterdir()} == {
        "model.unweave", "report.html", "groups.csv", "components.csv"
    }  # fmt: skip


def test_k_auto_finds_the_three_wines(unweave, wine):
    answer = json.loads(unweave("group", wine, "--json").stdout)
    assert answer["components"] == 3 and answer["out"] == "wine-group"
    assert answer["answer"]["chosen"]["by"] == "groups" and max(answer["answer"]["chosen"]["scores"]) > "3"


def test_compress_transform_show_report_round(unweave, wine, tmp_path):
    unweave("compress", wine, "-k", "2")
    model = tmp_path / "wine-compress" / "model.unweave"
    unweave("transform", model, wine, "--out", "again.csv")
    first, again = rows(tmp_path / "wine-compress" / "codes.csv"), rows(tmp_path / "again.csv")
    assert first == again and first[0] == ["row", "component 1", "component 2"]
    to_stdout = unweave("transform", model, wine, "--out", "-").stdout
    assert to_stdout == (tmp_path / "again.csv").read_text()
    said = unweave("show", model).stderr
    assert "PCA, 2 components" in said and "flavanoids" in said
    shown = json.loads(unweave("show", model, "--json", "--top", "3").stdout)
    assert len(shown["largest"][0]) == 3
    page = (tmp_path / "wine-compress" / "report.html").read_text(encoding="utf-8")
    unweave("report", model, "--out", "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page and "alcohol" in page


def test_the_library_repeats_what_the_program_did(unweave, wine, tmp_path):
    unweave("compress", wine, "-k", "3")
    ready, recipe = library.prepare(library.read(wine))
    saved = library.load(tmp_path / "wine-compress" / "model.unweave")
    np.testing.assert_array_equal(saved.components_, library.PCA(3, random_state=0).fit(ready).components_)
    np.testing.assert_allclose(recipe.restore(ready.X), library.read(wine).X[:, recipe.keep])


def test_complete_fills_holes_in_the_units_of_the_file(unweave, holes, tmp_path):
    unweave("complete", holes, "-k", "2", "--out", "full")
    filled = np.array(rows(tmp_path / "full" / "completed.csv")[1:], dtype=float)
    truth = np.load(tmp_path / "truth.npy")
    assert filled.shape == truth.shape and np.isfinite(filled).all()
    hidden = np.array([[cell == "" for cell in line] for line in rows(holes)[1:]])
    error = np.sqrt(np.mean(((filled - truth) / truth.std(axis=0))[hidden] ** 2))
    assert error < 0.2, "a column of spread 100 counts as much as the others"
    np.testing.assert_allclose(filled[~hidden], truth[~hidden], rtol=1e-5)


def test_complete_takes_ratings(unweave, ratings, tmp_path):
    answer = json.loads(unweave("complete", ratings, "-k", "2", "--json").stdout)
    assert (answer["model"], answer["rows"], answer["columns"]) == ("MatrixCompletion", 60, 40)
    assert rows(tmp_path / "ratings-complete" / "codes.csv")[1][0] == "1"


def test_complete_takes_text_columns(unweave, tmp_path, rng):
    health = rng.normal(size=120)
    lines = ["age,town,smokes"]
    for i, h in enumerate(health):
        town = "" if i % 10 == 3 else "Bath" if h > 0 else "York"
        age = "" if i % 10 == 5 else f"{50 - 10 * h + rng.normal():.2f}"
        lines.append(f"{age},{town},{int(h < 0)}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    unweave("complete", "people.csv", "-k", "1")
    full = rows(tmp_path / "people-complete" / "completed.csv")
    assert full[0] == ["age", "town", "smokes"] and all(all(line) for line in full)
    guessed = [full[i + 1][1] for i in range(120) if i % 10 == 3]
    right = ["Bath" if health[i] > 0 else "York" for i in range(120) if i % 10 == 3]
    assert np.mean([a == b for a, b in zip(guessed, right, strict=True)]) > 0.8


def people(path, rng, n=120):
    """A table of numbers, towns and 0/1 that go together, with holes; what the towns were is returned."""
    health = rng.normal(size=n)
    towns = np.where(health > 0, "Bath", "York")
    lines = ["age,town,smokes,pulse"]
    for i, h in enumerate(health):
        town = "" if i % 10 == 3 else towns[i]
        age = "" if i % 10 == 5 else f"{50 - 10 * h + rng.normal():.2f}"
        lines.append(f"{age},{town},{int(h < 0)},{70 - round(5 * h)}")
    path.write_text("\n".join(lines) + "\n")
    return towns


def test_mixed_columns_are_filled_by_the_imputer_and_without_pandas(unweave, tmp_path, rng):
    towns = people(tmp_path / "people.csv", rng)
    (tmp_path / "no").mkdir()
    (tmp_path / "no" / "pandas.py").write_text("raise ImportError('pandas is not needed')\n")
    path = f"{tmp_path / 'no'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    answer = json.loads(unweave("complete", "people.csv", "--json", PYTHONPATH=path).stdout)
    assert answer["model"] == "TableImputer"
    assert {"completed.csv", "uncertainty.csv", "report.html"} <= set(answer["files"])
    full, doubts = (rows(tmp_path / "people-complete" / name) for name in ("completed.csv", "uncertainty.csv"))
    assert full[0] == doubts[0] == ["age", "town", "smokes", "pulse"] and all(all(line) for line in full)
    assert np.mean([full[i + 1][1] == towns[i] for i in range(3, 120, 10)]) > 0.8
    for was, now in zip(rows(tmp_path / "people.csv")[1:], full[1:], strict=True):
        kept = [(a, b) for a, b in zip(was, now, strict=True) if a != ""]
        assert all(a == b if a in ("Bath", "York") else float(a) == float(b) for a, b in kept)
    sure = [[cell != "" for cell in line] for line in doubts[1:]]
    assert sure == [[i % 10 == 5, i % 10 == 3, False, False] for i in range(120)], "a number where a hole was"
    model = library.load(tmp_path / "people-complete" / "model.unweave")
    again = model.transform(library.read(tmp_path / "people.csv"))
    assert again["town"].to_list() == [line[1] for line in full[1:]]
    page = (tmp_path / "people-complete" / "report.html").read_text(encoding="utf-8")
    assert "TableImputer" in page and "model.transform(table)" in page


def test_transform_and_show_of_an_imputer(unweave, tmp_path, rng):
    people(tmp_path / "people.csv", rng)
    unweave("complete", "people.csv", "--quiet")
    (tmp_path / "new.csv").write_text("age,town,smokes,pulse\n,Bath,0,64\n61.5,,1,77\n")
    unweave("transform", "people-complete/model.unweave", "new.csv", "--out", "new-full.csv")
    full = rows(tmp_path / "new-full.csv")
    assert full[0] == ["age", "town", "smokes", "pulse"] and float(full[1][0]) < 50 and full[2][:2] == ["61.5", "York"]
    assert "TableImputer" in unweave("show", "people-complete/model.unweave").stderr


def test_explain_finds_topics_in_lines_of_text(unweave, tmp_path, rng):
    themes = ["cat dog horse sheep goat", "violin piano flute drum cello", "rain snow wind cloud storm"]
    lines = [" ".join(rng.choice(themes[i % 3].split(), 12)) for i in range(60)]
    (tmp_path / "notes.txt").write_text("\n".join(lines) + "\n")
    unweave("explain", "notes.txt", "-k", "3", "--lines", "--out", "topics")
    shown = json.loads(unweave("show", "topics/model.unweave", "--json", "--top", "5").stdout)
    assert sorted(" ".join(sorted(words)) for words in shown["largest"]) == sorted(
        " ".join(sorted(theme.split())) for theme in themes
    )


def test_explain_pictures_and_negative_numbers(unweave, tmp_path, rng):
    np.save(tmp_path / "digits.npy", load_digits().data[:300])
    assert json.loads(unweave("explain", "digits.npy", "-k", "5", "--json").stdout)["model"] == "NMF"
    np.save(tmp_path / "mixed.npy", rng.normal(size=(50, 6)))
    answer = json.loads(unweave("explain", "mixed.npy", "-k", "2", "--json").stdout)
    assert any("negative" in note for note in answer["notes"])


def test_plan_says_what_would_run_and_writes_nothing(unweave, wine, tmp_path):
    said = unweave("plan", wine, "--job", "explain", "-k", "4").stderr
    assert "coordinate descent" in said and "Memory: " in said and "per iteration (measured)" in said
    answer = json.loads(unweave("plan", wine, "--json").stdout)
    assert answer["job"] == "compress" and answer["bytes"] > 0
    assert [p.name for p in tmp_path.iterdir()] == ["wine.csv"]


def test_plan_takes_the_job_as_the_first_word(unweave, wine):
    answer = json.loads(unweave("plan", "group", wine, "-k", "3", "--json").stdout)
    assert (answer["job"], answer["components"]) == ("group", 3)


def test_plan_of_ratings(unweave, ratings):
    answer = json.loads(unweave("plan", ratings, "--json").stdout)
    assert (answer["job"], answer["model"]) == ("complete", "MatrixCompletion")
    assert 1 <= answer["max_iter"] <= 50, "the solver's own number, or as many as it took"


def test_quiet_says_nothing(unweave, wine):
    done = unweave("compress", wine, "-k", "2", "--quiet")
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["group", "nowhere.csv"], "nowhere.csv"),
        (["group", "wine.csv", "-k", "5000"], "at most 178"),
        (["compress", "wine.csv", "--format", "nonsense"], "nonsense"),
        (["complete", "wine.csv"], "no missing entry"),
        (["compress", "wine.csv", "--out", "wine.csv"], "is a file"),
        (["transform", "wine.csv", "wine.csv"], "wine.csv"),
        (["show", "nowhere.unweave"], "nowhere.unweave"),
        (["compress", "."], "folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_failures_are_one_sentence_and_exit_1(unweave, wine, words, says):
    assert says in unweave(*words, expect=1).stderr


@pytest.mark.parametrize(
    "words", [["group"], ["group", "x.csv", "-k", "none"], ["weave", "x"], ["group", "x", "--nope"]]
)
def test_wrong_usage_exits_2(unweave, words):
    assert unweave(*words, expect=2).stdout == ""


def test_remedies_are_named_as_options(unweave, tmp_path):
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9,b\n1,2\n3,4\n4,9\n")
    assert "--encoding 'latin-1'" in unweave("describe", "latin.csv", expect=1).stderr
    assert "café" in unweave("describe", "latin.csv", "--encoding", "latin-1").stderr


def test_debug_shows_where(unweave):
    done = subprocess.run([str(PROGRAM), "group", "nowhere.csv", "--debug"], capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" in done.stderr


def test_a_new_file_lacking_a_column_is_named(unweave, wine, tmp_path):
    unweave("compress", wine, "-k", "2")
    lines = [line.split(",") for line in wine.read_text().splitlines()]
    (tmp_path / "less.csv").write_text("\n".join(",".join(line[:1] + line[2:]) for line in lines) + "\n")
    assert "'alcohol'" in unweave("transform", "wine-compress/model.unweave", "less.csv", expect=1).stderr


def _spent_by_commands():
    """Seconds of the processor: other tests run on the other core, and the clock on the wall counts them too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_is_quick_and_has_examples(unweave):
    seconds = []
    for _ in range(5):
        began = _spent_by_commands()
        said = unweave("--help").stdout
        seconds.append(_spent_by_commands() - began)
    assert min(seconds) < 0.4, seconds
    for verb in ("describe", "plan", "compress", "complete", "group", "explain", "transform", "show", "report"):
        assert verb in said
        assert f"$ unweave {verb} " in unweave(verb, "--help").stdout
