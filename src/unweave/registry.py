"""List every public name of the package once: where it lives, and for estimators how a small one is made and fed.

``unweave.__init__`` loads public names by this table, saved files are read by it, ``unweave warmup`` fits what it says,
and the laws, scikit-learn's checks and ``docs/api.txt`` go through it. A new estimator is one line here and one in the
``__init__`` of its room.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# What a small model is given, of these whatever its class takes.
SMALL: Mapping[str, Any] = {
    "n_components": 3,
    "n_clusters": 3,
    "max_iter": 4,
    "random_state": 0,
    "ridge": 0.5,
    "strength": 0.1,
}

# Packages that only some estimators need, and the extra that installs each.
EXTRAS: Mapping[str, str] = {"torch": "neural"}


@dataclass(frozen=True)
class Entry:
    """One public estimator.

    Attributes
    ----------
    home : str
        The room that its name is imported from.
    table : str
        The kind of table a small one is fitted to: a key of :func:`small_table`.
    small : mapping
        Parameters of a small one that differ from `SMALL`.
    warm : tuple of (parameters, tables)
        What `unweave warmup` fits, so that every kernel is compiled: parameters beyond three components and three
        iterations, and the kinds of tables (see ``cli/warmup.py``), separated by blanks.
    prepares : bool
        Whether it prepares tables for models instead of being one: it learns at a glance, and has no report.
    sequences : bool
        Whether it learns from sequences of symbols (texts are such), not from tables: laws of tables skip it, and those
        of ``tests/embed/test_every_embedding.py`` hold.
    checked : mapping
        Parameters with which scikit-learn's checks are run, whose tables hold any numbers, where the default refuses
        such tables.
    target : {"", "classes", "numbers"}
        What `fit` must be given beside the table; :func:`small_target` makes one. Predictors have laws of their own.
    needs : str
        The package without which it cannot be fitted, "" for none; :func:`lacking` says whether that is there.
    """

    home: str
    table: str = "numbers"
    small: Mapping[str, Any] = field(default_factory=dict)
    warm: tuple[tuple[Mapping[str, Any], str], ...] = ()
    prepares: bool = False
    sequences: bool = False
    checked: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""
    needs: str = ""

    @property
    def explains(self) -> bool:
        """Whether it is a model of a table alone, to which the laws of models apply."""
        return not (self.prepares or self.sequences or self.target or self.needs)


_TWO: Mapping[str, Any] = {"n_components": 2}
_ONES: Mapping[str, Any] = {"binarize": 0.0}

_TEXTS: tuple[tuple[Mapping[str, Any], str], ...] = (({}, "texts"),)

_CODERS: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"strength": 0.1}, "dense sparse nan"),
    ({"strength": 0.1, "method": "coordinate"}, "dense"),
    ({"n_nonzero": 2}, "dense"),
)

ESTIMATORS: dict[str, Entry] = {
    "Factorization": Entry(
        "unweave.factorization",
        warm=(
            ({}, "dense sparse nan"),
            *(({"loss": loss}, "dense nan") for loss in ("huber", "absolute")),
            *(({"loss": loss}, "binary") for loss in ("logistic", "hinge")),
            *(({"codes": c}, "dense nan") for c in ("nonnegative", "simplex", "one-hot", "sparse", "l1-ball")),
        ),
    ),
    "PCA": Entry("unweave.compress", warm=(({}, "dense sparse nan"),)),
    "OrthonormalBasis": Entry("unweave.compress", small={"keep": 3}),
    "TruncatedSVD": Entry("unweave.compress", warm=(({}, "dense sparse"),)),
    "SelectByVariance": Entry("unweave.compress.features", prepares=True),
    "SelectByInformation": Entry("unweave.compress.features", prepares=True),
    "SelectByPath": Entry("unweave.compress.features", prepares=True),
    "SparseCoder": Entry("unweave.compress", warm=_CODERS),
    "DictionaryLearning": Entry(
        "unweave.compress", warm=(({"strength": 0.1}, "dense sparse nan"), ({"n_nonzero": 2}, "dense"))
    ),
    "SparsePCA": Entry("unweave.compress", warm=(({}, "dense sparse"),)),
    "ICA": Entry("unweave.compress", warm=(({}, "dense sparse"),)),
    "LinearAutoencoder": Entry("unweave.compress"),
    "CP": Entry(
        "unweave.compress", table="tensor", warm=(({"factors": "nonnegative"}, "tensor tensor-sparse tensor-nan"),)
    ),
    "NMF": Entry("unweave.explain", warm=(({}, "dense sparse nan"), ({"loss": "kl"}, "counts sparse nan"))),
    "SemiNMF": Entry("unweave.explain", warm=(({}, "dense"),)),
    "ConvexNMF": Entry("unweave.explain", warm=(({}, "dense"),)),
    "OrthogonalNMF": Entry("unweave.explain"),
    "SymmetricNMF": Entry("unweave.explain", table="similarities", warm=(({}, "similar similar-sparse"),)),
    "TextTable": Entry("unweave.explain", table="texts", prepares=True),
    "LSA": Entry("unweave.explain", warm=(({}, "dense sparse"),)),
    "LDA": Entry(
        "unweave.explain",
        table="counts",
        warm=tuple(({"inference": how, "max_iter": 6}, "counts") for how in ("collapsed", "gibbs", "batch", "online")),
    ),
    "PLSA": Entry("unweave.explain", table="counts", warm=(({}, "counts"),)),
    "SimplexTopics": Entry("unweave.explain", table="counts"),
    "BooleanFactorization": Entry(
        "unweave.explain.roles", table="zeros and ones", checked=_ONES, warm=(({}, "binary"),)
    ),
    "RoleMiner": Entry("unweave.explain.roles", table="zeros and ones", checked=_ONES, warm=(({}, "binary"),)),
    "MultiAssignmentClustering": Entry(
        "unweave.explain.roles", table="zeros and ones", small={"n_init": 1}, checked=_ONES
    ),
    "KMeans": Entry("unweave.group", warm=(({}, "dense sparse nan"), ({"coreset": 20}, "dense"))),
    "BFR": Entry("unweave.group", warm=(({}, "dense"),)),
    "CURE": Entry("unweave.group", warm=(({}, "dense"),)),
    "Agglomerative": Entry(
        "unweave.group", warm=tuple(({"linkage": linkage}, "dense") for linkage in ("ward", "single", "average"))
    ),
    "Divisive": Entry("unweave.group", warm=(({}, "dense"),)),
    "SpectralClustering": Entry("unweave.group", warm=(({}, "dense"),)),
    "SoftClustering": Entry("unweave.group", warm=(({}, "dense"),)),
    "GaussianMixture": Entry("unweave.group", warm=((_TWO, "dense sparse nan"),)),
    "BernoulliMixture": Entry("unweave.group", table="zeros and ones", warm=((_TWO, "binary"),)),
    "HiddenMarkov": Entry(
        "unweave.group",
        warm=(
            *(({**_TWO, "covariance_type": shape}, "dense") for shape in ("diag", "full")),
            ({**_TWO, "emission": "discrete"}, "symbols"),
        ),
    ),
    "MatrixCompletion": Entry(
        "unweave.complete",
        warm=(
            ({"ridge": 0.1}, "sparse nan"),
            ({"ridge": 0.1, "solver": "sgd"}, "sparse"),
            ({"solver": "gibbs"}, "sparse"),
        ),
    ),
    "ImplicitALS": Entry(
        "unweave.complete", warm=tuple(({"solver": solver}, "sparse") for solver in ("cholesky", "cg", "subspace"))
    ),
    "EASE": Entry("unweave.complete", warm=(({"ridge": 10.0}, "sparse"),)),
    "SoftImpute": Entry("unweave.complete", warm=(({"strength": 0.1}, "sparse nan"),)),
    "SingularValueThresholding": Entry("unweave.complete"),
    "TableImputer": Entry("unweave.complete", small={"n_components": "auto", "ridge": "auto"}),
    # embed
    "Cooccurrence": Entry("unweave.embed", table="texts", prepares=True),
    "PMIEmbedding": Entry("unweave.embed", table="texts", sequences=True, warm=_TEXTS),
    "LogBilinear": Entry("unweave.embed", table="texts", sequences=True, warm=_TEXTS),
    "GloVe": Entry(
        "unweave.embed", table="texts", sequences=True, warm=(*_TEXTS, ({"solver": "adagrad", "ridge": 0.0}, "texts"))
    ),
    "SkipGram": Entry("unweave.embed", table="texts", sequences=True, small={"epochs": 3}, warm=_TEXTS),
    "CBOW": Entry("unweave.embed", table="texts", sequences=True, small={"epochs": 3}, warm=_TEXTS),
    # predict
    "KernelTable": Entry("unweave.predict", prepares=True),
    "KernelFeatures": Entry("unweave.predict", prepares=True),
    # the objective tells scores to the root of rounding: at a ridge of 1 one of 45 differs in its seventh digit
    "KernelLogistic": Entry("unweave.predict", target="classes", checked={"ridge": 10.0, "tol": 1e-12}),
    "DecisionTree": Entry("unweave.predict", target="classes"),
    "RBFNetwork": Entry("unweave.predict", target="classes", checked={"task": "classes"}),
    "MLP": Entry("unweave.predict", target="classes", checked={"task": "classes"}, needs="torch"),
    "CNN": Entry("unweave.predict", target="classes", checked={"task": "classes"}, needs="torch"),
    "RNN": Entry("unweave.predict", target="classes", checked={"task": "classes"}, needs="torch"),
    "Autoencoder": Entry("unweave.predict", needs="torch"),
    "RepresentationClassifier": Entry("unweave.predict", target="classes", checked={"predictor": "linear"}),
    "RepresentationRegressor": Entry("unweave.predict", target="numbers", checked={"predictor": "linear"}),
}

# Public functions and other classes: name → module. None marks a module that is public itself.
OTHERS: dict[str, str | None] = {
    "lasso_path": "unweave.compress",
    "patches": "unweave.compress",
    "from_patches": "unweave.compress",
    "psnr": "unweave.compress",
    "read": "unweave.data.readers",
    "blocks": "unweave.scale.files",
    "NamedTable": "unweave.data.named",
    "SparseTensor": "unweave.data.tensor",
    "factor_match": "unweave.compress",
    "prepare": "unweave.data.recipe",
    "ratings": "unweave.complete.ratings",
    "features": "unweave.complete.ratings.features",
    "compare_bases": "unweave.compress",
    "split_ratings": "unweave.judge",
    "intrinsic_dimension": "unweave.compress",
    "distance_concentration": "unweave.compress",
    "matrix_rank": "unweave.compress",
    "range_basis": "unweave.compress",
    "null_space": "unweave.compress",
    "approximation_error": "unweave.compress",
    "coreset": "unweave.group",
    "minimise": "unweave.solve.optimise",
    "anomaly_score": "unweave.group",
    "segment": "unweave.group",
    "judge_roles": "unweave.explain.roles",
    "TextBlocks": "unweave.explain",
    "quantize": "unweave.group",
    "load": "unweave.persist",
    "set_num_threads": "unweave.parallel",
    "get_num_threads": "unweave.parallel",
    # embed
    "read_corpus": "unweave.embed",
    "Vectors": "unweave.embed",
    "align": "unweave.embed",
    "evaluate_analogies": "unweave.embed",
    "evaluate_similarity": "unweave.embed",
    # predict
    "threshold_network": "unweave.predict",
    "parity_network": "unweave.predict",
    "bias_variance": "unweave.predict",
    "calibration": "unweave.predict",
    "confusion": "unweave.predict",
    "learning_curve": "unweave.predict",
    "predict": None,
    "select": None,
    "judge": None,
    "losses": None,
    "penalties": None,
}


def register(**entry: Any) -> Callable[[type], type]:
    """Make an estimator of your own known: it can be saved and loaded, and the laws go over it in your tests.

    Use it as a decorator of the class, with what :class:`Entry` takes beside `home`, which is the class's module;
    ``docs/contributing.md`` shows one.
    """

    def enter(kind: type) -> type:
        name = kind.__name__
        if name in ESTIMATORS and ESTIMATORS[name].home != kind.__module__:
            raise ValueError(f"there is an estimator {name!r} already: give yours another name")
        ESTIMATORS[name] = Entry(kind.__module__, **entry)
        return kind

    return enter


def find(name: str) -> Any:
    """The public thing of that name.

    >>> find("PCA").__name__
    'PCA'
    """
    home = ESTIMATORS[name].home if name in ESTIMATORS else OTHERS[name]
    return import_module(f"unweave.{name}") if home is None else getattr(import_module(home), name)


def lazily(room: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a room whose names are imported when they are asked for.

    `homes` says in which file of the room each public name lives, so that one job does not load what another needs.

    >>> import unweave.report
    >>> "render" in dir(unweave.report)
    True
    """

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{homes[name]}"), name)

    return getattr_, lambda: sorted(homes)


