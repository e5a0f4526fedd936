"""Files that are damaged, or made to harm: refused with a sentence that names the file, before anything is used."""

from __future__ import annotations

import json
import os
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave
from tests.persist import zoo
from tests.persist.test_round_trip import assert_identical
from unweave import persist
from unweave.data import container


def saved(tmp_path, model=None):
    return persist.save(unweave.PCA(2).fit(zoo.numbers()) if model is None else model, tmp_path / "m.unweave")


def refused(path, match="m.unweave"):
    for call in (persist.load, persist.header, persist.read_extra):
        with pytest.raises(ValueError, match=match) as caught:
            call(path)
        assert isinstance(caught.value, persist.DamagedFileError) and path.name in str(caught.value)
        assert "\n" not in str(caught.value)


def raw(path, header, body=b"", length=None):
    """A file with this header, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + body)
    return path


def entry(shape, begin, end, dtype="F64"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def listing(**entries):
    digests = json.dumps(dict.fromkeys(entries, ""))
    return {"__metadata__": {"unweave": json.dumps({"kind": "model"}), "digests": digests}, **entries}


NOT_OURS = {
    "empty": b"",
    "short": b"\x08\0\0",
    "text": b"name,value\na,1\n" * 50,
    "pickle": pickle.dumps({"a": np.arange(5)}),
    "zip": b"PK\x03\x04" + bytes(200),
    "zeros": bytes(4096),
    "latin": struct.pack("<Q", 10) + b'{"\xe9\xff\xfe": 1}',
    "not a table": struct.pack("<Q", 2) + b"[]",
    "empty table": struct.pack("<Q", 2) + b"{}",
    "longer than the file": struct.pack("<Q", 1 << 40) + b"{}",
    "longest": struct.pack("<Q", (1 << 64) - 1) + b"{}",
    "deep": struct.pack("<Q", 200_006) + b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "long number": struct.pack("<Q", 5006) + b'{"a":' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("name", NOT_OURS)
def test_what_is_not_one_of_our_files(name, tmp_path):
    path = tmp_path / "m.unweave"
    path.write_bytes(NOT_OURS[name])
    refused(path)


def test_a_header_too_long_is_not_read(tmp_path):
    path = tmp_path / "m.unweave"
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", 1 << 33) + b"{")
        file.truncate(1 << 34)  # sparse: 16 GB that take no room
    refused(path, "header claims")


TABLES = {
    "overlap": listing(a=entry([2], 0, 16), b=entry([2], 8, 24)),
    "gap": listing(a=entry([2], 0, 16), b=entry([1], 24, 32)),
    "twice": listing(a=entry([2], 0, 16), b=entry([2], 0, 16)),
    "beyond the end": listing(a=entry([1 << 40], 0, 8 << 40)),
    "shape lies": listing(a=entry([1 << 30, 1 << 30], 0, 32)),
    "zero times huge": listing(a=entry([0, 1 << 61, 1 << 61], 0, 0), b=entry([4], 0, 32)),
    "negative": listing(a=entry([-4], 0, 32)),
    "float shape": listing(a=entry([4.0], 0, 32)),
    "true shape": listing(a=entry([True, 4], 0, 32)),
    "huge rank": listing(a=entry([1] * 100_000 + [4], 0, 32)),
    "backwards": listing(a=entry([4], 32, 0)),
    "unknown type": listing(a=entry([4], 0, 32, "O")),
    "complex": listing(a=entry([4], 0, 32, "C64")),
    "no type": listing(a={"shape": [4], "data_offsets": [0, 32]}),
    "an array is a word": listing(a="array"),
    "three offsets": listing(a={"dtype": "F64", "shape": [4], "data_offsets": [0, 16, 32]}),
    "no digest": {**listing(), "a": entry([4], 0, 32)},
    "metadata is a list": {"__metadata__": []},
    "note is a number": {"__metadata__": {"unweave": 3, "digests": "{}"}},
    "note is deep": {"__metadata__": {"unweave": "[" * 100_000, "digests": "{}"}},
    "note is a list": {"__metadata__": {"unweave": "[]", "digests": "{}"}},
    "more metadata": {"__metadata__": {"unweave": "{}", "digests": "{}", "other": "{}"}},
    "wrong seal": {"__metadata__": {"unweave": "{}", "digests": "{}", "seal": "0" * 32}},
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_arrays_that_lies(name, tmp_path):
    refused(raw(tmp_path / "m.unweave", TABLES[name], bytes(32)), "not a whole file|nested")


def test_a_folder_a_pipe_and_a_missing_file(tmp_path):
    refused(tmp_path, "is a folder")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        refused(tmp_path / "pipe", "pipe")  # and does not wait
    with pytest.raises(FileNotFoundError, match=r"there is no file .*gone\.unweave"):
        persist.load(tmp_path / "gone.unweave")


def test_a_checkpoint_is_not_a_model(tmp_path):
    container.write(tmp_path / "run.ckpt", {"a": np.ones(3)}, {"kind": "checkpoint", "format": 1})
    refused(tmp_path / "run.ckpt", "checkpoint of a fit under way")


def test_vectors_of_words_are_not_a_model_and_the_error_says_how_to_ask_them(tmp_path):
    unweave.Vectors(["a", "b"], np.eye(2)).write(tmp_path / "words.unweave")
    refused(tmp_path / "words.unweave", "vectors of words, not a model: ask it with unweave similar")


# -- files that are whole, sealed, and wrong ------------------------------------------------------------------------


def forge(path, change):
    """The file at `path` with its note and arrays changed, and everything signed anew."""
    arrays, note = container.read(path)
    change(note, arrays)
    container.write(path, arrays, note)
    return path


def attribute(name, value):
    return lambda note, arrays: note["attributes"].update({name: value})


def in_sentence(name, value):
    return lambda note, arrays: note["attributes"]["_sentence"]["state"].update({name: value})


def replaced(array):
    def change(note, arrays):
        name = next(iter(arrays))
        arrays[name] = array
        note["attributes"]["_full_components"] = {"$": "array", "name": name, "shape": list(array.shape)}
        note["attributes"]["components_"] = {"$": "array", "name": name, "shape": list(array.shape)}
        del note["attributes"]["offset_"], note["attributes"]["mean_"]  # parts of the same array

    return change


FORGED = {
    "class of the model is a list": lambda note, arrays: note.update({"class": ["PCA"]}),
    "class of others": lambda note, arrays: note.update({"class": "os.system"}),
    "class is a list": attribute("history_", {"$": "object", "class": ["History"], "number": 0, "state": {}}),
    "part of others": attribute("plan_", {"$": "object", "class": "Popen", "number": 99, "state": {}}),
    "kind of value": attribute("history_", {"$": "eval", "is": "1"}),
    "dunder": attribute("__class__", 3),
    "array that is not there": attribute("components_", {"$": "array", "name": "zz", "shape": [2, 7]}),
    "more than the array has": attribute("components_", {"$": "array", "name": "_full_components", "shape": [9, 7]}),
    "negative place": attribute(
        "components_", {"$": "array", "name": "_full_components", "shape": [2, 7], "at": -5}
    ),
    "no components": lambda note, arrays: note["attributes"].pop("components_"),
    "components are words": attribute("components_", "all of them"),
    "fewer columns": replaced(np.ones((3, 2))),
    "one dimension": replaced(np.ones(7)),
    "whole numbers": replaced(np.ones((3, 7), dtype=np.int64)),
    "not finite": replaced(np.full((3, 7), np.nan)),
    "n_features": attribute("n_features_in_", 10**9),
    "n_features is a word": attribute("n_features_in_", "7"),
    "names": attribute("feature_names_in_", {"$": "objects", "shape": [2], "items": ["a", "b"]}),
    "no problem": attribute("_sentence", None),
    "width": in_sentence("n_components", 10**12),
    "offset": in_sentence("offset", 7),
    "penalty is a loss": in_sentence("codes", {"$": "object", "class": "KL", "number": 77, "state": {}}),
    "no solver": attribute("_left", None),
    "not yet known": attribute("_left", {"$": "same", "as": 12345}),
    "stream": attribute("_stream", {"$": "object", "class": "Stream", "number": 9, "state": {
        "blocks": 1, "cross": {"$": "array", "name": "_full_components", "shape": [1, 2]}, "gram": None}}),
    "labels": attribute("labels_", {"$": "numbers", "array": {"$": "array", "name": "_full_components", "shape": [2]}}),
    "unknown parameter": lambda note, arrays: note["parameters"].update({"n_groups": 3}),
    "attributes are a list": lambda note, arrays: note.update(attributes=[1]),
    "no format": lambda note, arrays: note.pop("format"),
    "format is a word": lambda note, arrays: note.update(format="1"),
    "format of before": lambda note, arrays: note.update(format=0),
    "sparse out of range": lambda note, arrays: (
        arrays.update(i=np.array([0, 10**6]), p=np.array([0, 1, 2]), d=np.ones(2)),
        note["attributes"].update(codes_={"$": "sparse", "format": "csr_array", "shape": [2, 2], **{
            part: {"$": "array", "name": name, "shape": list(arrays[name].shape)}
            for part, name in (("data", "d"), ("indices", "i"), ("indptr", "p"))}})),
    "sparse that falls": lambda note, arrays: (
        arrays.update(i=np.array([0, 1]), p=np.array([0, 10**9, 2]), d=np.ones(2)),
        note["attributes"].update(codes_={"$": "sparse", "format": "csr_array", "shape": [2, 2], **{
            part: {"$": "array", "name": name, "shape": list(arrays[name].shape)}
            for part, name in (("data", "d"), ("indices", "i"), ("indptr", "p"))}})),
    "generator": attribute("spare_", {"$": "generator", "kind": "Generator", "state": {
        "bit_generator": "MT19937", "state": {"key": [0] * 624, "pos": 10**9}}}),
    "generator of others": attribute("spare_", {"$": "generator", "kind": "Generator", "state": {
        "bit_generator": "Generator", "state": {}}}),
    "list twice": attribute("spare_", [{"$": "numbers", "array": {
        "$": "array", "name": "_full_components", "shape": [3, 7]}}] * 2),
    "times": attribute("spare_", {"$": "times", "dtype": "M8[s]", "array": {
        "$": "array", "name": "_full_components", "shape": [3, 7]}}),
}  # fmt: skip


REASONS = {"fewer columns": r"should have the shape \(3, 7\), not \(3, 2\)", "one dimension": "should have the shape",
           "sparse out of range": "indices", "class of others": "not an estimator", "generator": "random generator",
           "not finite": "must be finite", "stream": "the summary cross"}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_whole_file_with_a_lie_in_it(name, tmp_path):
    path = forge(saved(tmp_path), FORGED[name])
    with pytest.raises(persist.DamagedFileError, match=REASONS.get(name, "unweave")) as caught:
        persist.load(path)
    assert path.name in str(caught.value) and "\n" not in str(caught.value)


def places(value, at=()):
    """Where something stands in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*at, key)
        yield from places(item, (*at, key))


