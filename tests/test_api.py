"""The public surface: what is written in docs/api.txt is what there is."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import unweave
from unweave.registry import ESTIMATORS, OTHERS


def _tool(root: Path):
    spec = importlib.util.spec_from_file_location("unweave_tools_api", root / "tools" / "api.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_written_api_is_the_real_one(root):
    written = (root / "docs" / "api.txt").read_text(encoding="utf-8")
    assert _tool(root).text() == written, "the public API changed: run `make api` and look at the difference"


@pytest.mark.parametrize("name", unweave.__all__)
def test_every_public_name_loads_and_says_what_it_is(name):
    thing = getattr(unweave, name)
    assert name in dir(unweave)
    if name != "__version__":
        assert thing.__doc__ and len(thing.__doc__) > 20


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        unweave.Nothing  # noqa: B018


def test_the_registry_is_the_list_of_names():
    assert {*ESTIMATORS, *OTHERS, "__version__"} == set(unweave.__all__)
    assert len(unweave.__all__) == len(set(unweave.__all__))