def lacking(name: str) -> str:
    """Say that what an estimator needs is not installed, and which extra installs it; "" if nothing is lacking.

    >>> lacking("PCA")
    ''
    """
    package = ESTIMATORS[name].needs
    if not package or find_spec(package) is not None:
        return ""
    return f"{name} needs {package}, which is not installed: pip install 'unweave[{EXTRAS[package]}]'"


def takes(name: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of an estimator's class."""
    return inspect.signature(find(name)).parameters


def small_model(name: str, **more) -> Any:
    """An estimator that fits in milliseconds: three components, four iterations, a fixed seed.

    >>> small_model("NMF", loss="kl")
    NMF(loss='kl', max_iter=4, n_components=3, random_state=0)
    """
    given = {**SMALL, **ESTIMATORS[name].small}
    known = takes(name)
    return find(name)(**{**{key: value for key, value in given.items() if key in known}, **more})


def small_table(name: str, rows: int = 20, columns: int = 8) -> np.ndarray | list[str]:
    """A table that suits an estimator: three groups of `rows` rows, as numbers, counts, zeros and ones or texts.

    For models of tensors each row is a slice.

    >>> small_table("NMF").shape, small_table("SymmetricNMF").shape, len(small_table("TextTable"))
    ((60, 8), (60, 60), 60)
    >>> small_table("CP").shape
    (60, 8, 4)
    """
    import numpy as np

    rng = np.random.default_rng(0)
    X = np.repeat(4 * rng.random((3, columns)), rows, axis=0) + 0.3 * rng.random((3 * rows, columns))
    kind = ESTIMATORS[name].table
    if kind == "zeros and ones":
        return (np.median(X) < X).astype(float)
    if kind == "similarities":
        return X @ X.T
    if kind == "tensor":
        return X[:, :, None] * (1 + np.arange(4)) + 0.3 * rng.random((*X.shape, 4))
    if kind == "texts":
        return [" ".join(f"word{j}" for j in np.flatnonzero(row > 2)) or "none" for row in X]
    return np.rint(X) if kind == "counts" else X


def small_target(name: str, rows: int = 20):
    """What `fit` of a predictor is given beside :func:`small_table`: the group of each row as a word, or a number.

    >>> small_target("DecisionTree", 1).tolist()
    ['first', 'second', 'third']
    """
    import numpy as np

    groups = np.repeat(np.arange(3), rows)
    if ESTIMATORS[name].target == "numbers":
        return groups + 0.25 * np.cos(np.arange(3 * rows))
    return np.array(["first", "second", "third"])[groups]
