"""The first hour: files as people have them go through every verb in a new environment, and what is said is true.

Only with ``UNWEAVE_INSTALL=1`` (``make test-install``), in an environment that holds the package and what it asks for.
CPU seconds are printed, not asserted: they are of the machine.
"""

from __future__ import annotations

import csv
import json
import os
import re
import resource
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

pytestmark = pytest.mark.skipif(
    os.environ.get("UNWEAVE_INSTALL") != "1", reason="builds and installs the package: UNWEAVE_INSTALL=1"
)

WORDS = {
    "ham": ["lunch", "home", "tonight", "meeting", "train", "office", "mother", "coffee", "sleep", "weather", "bus"],
    "spam": ["free", "prize", "winner", "claim", "cash", "offer", "call", "urgent", "mobile", "award", "voucher"],
}


def write(path: Path, header: list[str], rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def messages(rng, n: int = 240):
    """Short messages of two kinds, with the columns that such files have."""
    for i in range(n):
        kind = "spam" if rng.random() < 0.4 else "ham"
        text = " ".join(rng.choice(WORDS[kind], rng.integers(8, 16)))
        yield [f"m{i:04d}", kind, text.capitalize() + ".", len(text)]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with a dozen files of the kinds that people bring."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    wine, iris, digits = load_wine(), load_iris(), load_digits()
    write(folder / "wine.csv", list(wine.feature_names), wine.data.tolist())
    # mixed columns with holes, as the penguins
    species = np.array(iris.target_names)[iris.target]
    rows = [[i + 1, name, *map(str, x)] for i, (name, x) in enumerate(zip(species, iris.data.tolist()))]
    for i in rng.choice(150, 30, replace=False):
        rows[i][int(rng.integers(1, 6))] = ""
    write(folder / "flowers.csv", ["sample number", "species", *iris.feature_names], rows)
    write(folder / "sms.csv", ["id", "label", "text", "length"], messages(rng))
    lines = [json.dumps(dict(zip(["id", "label", "text", "length"], row))) for row in messages(rng)]
    (folder / "sms.jsonl").write_text("\n".join(lines), encoding="utf-8")
    # ratings with times, and clicks
    taste, appeal = rng.normal(size=(60, 2)), rng.normal(size=(2, 40))
    stars = np.clip(np.round(3 + taste @ appeal), 1, 5)
    seen = [(u, i) for u in range(60) for i in range(40) if rng.random() < 0.4]
    times = rng.integers(1_500_000_000, 1_600_000_000, len(seen))
    ratings = [[f"u{u}", f"film {i}", int(stars[u, i]), int(t)] for (u, i), t in zip(seen, times)]
    write(folder / "ratings.csv", ["userId", "movieId", "rating", "timestamp"], ratings)
    write(folder / "clicks.csv", ["user", "item"], [[u, i] for u, i, star, _ in ratings if star >= 4])
    # a spreadsheet: dates, money, percent, a category, ids
    sales = []
    for i in range(200):
        big = i % 2
        day = f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}"
        price = f"${rng.normal(2500 if big else 120, 20):,.2f}"
        sales.append([f"A-{1000 + i}", day, ["web", "shop"][big], price, f"{rng.normal(30 - 20 * big, 1):.1f} %"])
    write(folder / "sales.csv", ["order id", "date", "channel", "amount", "discount"], sales)
    records = [dict(zip(["channel", "amount", "discount"], [row[2], i % 7 + row[2].count("h"), i % 5])) for i, row in
               enumerate(sales)]  # fmt: skip
    (folder / "sales.json").write_text(json.dumps(records), encoding="utf-8")
    (folder / "notes.txt").write_text("\n".join(row[2] for row in messages(rng)), encoding="utf-8")
    np.save(folder / "digits.npy", digits.data[:300])
    write(folder / "answers.csv", [f"q{j}" for j in range(6)],
          [["yes" if rng.random() < 0.2 + 0.6 * (i % 2) else "no" for _ in range(6)] for i in range(120)])  # fmt: skip
    half = [row for row in wine.data.tolist()]
    write(folder / "may.csv", list(wine.feature_names), half[:90])
    write(folder / "june.csv", list(wine.feature_names), half[90:])
    return folder


@pytest.fixture(scope="module")
def unweave(programs, files):
    """Call the program in the folder of the files: (exit code, what it said, the JSON if it was asked for)."""

    def call(*words: str) -> tuple[int, str, dict]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([programs / "unweave", *words], cwd=files, capture_output=True, text=True, timeout=300)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{seconds:6.1f} CPU s  unweave {' '.join(words)}")
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stderr, json.loads(done.stdout) if "--json" in words else {}

    return call


