"""``unweave embed``, ``similar`` and ``analogy``: from a corpus to words and a map, and what they refuse."""

from __future__ import annotations

import gzip
import json
import re
import resource

import numpy as np
import pytest

import unweave as library
from unweave.cli.main import main
from unweave.cli.verbs.embed import MODELS
from unweave.embed import Vectors

GROUPS = [[f"{kind}{letter}" for letter in "abcdefgh"] for kind in ("river", "bread", "violin")]


def sentences(n=150):
    rng = np.random.default_rng(0)
    return [" ".join(["the", *rng.choice(GROUPS[i % 3], 10)]) for i in range(n)]


@pytest.fixture
def talk(tmp_path, monkeypatch):
    """A corpus in a folder, which is the one we are in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "talk.txt"
    path.write_text("\n".join(sentences()) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def run(capsys):
    """Run the command in this process: what it said on stdout and on stderr."""

    def call(*words, expect: int = 0):
        assert main([str(word) for word in words]) == expect
        return capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def royal(tmp_path_factory):
    """A file of vectors as GloVe writes them."""
    table = np.array([[2, 0, 0], [2, 1, 0], [0.5, 0, 0.1], [0.5, 1, 0.1], [0, 0, 2]])
    path = tmp_path_factory.mktemp("royal") / "glove.txt"
    return Vectors(["king", "queen", "man", "woman", "apple"], table).write(path, "glove")


def kind(word: str) -> str:
    return word[:-1]


@pytest.mark.slow
def test_a_shell_gets_vectors_a_map_and_a_quick_answer(unweave, talk):
    unweave("embed", "talk.txt", "-k", "8", "--out", "warm")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = unweave("embed", "talk.txt", "-k", "8")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # kernels are compiled: three seconds of a processor (eight where they are not)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3
    assert said.stdout == "" and "25 words as vectors of 8 numbers" in said.stderr
    near = unweave("similar", "talk-embed", "breada", "-n", "3").stdout.splitlines()
    assert len(near) == 3 and all(kind(line.split("\t")[0]) == "bread" for line in near)
    unweave("similar", "talk-embed", "broada", expect=1)


def test_a_file_leaves_vectors_and_a_map(run, talk):
    said = run("embed", "talk.txt", "-k", "8")
    assert said.out == "" and "1,650 words, 25 different ones" in said.err and "words/s" in said.err
    assert "25 words as vectors of 8 numbers" in said.err and "ask: unweave similar" in said.err
    folder = talk.parent / "talk-embed"
    assert {path.name for path in folder.iterdir()} == {"vectors.unweave", "words.html"}
    vectors = Vectors.read(folder / "vectors.unweave")
    assert vectors.symbols[0] == "the" and vectors.counts[0] == 150 and vectors.n_components == 8
    assert "talk.txt" in (folder / "words.html").read_text(encoding="utf-8")
    # nothing is written over
    assert "talk-embed-2/" in run("embed", "talk.txt", "-k", "8").err
    run("embed", "talk.txt", "--out", "talk-embed", expect=1)


def test_json_says_the_same(run, talk):
    told = json.loads(run("embed", "talk.txt", "-k", "8", "--out", "out", "--json").out)
    assert told["verb"] == "embed" and told["words"] == 1650 and told["vocabulary"] == 25
    assert told["model"] == "PMIEmbedding" and told["components"] == 8 and told["words_per_second"] > 0
    assert told["files"] == ["vectors.unweave", "words.html"] and "the" not in told["examples"]
    for word, near in told["examples"].items():
        assert kind(near[0][0]) == kind(word)
    found = json.loads(run("similar", "out", "rivera", "--json").out)["found"]
    assert [word for word, _ in found[:7]] == [word for word, _ in Vectors.read(
        talk.parent / "out" / "vectors.unweave").most_similar("rivera", 7)]  # fmt: skip


@pytest.mark.parametrize("model", ["skip-gram", "cbow", "glove", "pmi"])
def test_every_model(run, talk, model):
    told = json.loads(
        run("embed", "talk.txt", "-k", "6", "--model", model, "--window", "3", "--epochs", "20", "--json").out
    )
    assert told["components"] == 6 and told["model"] == MODELS[model]


def test_the_same_call_gives_the_same_file(run, talk):
    for out in ("one", "two"):
        run("embed", "talk.txt", "-k", "5", "--model", "skip-gram", "--out", out)
    one, two = ((talk.parent / out / "vectors.unweave").read_bytes() for out in ("one", "two"))
    assert one == two


@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "glove", "fasttext"])
def test_formats_of_others(run, talk, format):
    run("embed", "talk.txt", "-k", "5", "--format", format, "--out", "out")
    run("embed", "talk.txt", "-k", "5", "--out", "own")
    (path,) = (path for path in (talk.parent / "out").iterdir() if path.name.startswith("vectors"))
    found, own = Vectors.read(path), Vectors.read(talk.parent / "own" / "vectors.unweave")
    assert found.symbols == own.symbols and (found.array == own.array).all()
    assert run("similar", path, "rivera").out == run("similar", "own", "rivera").out


def test_folders_packed_files_and_columns_are_the_same_corpus(run, talk):
    lines = sentences()
    (talk.parent / "letters" / "more").mkdir(parents=True)
    (talk.parent / "letters" / "a.txt").write_text("\n".join(lines[:90]) + "\n")
    (talk.parent / "letters" / "more" / "b.txt.gz").write_bytes(gzip.compress("\n".join(lines[90:]).encode()))
    (talk.parent / "talk.txt.gz").write_bytes(gzip.compress(talk.read_bytes()))
    (talk.parent / "reviews.csv").write_text("id,text\n" + "".join(f"{i},{line}\n" for i, line in enumerate(lines)))
    wanted = None
    for i, given in enumerate((["talk.txt"], ["letters"], ["talk.txt.gz"], ["reviews.csv", "--columns", "text"])):
        run("embed", *given, "-k", "4", "--out", f"out{i}")
        found = Vectors.read(talk.parent / f"out{i}" / "vectors.unweave")
        wanted = wanted or found
        assert found.symbols == wanted.symbols and (found.array == wanted.array).all(), given
    said = run("embed", "reviews.csv", "-k", "4", "--out", "told").err
    assert "the texts are those of the column 'text'" in said


def test_words_as_they_are_typed(run, royal):
    said = run("analogy", royal, "Man", "KING", "woman", "-n", "1")
    assert said.out.startswith("queen\t") and "'Man' is there as 'man'" in said.err
    assert run("analogy", royal, "man", "king", "woman", "--method", "mul").out.startswith("queen\t")
    assert run("similar", royal, "king", "woman", "--without", "man", "-n", "1").out.startswith("queen\t")
    assert "did you mean 'queen'?" in run("similar", royal, "quen", expect=1).err
    said = run("similar", royal, "quen", "king", "--unknown", "skip", "-n", "1")
    assert said.out.startswith("man\t") and "'quen' has no vector and is passed over" in said.err
    assert "three words" in run("analogy", royal, "man", "king", expect=1).err


def test_show_and_report_of_vectors_and_of_models(run, talk):
    run("embed", "talk.txt", "-k", "5", "--out", "out")
    said = run("show", "out/vectors.unweave").err
    assert "25 words as vectors of 5 numbers" in said and "nearest words" in said
    told = json.loads(run("show", "out/vectors.unweave", "--json").out)
    assert told["components"] == 5 and told["columns"] == 25 and told["answer"]["examples"]
    (talk.parent / "out" / "words.html").unlink()
    run("report", "out/vectors.unweave")
    assert 'id="map"' in (talk.parent / "out" / "words.html").read_text(encoding="utf-8")
    model = library.CBOW(4, epochs=2, random_state=0).fit(sentences())
    model.save(talk.parent / "model.unweave")
    assert "25 words as vectors of 4 numbers" in run("show", "model.unweave").err
    assert run("similar", "model.unweave", "rivera", "-n", "2").out.count("\n") == 2
    run("report", "model.unweave", "--out", "map.html")
    assert 'id="map"' in (talk.parent / "map.html").read_text(encoding="utf-8")


def test_what_cannot_be_read_is_told_in_one_sentence(run, talk, royal):
    folder = talk.parent
    (folder / "empty.txt").write_bytes(b"")
    (folder / "signs.txt").write_text("... !!\n")
    (folder / "few.txt").write_text("one two three\n")
    (folder / "alone.txt").write_text("one one one\n")
    (folder / "latin.txt").write_bytes("caf\xe9 au lait\n".encode("latin-1") * 9)
    (folder / "reviews.csv").write_text("id,stars\n1,2\n2,3\n")
    (folder / "none").mkdir()
    for words, said in (
        (["embed", "nothing.txt"], "no such file"),
        (["embed", "empty.txt"], "empty"),
        (["embed", "signs.txt"], "no token"),
        (["embed", "few.txt"], "lower --min-count"),
        (["embed", "alone.txt"], "only one symbol"),
        (["embed", "latin.txt"], "line 1.*--encoding"),
        (["embed", "none"], "no text file"),
        (["embed", "reviews.csv"], "--columns NAME"),
        (["embed", "talk.txt", "--model", "bert"], "pmi, skip-gram, cbow, glove"),
        (["embed", "talk.txt", "--format", "doc"], "word2vec-binary"),
        (["embed", "talk.txt", "-k", "99"], "25 symbols"),
        (["similar", "none", "word"], "folder without vectors"),
        (["similar", "talk.txt", "word"], "no file of vectors"),
    ):
        found = run(*words, expect=1).err
        assert re.search(said, found), (words, found)
    run("embed", "latin.txt", "--encoding", "latin-1", "-k", "2")


def test_a_line_of_a_million_words(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (tmp_path / "line.txt").write_text(" ".join(f"w{i}" for i in np.minimum(rng.zipf(1.4, 1_000_000), 800)))
    told = json.loads(run("embed", "line.txt", "-k", "4", "--map", "50", "--json").out)
    assert told["words"] == 1_000_000
