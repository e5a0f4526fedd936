"""Models that an earlier version saved still load, and say what they said then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import unweave
from tests.laws.test_every_model import answers
from unweave.registry import small_table

_SAVED = Path(__file__).parent / "saved"
_SAID = json.loads((_SAVED / "answers.json").read_text())


@pytest.mark.parametrize("name", sorted(_SAID))
def test_a_model_saved_before_the_rooms_moved_loads_and_answers(name):
    fitted = unweave.load(_SAVED / f"{name}.unweave")
    assert type(fitted).__name__ == name
    found = answers(fitted, small_table(name, 5, 6).astype(np.float32))
    assert found.keys() == _SAID[name].keys()
    for what, wanted in _SAID[name].items():
        begins = np.asarray(found[what], dtype=float).ravel()[: len(wanted)]
        np.testing.assert_allclose(begins, wanted, rtol=1e-3, atol=1e-4, err_msg=what)


def test_texts_are_counted_as_before():
    fitted = unweave.load(_SAVED / "TextTable.unweave")
    assert fitted.transform(["red whale"]).sum() == 2
