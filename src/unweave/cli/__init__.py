"""Cli: the ``unweave`` command.

``main.py`` runs a command and turns errors into one sentence, ``app.py`` lists the verbs, ``options.py`` their options,
and ``synonyms.py`` other words for them. A verb is a file in ``verbs/``, loaded when it is called, whose
``run(settings)`` gets the options as :class:`unweave.cli.options.Settings`. A job (compress, complete, group, explain,
topics, recommend) reads the file, prepares it, fits a model, says what it has found and writes a folder. ``work.py``
has what jobs share, ``place.py`` finds a folder where nothing is lost, ``interrupt.py`` listens for Ctrl-C,
``output.py`` writes the folder, ``titles.py`` names items, and ``say.py`` speaks to people on stderr and to programs on
stdout; what is said is made in :mod:`unweave.report.answer`. ``first_use.py`` shows what is being compiled, and
``warmup.py`` compiles every kernel once.
"""
