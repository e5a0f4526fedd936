"""``unweave roles``: from an export of who may do what to roles, exceptions, a page, and what changed since."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import unweave
from unweave.cli.main import main

JOBS = {
    "Finance": ["ledger-read", "ledger-post", "invoice-approve"],
    "Engineering": ["git-read", "git-write", "ci-run"],
    "Sales": ["crm-read", "crm-write", "quote-create"],
}
EVIL = ["=cmd|' /C calc'!A0", '<b>"O\'Neil, Zoë"</b>', "@SUM(A1)", "+1+1", "-x", "日本語"]


def written(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows] if header else rows)
    return path


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def pairs(n=45, accidents=()):
    """Users of three departments with the same two rights for all: (user, permission) lines and departments."""
    rng = np.random.default_rng(0)
    lines, people = [], []
    for i in range(n):
        job = list(JOBS)[i % 3]
        people.append((f"u{i:02d}", job, "manager" if rng.random() < 0.2 else "specialist"))
        lines += [(f"u{i:02d}", what) for what in ["mail", "vpn", *JOBS[job]]]
    return [*lines, *accidents], people


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines, people = pairs()
    written("access.csv", ("user", "permission"), lines)
    written("users.csv", ("user", "department", "title"), people)
    return tmp_path


def run(capsys, *words, expect=0):
    code = main(["roles", *map(str, words)])
    said = capsys.readouterr()
    assert code == expect, said.err
    return said


def answer(capsys, *words):
    return json.loads(run(capsys, *words, "--json").out)


def test_pairs_become_the_fewest_roles_with_names(here, capsys):
    found = answer(capsys, "access.csv", "--attributes", "users.csv", "--out", "out")
    assert found["model"] == "RoleMiner" and found["answer"]["unexplained"] == found["answer"]["added"] == 0
    assert {role["name"] for role in found["answer"]["roles"]} == set(JOBS)
    names = {path.name for path in (here / "out").iterdir()}
    assert names == {
        "model.unweave", "report.html", "codes.csv", "components.csv", "roles.csv", "roles.html", "assignments.csv",
        "exceptions.csv", "changes.csv",
    }  # fmt: skip
    roles, assigned = read("out/roles.csv"), read("out/assignments.csv")
    assert roles[0] == ["role", "name", "users", "permission"] and len(roles) == 1 + 15
    assert assigned[0] == ["user", "role", "name"] and len(assigned) == 1 + 45
    finance = {line[3] for line in roles if line[1] == "Finance"}
    assert finance == {"mail", "vpn", *JOBS["Finance"]}
    assert ["u00", next(line[0] for line in roles if line[1] == "Finance"), "Finance"] in assigned
    assert read("out/exceptions.csv")[1:] == read("out/changes.csv")[1:] == []
    page = (here / "out" / "roles.html").read_text(encoding="utf-8")
    assert "3 roles for 45 users and 11 permissions" in page and page.count("data:image/png;base64,") == 2
    assert "Nothing: with these roles everybody has exactly what they have now." in page


def test_the_python_that_is_shown_gives_the_same_roles(here, capsys):
    run(capsys, "access.csv", "--out", "out")
    page = (here / "out" / "roles.html").read_text(encoding="utf-8")
    assert "unweave.RoleMiner(random_state=0).fit(table)" in page
    table = unweave.read("access.csv")
    roles = unweave.RoleMiner(random_state=0).fit(table).roles_
    lines = read("out/components.csv")
    assert sorted(map(str, roles.tolist())) == sorted(str([int(float(v)) for v in line[1:]]) for line in lines[1:])


def test_noise_gives_exceptions_and_what_would_change(here, capsys):
    lines, _ = pairs(60, [("u03", "crm-write"), ("u10", "prod-root")])
    lines.remove(("u05", "vpn"))
    written("noisy.csv", ("user", "permission"), lines)
    found = answer(capsys, "noisy.csv", "--noise", "--roles", "3", "--out", "out")
    assert found["answer"]["unexplained"] == 2 and found["answer"]["added"] == 1
    exceptions = read("out/exceptions.csv")
    assert exceptions[0] == ["user", "permission", "exception", "users_alike", "surprise"]
    assert {tuple(line[:3]) for line in exceptions[1:]} == {
        ("u03", "crm-write", "no role explains it"), ("u10", "prod-root", "no role explains it"),
        ("u05", "vpn", "a role would add it"),
    }  # fmt: skip
    surprise = [float(line[4]) for line in exceptions[1:]]
    assert surprise == sorted(surprise, reverse=True) and surprise[-1] > 1
    changes = {tuple(line) for line in read("out/changes.csv")[1:]}
    assert changes == {("u03", "loses", "crm-write"), ("u10", "loses", "prod-root"), ("u05", "gains", "vpn")}
    page = (here / "out" / "roles.html").read_text(encoding="utf-8")
    assert "3 users would notice" in page and "Users with most exceptions" in page


def test_a_table_of_zeros_and_ones_and_pairs_give_the_same(here, capsys):
    lines, _ = pairs()
    users, what = list(dict.fromkeys(a for a, _ in lines)), list(dict.fromkeys(b for _, b in lines))
    has = set(lines)
    rows = [[user, *(int((user, one) in has) for one in what)] for user in users]
    written("matrix.csv", ["user", *what], rows)
    first = answer(capsys, "access.csv", "--out", "one")["answer"]
    assert answer(capsys, "matrix.csv", "--out", "two")["answer"] == first
    written("plain.csv", None, lines)
    assert answer(capsys, "plain.csv", "--out", "three")["answer"] == first
    written("odd.csv", ("login", "entitlement"), lines)
    said = run(capsys, "odd.csv", "--out", "four")
    assert "the first line, 'login' and 'entitlement', names the columns" in said.err and "45 users" in said.err
    numbers = [(users.index(a) + 7, what.index(b) + 100) for a, b in lines]
    written("numbers.csv", ("user", "permission"), numbers)
    assert answer(capsys, "numbers.csv", "--out", "five")["answer"]["users"] == 45


def test_evil_names_stay_text_everywhere(here, capsys):
    accidents = [(name, right) for name in EVIL for right in EVIL[:3]]
    written("evil.csv", ("user", "permission"), [*pairs()[0], *accidents])
    written("who.csv", ("user", "department"), [(name, "=1+1<script>") for name in EVIL])
    run(capsys, "evil.csv", "--attributes", "who.csv", "--out", "out")
    for file in ("roles", "assignments", "exceptions", "changes", "codes"):
        cells = [cell for line in read(f"out/{file}.csv") for cell in line]
        assert not [cell for cell in cells if cell[:1] in "=@+" and cell], file
    users = {line[0] for line in read("out/assignments.csv")}
    assert {"'=cmd|' /C calc'!A0", '<b>"O\'Neil, Zoë"</b>', "'@SUM(A1)", "'+1+1", "'-x", "日本語"} <= users
    page = (here / "out" / "roles.html").read_text(encoding="utf-8")
    assert "<b>&quot;" not in page and "<script>" not in page and "&lt;b&gt;&quot;O&#x27;Neil, Zoë&quot;" in page
    assert set(unweave.load(here / "out" / "model.unweave").feature_names_in_) >= set(EVIL[:3])


def test_two_results_are_compared(here, capsys):
    run(capsys, "access.csv", "--attributes", "users.csv", "--noise", "-k", "3", "--out", "old")
    lines = [(a, b) for a, b in pairs()[0] if b != "vpn"] + [(f"n{i}", b) for i in range(9) for b in ("lab-a", "lab-b")]
    written("later.csv", ("user", "permission"), [*lines, *((f"u{i:02d}", "quote-sign") for i in range(2, 45, 3))])
    run(capsys, "later.csv", "--attributes", "users.csv", "--noise", "-k", "4", "--out", "new")
    said = run(capsys, "--diff", "old", "new", "--out", "diff.csv", "--json")
    found = json.loads(said.out)
    assert found["headline"] == "0 roles are as before, 3 changed, 1 are new and 0 are gone"
    changed = {row["name"]: (row["gains"], row["loses"]) for row in found["roles"]}
    assert changed["Sales"] == (["quote-sign"], ["vpn"]) and changed["Finance"] == ([], ["vpn"])
    people = {row["name"]: row for row in found["users"]}
    assert len(people) == 54 and people["n0"]["what"] == "user is new" and people["u00"]["loses"] == ["vpn"]
    assert len(read("diff.csv")) == 1 + 4 + 54
    assert "0 roles are as before" in run(capsys, "--diff", "old", "new").err
    assert "3 roles are as before, 0 changed" in run(capsys, "--diff", "old", "old").err


@pytest.mark.parametrize(
    "words, said",
    [
        (["amounts.csv"], "row 'ann', column 'b' holds 7"),
        (["holes.csv"], "row 'ann', column 'b' holds nothing"),
        (["three.csv"], "neither lines of user,permission nor a table of 0 and 1"),
        (["access.csv", "--roles", "auto"], "add --noise"),
        (["access.csv", "--roles", "500"], "too many"),
        (["access.csv", "--noise", "--max-permissions-per-role", "3"], "does not go with --noise"),
        (["access.csv", "--attributes", "strangers.csv"], "knows none of the users, such as 'u00'"),
        (["access.csv", "--separated", "pairs.csv"], "names 'nothing', which is no permission in the table"),
        (["access.csv", "--separated", "single.csv"], "must be two different permissions"),
        (["--diff", "access.csv"], "compares two results"),
        (["--diff", "nowhere", "there"], "has no model.unweave"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here, capsys, words, said):
    written("amounts.csv", ("user", "a", "b"), [("ann", 1, 7), ("bob", 0, 1), ("eve", 1, 1)])
    written("holes.csv", ("user", "a", "b"), [("ann", 1, ""), ("bob", 0, 1), ("eve", 1, 1)])
    written("three.csv", ("user", "what", "when"), [("ann", "mail", "monday"), ("bob", "mail", "friday")])
    written("strangers.csv", ("user", "department"), [("zoe", "HR"), ("max", "HR")])
    written("pairs.csv", None, [("mail", "vpn"), ("mail", "nothing")])
    written("single.csv", None, [("mail", "mail")])
    error = run(capsys, *words, expect=1).err
    assert said in error and "Traceback" not in error


def test_limits_reach_the_model(here, capsys):
    written("apart.csv", ("one", "other"), [("ledger-post", "invoice-approve")])
    words = ["access.csv", "--separated", "apart.csv", "--max-permissions-per-role", "4", "--out", "out", "-q"]
    run(capsys, *words)
    roles: dict[str, set[str]] = {}
    for number, _, _, permission in read("out/roles.csv")[1:]:
        roles.setdefault(number, set()).add(permission)
    assert roles and all(len(role) <= 4 for role in roles.values())
    assert not any({"ledger-post", "invoice-approve"} <= role for role in roles.values())


def test_users_without_anything_are_told(here, capsys):
    written("idle.csv", ("user", "a", "b", "c"), [("ann", 1, 1, 0), ("bob", 0, 0, 0), ("eve", 1, 1, 0)])
    said = run(capsys, "idle.csv", "--out", "out").err
    assert "1 user has no permission" in said and "1 permission is held by nobody" in said