WRONG = [None, [], "x", 10**30, {"$": []}]


@pytest.mark.parametrize("kind", ["PCA", "KMeans"])
def test_whatever_stands_in_a_note_is_read_or_refused_with_the_name_of_the_file(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    path = persist.save(getattr(unweave, kind)(2).fit(zoo.numbers()), tmp_path / "m.unweave", extra={"rows": ["a"]})
    arrays, note = container.read(path)
    for *way, last in list(places(note)):
        for value in WRONG:
            forged = json.loads(json.dumps(note))
            holder = forged
            for key in way:
                holder = holder[key]
            holder[last] = value
            container.write(path, arrays, forged)
            for call in (persist.load, persist.header, persist.read_extra):
                try:
                    call(path)
                except persist.DamagedFileError as error:
                    assert path.name in str(error) and "\n" not in str(error)


def test_the_forger_alone_changes_nothing(tmp_path):
    """So that the refusals above are about the lies."""
    model = unweave.PCA(2).fit(zoo.numbers())
    path = forge(saved(tmp_path, model), lambda note, arrays: None)
    assert_identical(persist.load(path), model)


def test_a_newer_format_says_what_is_needed(tmp_path):
    path = forge(saved(tmp_path), lambda note, arrays: note.update(format=7, version="3.4.0"))
    refused(path, r"written by unweave 3\.4\.0 in format 7.*install 3\.4\.0 or newer")


def test_another_version_is_named_when_something_is_amiss(tmp_path):
    path = forge(saved(tmp_path), lambda note, arrays: (note.update(version="9.9"), note["attributes"].pop("_left")))
    with pytest.raises(persist.DamagedFileError, match=r"written by unweave 9\.9, this is"):
        persist.load(path)


def test_a_parameter_that_an_older_file_lacks_has_its_default(tmp_path):
    path = forge(saved(tmp_path), lambda note, arrays: note["parameters"].pop("whiten"))
    assert persist.load(path).whiten is False


def test_large_arrays_are_compared_with_their_digests_when_asked(tmp_path):
    model = unweave.PCA(2).fit(np.random.default_rng(0).random((4, 3)))
    n = 1_200_000
    model.n_features_in_, model._full_components = n, np.ones((3, n))
    model._publish(model._sentence, model._full_components)
    path = saved(tmp_path, model)
    with open(path, "r+b") as file:
        file.seek(-(4 << 20), os.SEEK_END)
        file.write(b"\x01")
    persist.load(path)  # not looked at
    with pytest.raises(persist.DamagedFileError, match="do not match their digest"):
        persist.load(path, check=True)


# -- chance -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small file with a little of everything, its model, and a place to damage it."""
    folder = tmp_path_factory.mktemp("chance")
    model = zoo.in_parts(unweave.KMeans(3, random_state=np.random.default_rng(1)).fit(zoo.numbers()), zoo.numbers())
    path = persist.save(model, folder / "m.unweave", extra={"rows": ["a", "b"], "x": np.arange(4)})
    return path.read_bytes(), model, folder / "damaged.unweave"


@settings(max_examples=300)
@given(data=st.data())
def test_damage_is_found_or_harmless(whole, data):
    content, model, path = whole
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, max(0, len(damaged) - 1)))
        how = data.draw(st.sampled_from(["flip", "set", "cut", "insert", "remove", "repeat"]))
        if how == "flip" and damaged:
            damaged[place] ^= 1 << data.draw(st.integers(0, 7))
        elif how == "set" and damaged:
            damaged[place] = data.draw(st.sampled_from(b'0129{}[]",: \\n\x00\xff'))
        elif how == "cut":
            del damaged[place:]
        elif how == "insert":
            damaged[place:place] = data.draw(st.binary(min_size=1, max_size=9))
        elif how == "remove":
            del damaged[place : place + data.draw(st.integers(1, 64))]
        else:
            damaged[place:place] = damaged[place : place + 100]
    path.write_bytes(damaged)
    try:
        again = persist.load(path)
    except persist.DamagedFileError as error:
        assert path.name in str(error)
    else:
        assert_identical(again, model)
        assert persist.read_extra(path)["x"].tolist() == [0, 1, 2, 3]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 1 << 70) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["$", "is", "items", "class", "state", "number", "array", "name", "shape", "at", "kind"])
            | st.text(max_size=3),
            inner | st.sampled_from(["array", "object", "tuple", "sparse", "History", "_full_components", "same"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(key=st.sampled_from(["_sentence", "_learned", "_left", "components_", "_sums", "n_features_in_", "labels_"]),
       value=json_values)  # fmt: skip
def test_nonsense_in_a_signed_note_is_an_error_or_a_model_that_can_be_asked(whole, key, value):
    content, _, path = whole
    path.write_bytes(content)
    forge(path, attribute(key, value))
    try:
        model = persist.load(path)
    except persist.DamagedFileError:
        return
    try:
        model.transform(zoo.numbers())
        model.partial_fit(zoo.numbers())
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError):
        pass
