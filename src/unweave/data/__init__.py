"""Takes data in and out: every table, file and argument that comes from outside is checked in this room.

How data becomes a table: an array, a sparse matrix, a frame or a sequence of blocks goes through `table`, which checks
it and tells what was observed from what is missing. A file goes through `readers` (see there) and becomes a
:class:`~unweave.data.named.NamedTable` (`named`): numbers with the names of rows and columns. Texts go through `text`,
which counts their words. Between a file and a model stands a `recipe`: `roles` tells what each column is for,
`choosing` picks those that a model takes, `encode` turns categories and dates into numbers, and `scaling` brings them
to one scale. `dates` and `amounts` read cells as people write them.

`storage` has what other rooms ask of a table however it is stored, `mixed` encodes frames with columns of words,
`tiny_values` refuses tables whose squares would vanish, and `arguments` checks numbers, weights and seeds.
`container` writes and reads the one format of saved arrays, `atomic` replaces a file in one step, `fingerprint` makes a
short text of parameters and data, and `installed` finds two data sets that every computer has.
"""
