"""Cli: the ``unweave`` command.

``main.py`` runs a command and turns errors into one sentence, ``app.py`` lists the verbs and ``options.py`` their
options. A verb is a file in ``verbs/``, loaded when it is called, whose ``run(settings)`` gets the options as
:class:`unweave.cli.options.Settings`. A job (compress, complete, group, explain, topics) reads the file, prepares it,
fits a model and writes a folder: ``work.py`` has what jobs share, ``output.py`` writes the folder, ``say.py`` speaks to
people on stderr and to programs on stdout. ``warmup.py`` compiles every kernel once.
"""
