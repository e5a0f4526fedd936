"""List the models that `unweave compress` can fit: what data each suits, and how it is made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from unweave.cli.options import Settings
from unweave.cli.work import asked_count
from unweave.data.named import NamedTable


@dataclass(frozen=True)
class Way:
    """One model that a file can be compressed by.

    Attributes
    ----------
    name : str
        As it is typed after --model.
    model : str
        The class.
    does : str
        What it is, for the list of names.
    suits : tuple of str
        Kinds of data: "table" (dense), "sparse", "pictures" (a folder, one a row), "picture" (one, in tiles), "sound",
        "tensor".
    given : mapping
        Arguments that make it this model rather than another of its class.
    counts : str
        The argument that -k sets.
    searches : bool
        Whether the model finds that number out where nobody gives it.
    holes : bool
        Whether entries may be missing.
    seeded : bool
        Whether it draws at random.
    usual : int
        How many numbers a row gets where the model cannot find out and nobody says so; atoms of a dictionary.
    tiles, on_tiles : int, mapping
        The same where rows are the tiles of a picture, and further arguments there.
    recode : bool
        Whether codes are those of `transform`, because the fit keeps them in another form.
    signals : bool
        Whether neighbouring columns are alike to it, so that they stay as they are: no column is left out or scaled.
    """

    name: str
    model: str
    does: str
    suits: tuple[str, ...] = ("table", "pictures", "picture")
    given: Mapping[str, Any] = field(default_factory=dict)
    counts: str = "n_components"
    searches: bool = False
    holes: bool = False
    seeded: bool = True
    usual: int = 10
    tiles: int = 8
    on_tiles: Mapping[str, Any] = field(default_factory=dict)
    recode: bool = False
    signals: bool = False

    def arguments(self, settings: Settings, table: NamedTable, k: int | str | None) -> dict[str, Any]:
        """The arguments of the model for a table and a number."""
        more: dict[str, Any] = {"missing": table.missing} if self.holes and table.missing else {}
        more |= {"random_state": settings.seed} if self.seeded else {}
        return {**self.given, self.counts: k, **more}

    def make(self, arguments: Mapping[str, Any]) -> Any:
        """The model, not fitted."""
        from unweave.registry import find

        return find(self.model)(**arguments)

    def written(self, arguments: Mapping[str, Any]) -> str:
        """The model as Python makes it."""
        return f"unweave.{self.model}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


_EVERY = ("table", "sparse", "pictures", "picture")
_BASIS: dict[str, Any] = {"counts": "keep", "seeded": False, "signals": True, "on_tiles": {"per_row": True}}
ATOMS = ("DictionaryLearning",)  # whose number is not that of the numbers of a row, and may be more than these


def _basis(kind: str, does: str) -> Way:
    return Way(kind, "OrthonormalBasis", does, given={"kind": kind}, **_BASIS)


WAYS = (
    Way("pca", "PCA", "axes of most spread", (*_EVERY, "sound"), searches=True, holes=True),
    Way("svd", "TruncatedSVD", "directions of most energy, zeros stay zeros", _EVERY, searches=True, holes=True),
    Way("autoencoder", "LinearAutoencoder", "a linear autoencoder, by gradients"),
    Way("ica", "ICA", "independent sources", (*_EVERY, "sound"), searches=True),
    Way(
        "dictionary",
        "DictionaryLearning",
        "atoms of which each row takes a few",
        _EVERY,
        holes=True,
        tiles=128,
        on_tiles={"n_nonzero": 8},
    ),
    Way("sparse-pca", "SparsePCA", "axes made of few columns", _EVERY, recode=True),
    Way("cp", "CP", "sums of products of one vector a side", ("tensor",), searches=True, holes=True),
    _basis("dct", "cosines"),
    _basis("fourier", "cosines and sines"),
    _basis("haar", "steps"),
)
_WAVELET = re.compile(r"(db|sym|coif)\d+")
_USUAL = {"table": "pca", "sparse": "svd", "pictures": "pca", "picture": "dct", "sound": "ica", "tensor": "cp"}
_CALLED = {
    "table": "a table", "sparse": "a sparse table", "pictures": "a folder of pictures", "picture": "a picture",
    "sound": "sound", "tensor": "a tensor",
}  # fmt: skip


def known() -> list[Way]:
    """The ways whose models there are."""
    from unweave.registry import ESTIMATORS

    return [way for way in WAYS if way.model in ESTIMATORS]


def way_of(name: str, sort: str) -> Way:
    """The way of that name, or the usual one, for data of a sort; an error that names others where it cannot be.

    >>> way_of("", "picture").name, way_of("db4", "picture").given
    ('dct', {'kind': 'db4'})
    >>> way_of("ptca", "table")
    Traceback (most recent call last):
    ...
    ValueError: there is no model 'ptca'; did you mean --model pca?
    """
    found = next((way for way in known() if way.name == (name or _USUAL[sort])), None)
    if found is None and _WAVELET.fullmatch(name):
        found = _basis(name, "a wavelet")
    suiting = ", ".join([way.name for way in known() if sort in way.suits])
    if found is None:
        near = get_close_matches(name.lower(), [way.name for way in known()], n=1, cutoff=0.5)
        what = f"did you mean --model {near[0]}?" if near else f"for {_CALLED[sort]} there are {suiting}, and wavelets"
        raise ValueError(f"there is no model {name!r}; {what}")
    if sort not in found.suits:
        raise ValueError(f"--model {found.name} is not for {_CALLED[sort]}: use one of {suiting}")
    return found


def sort_of(table: NamedTable) -> str:
    """Which sort of data a file holds."""
    if table.kind == "images":
        return "picture" if table.image is None else "pictures"
    if table.kind == "tensor":
        return "tensor"
    if table.rate is not None:
        return "sound"
    return "sparse" if table.sparse else "table"


def most_of(way: Way, ready: NamedTable) -> int:
    """How many numbers a row can have at most."""
    n, m = ready.shape
    return n if way.model in ATOMS else m if way.signals else min(n, m)


def number_of(way: Way, settings: Settings, ready: NamedTable, usual: int, what: str) -> tuple[int | str, list[str]]:
    """How many numbers describe `what`, and a sentence where that was decided here; a model that can finds out."""
    most = most_of(way, ready)
    if settings.k == "auto" and not way.searches:
        raise ValueError(f"--model {way.name} has no rule that finds the number: give -k a number, such as -k {usual}")
    if settings.k or way.searches:
        return asked_count(settings, ready, most), []
    usual = min(usual, most)
    counted = f"{usual} atoms" if way.model in ATOMS else f"{usual} numbers for {what}"
    return usual, [f"{counted} unless you say otherwise: -k {min(2 * usual, most)}"]
