"""Texts in blocks: the same words and the same counts as of all of them together, to the entry."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave import LDA, LSA, PLSA, TextBlocks, TextTable
from unweave.scale.visits import Here, visiting

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def texts(n: int = 60) -> list[str]:
    rng = np.random.default_rng(0)
    words = [["sea", "ship", "sail", "Wave", "shore"], ["loaf", "oven", "flour", "Yeast", "crust"]]
    mixed = [[words[i % 2][j] for j in rng.integers(0, 5, 12)] + ["the", "and"] for i in range(n)]
    return [" ".join(document) for document in mixed]


def cut(X: list) -> list:
    return [X[:1], [], X[1:20], X[20:]]


OPTIONS = [
    {},
    {"stop_words": "english", "min_df": 3, "max_df": 28},
    {"ngrams": (1, 2), "max_words": 12},
    {"weights": "tf-idf", "min_count": 2},
    {"weights": "frequency", "smoothing": 0.1},
    {"vocabulary": ["ship", "oven", "nothing"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_words_and_counts_are_those_of_all_texts_together(options):
    X = texts()
    whole, found = TextTable(**options).fit(X), TextTable(**options).fit(TextBlocks(cut(X)))
    assert found.words_ == whole.words_
    assert found.n_documents_ == whole.n_documents_
    for name in ("document_counts_", "word_counts_", "idf_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
        assert getattr(found, name).dtype == getattr(whole, name).dtype
    tables, wanted = found.transform(TextBlocks(cut(X))), whole.transform(X)
    assert [len(block) for block in cut(X)] == [table.shape[0] for table in tables]
    stacked = sp.vstack(list(tables)).toarray() if sp.issparse(wanted) else np.concatenate(list(tables))
    np.testing.assert_array_equal(stacked, wanted.toarray() if sp.issparse(wanted) else wanted)
    again = TextTable(**options).fit_transform(TextBlocks(cut(X)))
    np.testing.assert_array_equal(again[3].shape, tables[3].shape)


def test_words_in_lists_and_lines_of_files_come_in_blocks_too(tmp_path):
    X = texts()
    tokens = [text.split() for text in X]
    one, other = TextTable().fit(tokens), TextTable().fit(TextBlocks(cut(tokens)))
    assert one.words_ == other.words_
    np.testing.assert_array_equal(one.word_counts_, other.word_counts_)
    paths = []
    for i, block in enumerate((X[:9], X[9:])):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_text("\n".join(block), encoding="utf-8")
    lines = TextTable(input="lines").fit(TextBlocks(paths))
    assert lines.words_ == TextTable().fit(X).words_
    tables = lines.transform(TextBlocks(paths))
    np.testing.assert_array_equal(sp.vstack(list(tables)).toarray(), TextTable().fit_transform(X).toarray())
    np.testing.assert_array_equal(tables.fetch(1)().toarray(), tables[1].toarray())


def test_topics_are_learned_from_blocks_of_texts():
    X = texts()
    blocks = TextBlocks(cut(X))
    model = LDA(2, vectorizer=TextTable(stop_words="english"), random_state=0).fit(blocks)
    assert sorted(sorted(words) for words in model.top_words(5)) == [
        ["crust", "flour", "loaf", "oven", "yeast"],
        ["sail", "sea", "ship", "shore", "wave"],
    ]
    np.testing.assert_allclose(model.transform(blocks), model.transform(X), rtol=1e-6, atol=1e-9)
    assert model.score(blocks) == pytest.approx(model.score(X), rel=1e-6)
    table = TextTable(stop_words="english").fit(blocks)
    same = LDA(2, random_state=0).fit(table.transform(blocks))
    np.testing.assert_array_equal(same.topics_, model.topics_)
    assert list(same.feature_names_in_) == table.words_


def test_a_space_of_meaning_is_made_of_blocks_of_texts():
    X = texts()
    whole, found = (LSA(2, vectorizer=TextTable(weights="tf-idf")).fit(given) for given in (X, TextBlocks(cut(X))))
    np.testing.assert_allclose(np.abs(found.components_), np.abs(whole.components_), atol=1e-8)
    assert found.nearest_terms("ship", 2)[0].tolist() == whole.nearest_terms("ship", 2)[0].tolist()
    found.add_documents(TextBlocks(cut(X)))
    assert set(found.search("ship sea", 5)[0] % 2) == {0}


def test_a_vectoriser_of_another_library_takes_blocks():
    from sklearn.feature_extraction.text import CountVectorizer

    X = texts()
    blocks = TextBlocks([X[:9], X[9:]])
    model = LDA(2, vectorizer=CountVectorizer(), random_state=0).fit(blocks)
    assert list(model.feature_names_in_) == sorted(CountVectorizer().fit(X).vocabulary_)


def test_a_model_that_cannot_says_so():
    with pytest.raises(ValueError, match="PLSA needs X as one table in memory, not as a sequence of blocks: stack"):
        PLSA(2, vectorizer=TextTable()).fit(TextBlocks(cut(texts())))
    with pytest.raises(ValueError, match=r"X holds texts: give LDA\(vectorizer="):
        LDA(2).fit(TextBlocks(cut(texts())))


def test_what_are_no_blocks_is_told():
    with pytest.raises(TypeError, match="blocks must be a list of blocks of documents"):
        TextBlocks("a text")
    with pytest.raises(TypeError, match="give a list of lists of texts"):
        TextBlocks(iter([["a text"]]))
    with pytest.raises(ValueError, match="blocks is empty"):
        TextBlocks([])
    with pytest.raises(ValueError, match=r"block 0 of X could not be|one str was given where several"):
        TextTable().fit(TextBlocks(["a text", "another"]))
    with pytest.raises(ValueError, match="there is no document"):
        TextTable().fit(TextBlocks([[], []]))
    with pytest.raises(ValueError, match="no word"):
        TextTable().fit(TextBlocks([["."], ["a"]]))


class Made:
    """Blocks of texts that are made when they are asked for, and counted."""

    def __init__(self, many: int):
        self.many, self.asked = many, 0

    def __len__(self) -> int:
        return self.many

    def __getitem__(self, i):
        if i >= self.many:
            raise IndexError(i)
        self.asked += 1
        rng = np.random.default_rng(i)
        return [" ".join(f"word{j}" for j in row) for row in rng.integers(0, 500, (400, 60))]


def test_one_visit_learns_the_words_and_memory_holds_one_block():
    peaks = []
    for many in (3, 30):
        source = Made(many)
        with visiting(visits := Here()):
            tracemalloc.start()
            table = TextTable().fit(TextBlocks(source))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert visits.passes == 1 and source.asked == many
    assert peaks[1] < 1.5 * peaks[0]
    tables = table.transform(TextBlocks(source := Made(3)))
    first = [tables[i] for i in range(3)]
    assert source.asked == 3
    for i in range(3):
        np.testing.assert_array_equal(tables[i].toarray(), first[i].toarray())
    assert source.asked == 3, "what was counted is read again"
    folder = tables._scratch.path
    assert folder.exists()
    del tables
    assert not folder.exists()


def test_a_saved_model_knows_the_words(tmp_path):
    model = LDA(2, vectorizer=TextTable(), random_state=0).fit(TextBlocks(cut(texts())))
    loaded = unweave.load(model.save(tmp_path / "topics.unweave"))
    np.testing.assert_array_equal(loaded.transform(texts()), model.transform(texts()))
