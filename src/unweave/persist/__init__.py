"""Saves fitted models, each as one file ``*.unweave`` with everything the estimator knows, and no pickle.

How a model becomes a file: `file.save` takes the parameters and attributes of an estimator, `codec` turns them into
JSON and named arrays (`values` does the small ones that JSON has no word for), and `unweave.data.container` writes both
to one file, atomically and with digests. On the way back nothing in the file is trusted: `registry` is the fixed table
of the classes that a file may name, `codec` checks what it decodes, and `check` makes sure that the parts of the model
fit together before compiled code sees them.

>>> import os, tempfile, unweave
>>> from unweave import persist
>>> model = unweave.PCA(1).fit([[0.0, 0.0], [1.0, 1.1], [2.0, 1.9]])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = persist.save(model, os.path.join(folder, "line.unweave"), extra={"rows": ["a", "b", "c"]})
...     again, note, about = persist.load(path), persist.read_extra(path), persist.header(path)
>>> bool((again.transform([[1.0, 2.0]]) == model.transform([[1.0, 2.0]])).all())
True
>>> note, about["class"], about["parameters"]["n_components"]
({'rows': ['a', 'b', 'c']}, 'PCA', 1)
"""

from unweave.data.container import DamagedFileError
from unweave.persist.file import header, load, read_extra, save

__all__ = ["DamagedFileError", "header", "load", "read_extra", "save"]