DONE = {  # what is asked -> files that the folder must hold beside the model and the page
    "group wine.csv": ["groups.csv", "components.csv"],
    "group sales.csv": ["groups.csv", "components.csv"],
    "group answers.csv": ["groups.csv"],
    "group sales.json": ["groups.csv"],
    "group may.csv june.csv -k 3": ["groups.csv"],
    "cluster wine.csv -k 3": ["groups.csv"],
    "compress wine.csv": ["codes.csv", "components.csv"],
    "compress sales.csv": ["codes.csv", "components.csv"],
    "pca flowers.csv --ignore species": ["codes.csv"],
    "complete flowers.csv": ["completed.csv", "uncertainty.csv"],
    "complete ratings.csv": ["predictions.csv"],
    "recommend clicks.csv": ["recommendations.csv"],
    "topics sms.csv -k 2": ["topics.csv", "topics.html"],
    "topics sms.jsonl -k 2": ["topics.csv"],
    "topics notes.txt -k 2 --lines": ["topics.csv"],
    "explain digits.npy -k 10": ["codes.csv", "components.csv"],
}


@pytest.mark.parametrize("asked", DONE)
def test_a_verb_answers_a_file(unweave, files, tmp_path, asked):
    words = [*asked.split(), "--out", str(tmp_path / "out")]
    code, said, found = unweave(*words, "--json")
    assert code == 0, said
    for name in ["model.unweave", "report.html", *DONE[asked]]:
        assert (tmp_path / "out" / name).stat().st_size > 50, name
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    headline = found["headline"]
    assert plain(headline) in plain(page)
    assert not re.search(r"\d[eE][+]\d", headline) and " nan" not in said.lower()
    code, shown, _ = unweave("show", str(tmp_path / "out" / "model.unweave"))
    assert code == 0 and plain(headline) in plain(shown)


def plain(text: str) -> str:
    """Text alone: no tags, no entities that stand for plain signs, one space between words."""
    text = re.sub(r"<[^>]+>", " ", text)
    for entity, sign in {"&#x27;": "'", "&#39;": "'", "&quot;": '"', "&amp;": "&"}.items():
        text = text.replace(entity, sign)
    return " ".join(text.split())


def test_groups_of_the_terminal_are_those_of_the_files(unweave, files, tmp_path):
    code, _, found = unweave("group", "wine.csv", "--out", str(tmp_path / "out"), "--json")
    assert code == 0
    with (tmp_path / "out" / "groups.csv").open(encoding="utf-8") as file:
        groups = [row["group"] for row in csv.DictReader(file)]
    sizes = [groups.count(str(g + 1)) for g in range(found["components"])]
    numbers = [int(word) for word in re.findall(r"\d+", found["headline"])]
    assert numbers == [178, found["components"], *sizes]


REFUSED = {  # what is asked -> words of the one sentence that helps
    "topics wine.csv": "unweave explain",
    "group notes.txt --lines": "unweave topics",
    "complete wine.csv": "nothing to complete",
    "complete clicks.csv": "unweave recommend",
    "group nowhere.csv": "no such file",
    "gruop wine.csv": "group",
    "group wine.csv --columns alcohol,beer": "beer",
}


@pytest.mark.parametrize("asked", REFUSED)
def test_what_cannot_be_done_is_said_with_what_to_do(unweave, files, tmp_path, asked):
    more = [] if asked.startswith("gruop") else ["--out", str(tmp_path / "out")]
    code, said, _ = unweave(*asked.split(), *more)
    assert code in (1, 2)
    assert REFUSED[asked] in " ".join(said.split())
    assert not (tmp_path / "out").exists()
    assert "n_components" not in said and "fit(" not in said and "=" not in said.split("unweave:")[-1]


@pytest.mark.parametrize("name", ["wine.csv", "flowers.csv", "sms.csv", "ratings.csv", "clicks.csv", "sales.csv"])
def test_describe_suggests_a_command_that_works(unweave, files, tmp_path, name):
    code, said, _ = unweave("describe", name)
    assert code == 0
    command = re.search(rf"unweave (\w+) {re.escape(name)}", " ".join(said.split()))
    assert command, said
    code, said, _ = unweave(command[1], name, "--out", str(tmp_path / "out"))
    assert code == 0, said
