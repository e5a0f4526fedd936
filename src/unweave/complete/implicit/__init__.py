"""Recommend from implicit feedback: what people bought, played or clicked, where nothing says what they dislike.

Two models: :class:`ImplicitALS` (`als.py`, factors) and :class:`EASE` (`ease.py`, weights between items). A fit of
`ImplicitALS` reads the table into an objective (`scheme.py`: :class:`Interactions`, and the sweeps as a scheme), looks
for the ridge that does best on pairs held out (`search.py`, which asks `held_out_pairs.py` how many are found again),
and goes on from there in the one loop. `EASE` solves for its weights in one step (`item_weights.py`, which also chooses
the ridge). `batch.py` is `partial_fit` of both. `complete/recommending` answers questions to the fitted models.
"""
