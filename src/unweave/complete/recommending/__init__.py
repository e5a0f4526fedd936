"""Answer questions of every recommender: what to recommend to whom, what is similar, what drove a score, who is new.

`answers.py` has the one interface, :class:`Recommends`: models of ratings and of implicit feedback derive from it. A
question goes through `asked.py`, which turns whoever is asked for (ids, positions, rows of a table, new users) into
codes and what they have seen, and through `ids.py`, which finds ids; scores and top lists come from `linalg/scores.py`.
"""
