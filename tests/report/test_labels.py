"""Names that are too long are cut so that a reader still tells them apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unweave.report.labels import WIDEST, middle_cut, shortened, told_apart
from unweave.report.markup import plain

TEXT = st.text(st.characters(), max_size=80)


@given(st.lists(TEXT, max_size=12), st.integers(12, 40))
def test_labels_are_short_and_never_alike(names, longest):
    cut = shortened(names, longest)
    assert set(cut) == {plain(name) or "(no name)" for name in names}
    assert len(set(cut.values())) == len(cut) and all(len(short) <= longest for short in cut.values())


@given(st.lists(TEXT, max_size=12))
def test_equal_names_are_numbered(names):
    out = told_apart(names)
    assert len(set(out)) == len(out) == len(names) and all(out)


def test_the_beginning_and_the_end_of_a_name_stay():
    short = middle_cut("standard error of the mean radius (worst)", WIDEST)
    assert short.startswith("standard erro") and short.endswith("us (worst)") and "…" in short
    names = [f"a very long name that all of these columns share, number {i} of ten" for i in range(10)]
    cut = shortened(names)
    assert all(str(i) in cut[name] for i, name in enumerate(names))
    assert shortened(["alcohol", "hue"]) == {"alcohol": "alcohol", "hue": "hue"}
