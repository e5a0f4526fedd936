"""Small files of the kinds that people have, written by the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

THEMES = ["cat dog horse sheep goat", "violin piano flute drum cello", "rain snow wind cloud storm"]


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_wine(path: Path) -> Path:
    """The wine table: 178 rows with names, thirteen columns in unlike units."""
    data = load_wine()
    rows = [",".join([f"wine {i}", *(f"{v:g}" for v in row)]) for i, row in enumerate(data.data)]
    return write_lines(path, [",".join(["name", *data.feature_names]), *rows])


def write_holes(path: Path, seed: int = 0) -> Path:
    """A table of rank two with a fifth of its cells empty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 8)) + 5 + 0.1 * rng.normal(size=(60, 8))
    rows = [",".join("" if rng.random() < 0.2 else f"{v:.5g}" for v in row) for row in X]
    return write_lines(path, [",".join(f"c{j}" for j in range(8)), *rows])


def write_people(path: Path, seed: int = 0) -> Path:
    """Numbers, towns and 0/1 that go together, with holes."""
    rng = np.random.default_rng(seed)
    lines = ["age,town,smokes,pulse"]
    for i, h in enumerate(rng.normal(size=80)):
        town = "" if i % 10 == 3 else "Bath" if h > 0 else "York"
        age = "" if i % 10 == 5 else f"{50 - 10 * h + rng.normal():.2f}"
        lines.append(f"{age},{town},{int(h < 0)},{70 - round(5 * h)}")
    return write_lines(path, lines)


def write_ratings(path: Path, times: bool = False, seed: int = 0) -> Path:
    """Ratings of films by people who like two kinds."""
    rng = np.random.default_rng(seed)
    U, V = rng.normal(size=(50, 2)), rng.normal(size=(30, 2))
    lines = ["user,film,rating" + (",timestamp" if times else "")]
    for u in range(50):
        for i in rng.choice(30, 12, replace=False):
            stars = int(np.clip(round(3 + U[u] @ V[i] + 0.2 * rng.normal()), 1, 5))
            lines.append(f"person {u},film {i},{stars}" + (f",{1_000_000_000 + 86400 * u}" if times else ""))
    return write_lines(path, lines)


def write_clicks(path: Path, seed: int = 0) -> Path:
    """Who clicked what: two kinds of people, two kinds of items."""
    rng = np.random.default_rng(seed)
    lines = ["user,item"]
    for u in range(40):
        lines += [f"person {u},thing {i}" for i in rng.choice(np.arange(10) + 10 * (u % 2), 6, replace=False)]
    return write_lines(path, lines)


def write_plays(path: Path, seed: int = 0) -> Path:
    """How often people played songs of two kinds: most a few times, some very often."""
    rng = np.random.default_rng(seed)
    lines = ["user,song,plays"]
    for u in range(40):
        for i in rng.choice(np.arange(10) + 10 * (u % 2), 6, replace=False):
            lines.append(f"person {u},song {i},{1 + int(rng.lognormal(1.5, 1.5))}")
    return write_lines(path, lines)


def write_messages(path: Path, seed: int = 0) -> Path:
    """Messages in a table: an id, a label, the text, and its length."""
    rng = np.random.default_rng(seed)
    lines = ["id,label,text,length"]
    for i in range(90):
        text = " ".join(rng.choice(THEMES[i % 3].split(), 10))
        lines.append(f'm{i:03d},{("farm", "concert", "weather")[i % 3]},"Well, {text}.",{len(text)}')
    return write_lines(path, lines)


def write_pets(path: Path, seed: int = 0) -> Path:
    """A table as people have them: row numbers, categories, amounts, dates, yes and no, with holes."""
    rng = np.random.default_rng(seed)
    lines = ["nr,species,kg,bought,chipped"]
    for i in range(90):
        kind, kg = [("cat", 4.0), ("dog", 25.0), ("mouse", 0.05)][i % 3]
        weight = "" if i % 11 == 1 else f"{kg * (1 + 0.1 * rng.normal()):.3f}"
        species = "" if i % 17 == 2 else kind
        lines.append(f"{i + 1},{species},{weight},2024-{1 + i % 12:02d}-{1 + i % 28:02d},{('yes', 'no')[i % 2]}")
    return write_lines(path, lines)


def write_titles(path: Path) -> Path:
    """Titles of the films of :func:`write_ratings`; two films have the same."""
    rows = [f'film {i},"Story {max(i, 1)}, The",drama' for i in range(30)]
    return write_lines(path, ["movieId,title,genre", *rows])


def write_notes(path: Path, seed: int = 0) -> Path:
    """Sixty lines of three themes."""
    rng = np.random.default_rng(seed)
    return write_lines(path, [" ".join(rng.choice(THEMES[i % 3].split(), 12)) for i in range(60)])
