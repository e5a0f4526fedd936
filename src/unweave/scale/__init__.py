"""Scale: tables that do not fit in memory, or lie on many machines.

*Rows map, summaries add.* A table in blocks is visited: every block is loaded once, a task does what concerns its rows
alone and hands back summaries, small arrays that are added up in one fixed order. ``visits.py`` says so in one
interface and does it in this process, ``cluster.py`` does the same on the workers of a Dask cluster, ``kept.py`` is
what stays with the rows between two visits (their codes), and ``summing.py`` the order of adding.

Where blocks come from: ``files.py`` is ``unweave.blocks``, which makes a ``BlockSource`` (``block_source.py``) of files
(``opened.py``), arrays, maps and Zarr (``arrays.py``) or Dask collections (``collections.py``). ``door.py`` does so
for whatever is given to `fit`, and ``memory.py`` knows how much memory there is. Dask is imported by ``cluster.py`` and
``collections.py`` alone, when somebody needs them. ``families.py`` and ``cost.py`` say what a fit will send, read and
hold before it runs.
"""
