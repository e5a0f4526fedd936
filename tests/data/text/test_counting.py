"""Cutting, numbering and counting, against the slow way."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.reference import words as slow
from unweave.data.text import (
    Batch,
    Counter,
    Cutting,
    FixedLexicon,
    Lexicon,
    TermCounts,
    count_query,
    counting,
    documents,
    documents_of,
    lay_out,
    renamed,
)
from unweave.data.text import words as tables
from unweave.kernels.words import fill_slots

letters = st.text(
    st.one_of(st.sampled_from("ab AB_-'\n.é\u0301ßΣσİ字がक्ष\u200d\ud800😀1²٣"), st.characters()), max_size=60
)


def counted(texts, ngrams=(1, 1), stop=frozenset(), **how):
    """One dict of counts per document."""
    counter = Counter(Cutting(**how), Lexicon(stop, None), ngrams)
    found = []
    for rows in counter.count(documents_of(texts, "text")):
        names = counter.texts(rows.names)
        for a, b in zip(rows.indptr, rows.indptr[1:]):
            pairs = zip(rows.terms[a:b], rows.counts[a:b])
            found.append({names[term]: int(count) for term, count in pairs})
    return found


@given(st.lists(letters, max_size=6), st.booleans(), st.integers(1, 3), st.sampled_from(["split", "keep"]))
@example(["ΣΊΣΥΦΟΣ Σ", "İstanbul ISTANBUL"], True, 1, "split")
@example(["e\u0301te\u0301 été क्षेत्र"], True, 1, "keep")
def test_words_of_any_text_are_those_of_the_slow_way(texts, lowercase, least, marks):
    how = {"lowercase": lowercase, "least": least, "marks": marks}
    assert counted(texts, **how) == slow.counts(texts, **how)


@given(st.lists(st.text("ab c.", max_size=40), max_size=5), st.integers(1, 3), st.integers(0, 2))
def test_runs_of_words_skip_stop_words(texts, low, more):
    stop = frozenset(["ab"])
    found = counted(texts, (low, low + more), stop, least=1)
    assert found == slow.counts(texts, low, low + more, stop, least=1)


def test_bytes_and_texts_are_the_same():
    assert counted(["Zwölf Boxkämpfer".encode(), b"plain ASCII"]) == counted(["Zwölf Boxkämpfer", "plain ASCII"])


def test_tables_grow_and_never_take_one_word_for_another(monkeypatch, rng):
    monkeypatch.setattr(tables, "_FIRST_WORDS", 4)
    monkeypatch.setattr(tables, "_FIRST_RUNS", 4)
    monkeypatch.setattr(tables, "_FIRST", 4)
    monkeypatch.setattr(documents, "BATCH", 200)
    names = [f"w{i}" for i in range(300)]
    texts = [" ".join(rng.choice(names, size=50)) for _ in range(40)]
    assert counted(texts) == slow.counts(texts)
    assert counted(texts, (1, 2)) == slow.counts(texts, 1, 2)


def test_a_table_with_one_hash_for_all_still_tells_words_apart():
    part = tables.split(np.frombuffer(bytearray(b"ab cd ef ab"), np.uint8), np.array([0, 11]), Cutting())
    part.hashes[:] = 7
    table = tables.WordTable()
    assert table.merge(part).tolist() == [0, 1, 2]
    assert table.merge(part).tolist() == [0, 1, 2]
    assert table.texts(0) == ["ab", "cd", "ef"]


def test_fill_slots_puts_every_entry_where_probing_finds_it():
    hashes, slots = np.array([5, 5, 6, 13], np.uint64), np.zeros(8, np.int32)
    fill_slots(hashes, 4, slots)
    assert slots.tolist() == [4, 0, 0, 0, 0, 1, 2, 3]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_threads_do_not_matter(two_threads, monkeypatch, rng, ngrams):
    monkeypatch.setattr(documents, "BATCH", 500)
    names = np.array([f"wört{i}" for i in range(200)])
    texts = [" ".join(names[rng.zipf(1.5, 30) % 200]) for _ in range(200)]

    def numbers():
        counter = Counter(Cutting(), Lexicon(frozenset(), None), ngrams)
        rows = list(counter.count(documents_of(texts, "text")))
        return counter.texts(range(counter.count_of_terms)), [(r.names.tolist(), r.terms.tolist()) for r in rows]

    one, two = two_threads(numbers)
    assert one == two and len(one[1]) > 10


@given(
    st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 9), max_size=6), max_size=5), st.permutations(range(6))
)
def test_rows_are_laid_out_by_columns(rows, permuted):
    columns = np.array([column if column < 4 else -1 for column in permuted], np.int32)
    for dtype in ("float32", "float64"):
        X = lay_out(renamed([_rows([row]) for row in rows], columns), 4, dtype)
        assert X.dtype == dtype and X.shape == (len(rows), 4)
        X.check_format(full_check=True)
        expected = slow.sorted_rows([list(row.items()) for row in rows], columns.tolist())
        found = [list(zip(X.indices[a:b], X.data[a:b])) for a, b in zip(X.indptr, X.indptr[1:])]
        assert found == expected


def _rows(rows):
    """Counts whose terms are numbered by themselves."""
    terms = np.array([term for row in rows for term in row], np.int32)
    names = np.arange(6, dtype=np.int32)
    counts = np.array([n for row in rows for n in row.values()], np.int32)
    indptr = np.cumsum([0] + [len(row) for row in rows])
    documents, totals = np.bincount(terms, minlength=6), np.bincount(terms, counts, minlength=6)
    return TermCounts(terms, counts, indptr, names, documents.astype(np.int32), totals.astype(np.int32))


def test_a_large_batch_makes_a_wave_of_its_own(monkeypatch):
    monkeypatch.setattr(counting, "BATCH", 10)
    batches = [Batch(["x"], size=n) for n in (12, 30, 13)]
    for most, expected in {2: [2, 1], 3: [2, 1], 1: [1, 1, 1], 9: [3]}.items():
        assert [len(wave) for wave in counting._waves(batches, most)] == expected


@given(st.lists(letters, min_size=1, max_size=6), st.booleans(), st.sampled_from(["split", "keep"]))
def test_a_query_is_counted_as_many_documents_are(texts, lowercase, marks):
    cutting = Cutting(lowercase=lowercase, marks=marks, least=1)
    words = {"a": 0, "ab": 1, "é": 2, "字が": 3, "b": 4}
    lexicon = FixedLexicon(frozenset(["b"]), None, words)
    one = count_query(Batch(texts), cutting, lexicon, "float64")
    many = lay_out(list(Counter(cutting, lexicon, (1, 1)).count(documents_of(texts, "text"))), 5, "float64")
    one.check_format(full_check=True)
    assert one.shape == many.shape and (one != many).nnz == 0 and one.indptr.dtype == many.indptr.dtype


@given(st.lists(letters, max_size=6), st.booleans())
def test_words_of_letters_alone(texts, lowercase):
    assert counted(texts, lowercase=lowercase, digits=False) == slow.counts(texts, lowercase=lowercase, digits=False)


def test_a_long_line_without_a_blank_is_one_word():
    long = "x" * 10_000_000
    assert counted([long, "x y"], least=1) == [{long: 1}, {"x": 1, "y": 1}]


def test_runs_go_over_the_ends_of_sentences_but_not_of_documents():
    assert counted(["One two. Three", "four"], (2, 2)) == [{"one two": 1, "two three": 1}, {}]
