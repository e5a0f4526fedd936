"""Text: what turns texts into tables of words for models of topics and for search.

`table` is :class:`unweave.TextTable`, which counts words by :mod:`unweave.data.text`; `vectorizers` lets any model take
texts in place of tables, by `TextTable` or by a vectoriser of another library.
"""
