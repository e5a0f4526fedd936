"""The vectoriser: against scikit-learn's, and with what users do wrong."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import unweave
from unweave.data import container
from unweave.data.named import NamedTable
from unweave.data.readers.source import ReadError
from unweave.data.text import counting, documents
from unweave.explain.text.table import TextTable

TEXTS = [
    "The cat sat on the mat. The CAT!",
    "",
    "Été à Nîmes – naïve Straße, ΟΔΥΣΣΕΎΣ 東京タワー x",
    "A dog and a cat_dog; don't 42 4",
    "New York, new york",
]


def same(ours: TextTable, theirs: CountVectorizer, texts: list[str], later: list[str]) -> None:
    X, Y = ours.fit_transform(texts), theirs.fit_transform(texts)
    assert ours.words_ == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(X.toarray(), Y.toarray())
    np.testing.assert_array_equal(ours.transform(later).toarray(), theirs.transform(later).toarray())
    assert (ours.fit(texts).transform(texts) != X).nnz == 0
    X.check_format(full_check=True)
    assert X.has_canonical_format and sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape).has_canonical_format


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("lowercase", [True, False])
def test_counts_are_those_of_scikit_learn(ngrams, lowercase):
    ours, theirs = (
        TextTable(ngrams=ngrams, lowercase=lowercase),
        CountVectorizer(ngram_range=ngrams, lowercase=lowercase),
    )
    same(ours, theirs, TEXTS, ["the cat is NEW york", "unseen words alone", ""])


def test_limits_and_stop_words_are_those_of_scikit_learn(rng, monkeypatch):
    monkeypatch.setattr(documents, "BATCH", 1000)
    names = np.array([f"w{i}é" if i % 3 else f"w{i}" for i in range(300)])
    texts = [" ".join(names[rng.zipf(1.3, 40) % 300]) for _ in range(150)]
    stop = ["w1é", "w5é"]
    for limits in ({"min_df": 5}, {"min_df": 0.02, "max_df": 0.3}, {"max_df": 60}):
        same(TextTable(stop_words=stop, **limits), CountVectorizer(stop_words=stop, **limits), texts, texts[::-1])
    same(
        TextTable(vocabulary=["w9", "w1é", "nowhere"]),
        CountVectorizer(vocabulary=["w9", "w1é", "nowhere"]),
        texts,
        [""],
    )


words = st.text(st.one_of(st.sampled_from("ab AB éÉ"), st.characters(exclude_categories=["Cs"])), max_size=30)


@given(st.lists(words, min_size=1, max_size=5), words)
def test_any_text_is_counted_as_scikit_learn_does(texts, later):
    texts = ["a word", *texts]
    same(TextTable(), CountVectorizer(), texts, [later])


def test_threads_do_not_matter(two_threads, monkeypatch, rng):
    monkeypatch.setattr(documents, "BATCH", 300)
    names = np.array([f"wört{i}" for i in range(100)])
    texts = [" ".join(names[rng.integers(100, size=20)]) for _ in range(100)]
    one, two = two_threads(lambda: TextTable(ngrams=(1, 2), weights="tf-idf").fit_transform(texts))
    for part in ("data", "indices", "indptr"):
        assert getattr(one, part).tobytes() == getattr(two, part).tobytes()


def test_an_iterator_is_read_once_and_lazily(monkeypatch):
    monkeypatch.setattr(documents, "BATCH", 10)
    monkeypatch.setattr(counting, "get_num_threads", lambda: 1)
    read = 0

    def stream():
        nonlocal read
        for i in range(1000):
            read += 1
            yield "some words here" if i < 5 else None

    with pytest.raises(TypeError, match="document 5 is None"):
        TextTable().fit(stream())
    assert read == 6
    assert TextTable().fit_transform(itertools.repeat("a word", 7)).shape == (7, 1)


def test_frequencies_smoothing_and_idf():
    texts = ["cat cat dog", "dog", "", "dog bird"]
    f = TextTable(weights="frequency").fit_transform(texts).toarray()  # bird, cat, dog
    np.testing.assert_allclose(f, [[0, 2 / 3, 1 / 3], [0, 0, 1], [0, 0, 0], [0.5, 0, 0.5]])
    smooth = TextTable(weights="frequency", smoothing=0.1).fit_transform(texts)
    np.testing.assert_allclose(smooth.sum(axis=1), 1)
    np.testing.assert_allclose(smooth[1], [0.1 / 3, 0.1 / 3, 0.9 + 0.1 / 3])
    for idf, expected in {"one": [1, 1, 1], "log": np.log([4, 4, 4 / 3]), "log1p": np.log([5, 5, 7 / 3])}.items():
        table = TextTable(weights="tf-idf", tf="frequency", idf=idf, norm=None).fit(texts)
        np.testing.assert_allclose(table.idf_, expected)
        np.testing.assert_allclose(table.transform(texts).toarray(), f * expected)
        np.testing.assert_allclose(table.transform(["cat unseen"]).toarray(), [[0, table.idf_[1], 0]])


def test_tf_idf_is_logarithmic_in_rows_of_length_one():
    texts = ["cat cat dog emu", "dog", "", "dog bird"]
    table = TextTable(weights="tf-idf").fit(texts)
    rows = TextTable(weights="tf-idf", norm=None).fit_transform(texts).toarray()
    np.testing.assert_allclose(rows[0], [0, (1 + np.log(2)) * np.log(4), np.log(4 / 3), np.log(4)])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(table.transform(texts).toarray(), rows / np.where(lengths > 0, lengths, 1))
    smooth = TextTable(weights="tf-idf", smoothing=0.1).fit_transform(texts)
    np.testing.assert_allclose(np.linalg.norm(smooth, axis=1), 1)
    # a document said twice points the same way: only the ratio of its words counts
    twice = TextTable(weights="tf-idf", tf="frequency").fit(texts).transform(["cat dog dog", "cat dog dog " * 2])
    np.testing.assert_allclose(*twice.toarray())


@given(st.lists(st.text("ab cd", max_size=20), min_size=1, max_size=6), st.floats(0.01, 1))
def test_smoothed_rows_are_distributions(texts, smoothing):
    X = TextTable(weights="frequency", smoothing=smoothing).fit_transform(["ab", *texts])
    assert (X > 0).all()
    np.testing.assert_allclose(X.sum(axis=1), 1, rtol=1e-9)


def test_words_in_lists_are_counted_as_they_are():
    tokens = [["New York", "is", "x", "Is"], [], ["x", "x", "the"]]
    for form in (list, tuple, pd.Series, lambda t: [tuple(d) for d in t]):
        table = TextTable(stop_words="english")
        X = table.fit_transform(form(tokens))
        assert table.words_ == ["New York", "x"]
        np.testing.assert_array_equal(X.toarray(), [[1, 1], [0, 0], [0, 2]])
        np.testing.assert_array_equal(table.transform(form([["x", "unseen"]])).toarray(), [[0, 1]])
    stems = TextTable(stemmer="English", min_df=1, max_words=1).fit([["cats", "cat"], ["dog"]])
    assert stems.words_ == ["cat"]
    with pytest.raises(TypeError, match="document 1 is 'a text', not a list of words"):
        TextTable().fit([["a"], "a text"])
    with pytest.raises(ValueError, match=r"lists are counted as they are; use ngrams=\(1, 1\)"):
        TextTable(ngrams=(1, 2)).fit(tokens)


def test_a_language_in_any_case():
    assert TextTable(stop_words="English").fit(["The cat"]).words_ == ["cat"]
    assert TextTable(stop_words=["ENGLISH", "German"]).fit(["the und cat"]).words_ == ["cat"]


def test_dtype(dtype):
    for weights in ("counts", "frequency", "tf-idf"):
        table = TextTable(weights=weights, dtype=np.dtype(dtype).name)
        assert table.fit_transform(TEXTS).dtype == dtype and table.transform(TEXTS).dtype == dtype


def test_what_was_learned():
    table = TextTable().fit(["cat cat dog", "dog"])
    assert table.vocabulary_ == {"cat": 0, "dog": 1} and table.n_documents_ == 2
    assert table.document_counts_.tolist() == [1, 2] and table.word_counts_.tolist() == [2, 2]
    assert table.get_feature_names_out().tolist() == ["cat", "dog"]
    rows = table.inverse_transform(table.transform(["dog", "", "cat dog cat"]))
    assert [row.tolist() for row in rows] == [["dog"], [], ["cat", "dog"]]
    assert [row.tolist() for row in table.inverse_transform([[0, 2.0]])] == [["dog"]]
    with pytest.raises(ValueError, match="3 columns, but TextTable has 2 words"):
        table.inverse_transform(np.ones((1, 3)))


def test_languages_and_stems():
    texts = ["The dogs and the cats argued", "Die Hunde und die Katzen", "the dog argues"]
    assert TextTable(stop_words=["english", "german"]).fit(texts).words_ == [
        "argued", "argues", "cats", "dog", "dogs", "hunde", "katzen"
    ]  # fmt: skip
    table = TextTable(stop_words=["english", "german"], stemmer="english", ngrams=(1, 2)).fit(texts)
    assert table.words_ == [
        "argu", "cat", "cat argu", "dog", "dog argu", "dog cat", "hund", "hund katzen", "katzen"
    ]  # fmt: skip
    assert table.transform(["dogs argue"]).sum() == 3  # dog, argu, dog argu


def test_marks_and_scripts():
    hindi = ["क्षेत्र में"]
    assert TextTable(marks="keep").fit(hindi).words_ == sorted(["क्षेत्र", "में"])
    assert "क्षेत्र" not in TextTable(min_length=1).fit(hindi).words_
    assert TextTable(marks="keep").fit(["e\u0301te\u0301", "été"]).words_ == ["été"]
    assert TextTable().fit(["我喜欢 東京タワー"]).words_ == ["我喜欢", "東京タワー"]


def test_files_lines_and_a_folder(tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(text, encoding="utf-8")
    expected = TextTable().fit_transform(TEXTS).toarray()
    paths = sorted(tmp_path.glob("*.txt"))
    for raw in (tmp_path, str(tmp_path), paths, map(str, paths)):
        np.testing.assert_array_equal(TextTable(input="files").fit_transform(raw).toarray(), expected)
    lines = tmp_path / "all.lines"
    lines.write_text("\n".join(TEXTS), encoding="utf-8")
    np.testing.assert_array_equal(TextTable(input="lines").fit_transform(lines).toarray(), expected)
    paths[1].write_bytes(b"broken \xff")
    with pytest.raises(ReadError, match=r"1\.txt, line 1: byte 7 is not utf-8"):
        TextTable(input="files").fit(tmp_path)
    assert "broken" in TextTable(input="files", errors="ignore").fit(tmp_path).words_


def test_series_of_texts():
    expected = TextTable().fit_transform(TEXTS).toarray()
    for series in (pd.Series(TEXTS), polars.Series(TEXTS), np.array(TEXTS), tuple(TEXTS)):
        np.testing.assert_array_equal(TextTable().fit_transform(series).toarray(), expected)
    with pytest.raises(TypeError, match="not of type DataFrame"):
        TextTable().fit(pd.DataFrame({"text": TEXTS}))


def test_a_bag_of_words_that_was_read():
    bag = NamedTable(sp.csr_array([[1.0, 2, 0, 4], [0, 0, 3, 1]]), columns=["Cat", "cats", "dog", "the"], kind="counts")
    table = TextTable(stop_words="english")
    X = table.fit_transform(bag)
    assert table.words_ == ["cat", "cats", "dog"]
    np.testing.assert_array_equal(X.toarray(), [[1, 2, 0], [0, 0, 3]])
    np.testing.assert_array_equal(table.transform(bag).toarray(), X.toarray())
    np.testing.assert_array_equal(table.transform(["cat dog dog"]).toarray(), [[1, 0, 2]])
    stems = TextTable(stemmer="english", min_df=1, max_df=1).fit_transform(bag)
    np.testing.assert_array_equal(stems.toarray(), [[3, 0], [0, 3]])
    with pytest.raises(ValueError, match="no words for its columns"):
        TextTable().fit(NamedTable(bag.X, kind="counts"))
    with pytest.raises(ValueError, match="do not tell their order"):
        TextTable(ngrams=(1, 2)).fit(bag)
    with pytest.raises(ValueError, match="not negative"):
        TextTable().fit(bag.with_(X=-bag.X))


def test_words_reach_the_models():
    texts = ["cats purr meow"] * 10 + ["dogs bark growl"] * 10
    table = TextTable().fit(texts)
    model = unweave.NMF(2, random_state=0).fit(table.as_table(texts))
    assert model.feature_names_in_.tolist() == table.words_
    assert make_pipeline(TextTable(), unweave.NMF(2)).fit_transform(texts).shape == (20, 2)
    assert table.as_table(["cats"], rows=["a"]).rows == ["a"]


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"input": "web"}, ValueError, "input='web'"),
        ({"marks": None}, ValueError, "marks=None"),
        ({"weights": "bm25"}, ValueError, "weights='bm25' is not known; use 'counts', 'frequency' or 'tf-idf'"),
        ({"idf": "smooth"}, ValueError, "idf='smooth'"),
        ({"dtype": "int8"}, ValueError, "dtype='int8'"),
        ({"lowercase": "yes"}, TypeError, "lowercase"),
        ({"min_length": 0}, ValueError, "min_length must be at least 1"),
        ({"min_count": 1.5}, TypeError, "min_count"),
        ({"max_words": 0}, ValueError, "max_words"),
        ({"ngrams": 2}, TypeError, "ngrams"),
        ({"ngrams": (2, 1)}, ValueError, "ngrams must go from fewer"),
        ({"smoothing": 1.5, "weights": "frequency"}, ValueError, "smoothing"),
        ({"smoothing": 0.1}, ValueError, "smoothing is for frequencies"),
        ({"encoding": "klingon"}, ValueError, "encoding='klingon'"),
        ({"stop_words": "klingon"}, ValueError, "stop_words='klingon'"),
        ({"stop_words": ["cat", "dog"]}, ValueError, "stop_words=None"),
        ({"min_df": 3}, ValueError, "lower min_df"),
        ({"min_count": 3}, ValueError, "no word is left of 2"),
        ({"vocabulary": []}, ValueError, "vocabulary is empty"),
    ],
)
def test_bad_parameters(options, error, match):
    with pytest.raises(error, match=match):
        TextTable(**options).fit(["cat dog", "cat"])


@pytest.mark.parametrize("texts", [[], iter([])])
def test_no_documents(texts):
    with pytest.raises(ValueError, match="there is no document"):
        TextTable().fit(texts)


def test_documents_without_words():
    with pytest.raises(ValueError, match="hold no word"):
        TextTable().fit(["", "a ! b"])
    with pytest.raises(ValueError, match="no document has 3 words"):
        TextTable(ngrams=(3, 3)).fit(["two words", "", "and two"])
    table = TextTable(vocabulary=["cat"]).fit([""])
    assert table.transform(["", "dog"]).nnz == 0
    assert table.transform([]).shape == (0, 1)
    with pytest.raises(ValueError, match="give a list of texts"):
        table.transform("cat")


def test_contract():
    table = TextTable(stop_words=["x"], min_df=2)
    assert clone(table).get_params() == table.get_params()
    fitted = TextTable().fit(TEXTS)
    assert (pickle.loads(pickle.dumps(fitted)).transform(TEXTS) != fitted.transform(TEXTS)).nnz == 0


def test_a_query_is_the_same_row_alone_and_among_many():
    for options in ({}, {"stop_words": ["the"], "stemmer": "english"}, {"lowercase": False}, {"weights": "tf-idf"}):
        table = TextTable(**options).fit(TEXTS)
        queries = [*TEXTS, "", "nothing known", TEXTS[0] * 2]
        many = table.transform(queries * 10).toarray()[: len(queries)]
        np.testing.assert_array_equal(np.vstack([table.transform([query]).toarray() for query in queries]), many)


def test_words_that_changed_are_looked_up_anew():
    table = TextTable().fit(["cat dog"])
    assert table.transform(["dog"]).toarray().tolist() == [[0, 1]]
    table.fit(["dog emu"])
    assert table.transform(["dog"]).toarray().tolist() == [[1, 0]]
    assert "_column_of" not in pickle.loads(pickle.dumps(table)).__dict__
    table.vocabulary_["fly"] = 9
    assert "fly" not in table.vocabulary_


def test_saved_and_loaded(tmp_path):
    table = TextTable(weights="tf-idf", stop_words=["the"], ngrams=(1, 2)).fit(TEXTS)
    loaded = unweave.load(table.save(tmp_path / "words.unweave"))
    assert loaded.words_ == table.words_ and loaded.get_params() == table.get_params()
    X, Y = table.transform(TEXTS), loaded.transform(TEXTS)
    assert X.data.tobytes() == Y.data.tobytes() and (X.indices == Y.indices).all()


@pytest.mark.parametrize("within", [False, True], ids=["alone", "in a model"])
def test_a_file_older_than_tf_and_norm_means_what_it_meant(within, tmp_path):
    table = TextTable(weights="tf-idf", tf="frequency", norm=None).fit(TEXTS)
    model = unweave.LSA(2, vectorizer=table).fit(TEXTS) if within else table
    path = model.save(tmp_path / "words.unweave")
    arrays, note = container.read(path)
    parameters = note["parameters"]["vectorizer"]["state"] if within else note["parameters"]
    del parameters["tf"], parameters["norm"]
    container.write(path, arrays, note)
    np.testing.assert_array_equal(_dense(unweave.load(path).transform(TEXTS)), _dense(model.transform(TEXTS)))


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


@pytest.mark.parametrize("options", [{"vocabulary": ["Cat", "dog"]}, {"vocabulary": ["running"], "stemmer": "english"}])
def test_a_vocabulary_that_no_text_can_give(options):
    with pytest.warns(UserWarning, match="no text can give, such as"):
        TextTable(**options).fit(["cat running"])


@pytest.mark.parametrize(
    ("language", "text"), [("dutch", "de kat is u bent"), ("french", "à y kat"), ("english", "s t kat d m o")]
)
def test_short_stop_words(language, text):
    assert TextTable(stop_words=language, min_length=1).fit([text]).words_ == ["kat"]


def test_short_words_of_a_counted_table_are_dropped_too():
    bag = NamedTable(np.array([[2.0, 7.0, 1.0]]), columns=["ab", "cat", "x"], kind="counts")
    assert TextTable(min_length=3).fit(bag).words_ == ["cat"]
    assert TextTable().fit(bag).words_ == ["ab", "cat"]
