"""The data sets that every computer has."""

import pytest

from unweave.data.installed import docstrings, imports


@pytest.mark.slow
def test_imports_are_a_relation_of_packages_and_modules():
    table = imports()
    assert table.kind == "pairs" and set(table.X.data) == {1.0}
    assert table.X[[table.rows.index("sklearn.linear_model")], :][:, [table.columns.index("numpy")]].nnz == 1
    assert table.X.sum(axis=0).min() >= 3 and table.X.sum(axis=1).min() >= 1


@pytest.mark.slow
def test_docstrings_have_names_and_words():
    names, texts = docstrings(["scipy"], least=40)
    assert len(names) == len(texts) > 500
    assert min(len(text.split()) for text in texts) >= 40
    assert any(name.endswith(".svds") for name in names)
