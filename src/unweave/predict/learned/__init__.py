"""From a raw table to a prediction, the representation and the predictor chosen on rows held out.

How a fit walks through: `model` checks the table and splits off its target (`target`), `columns` tells what each column
is for and writes it as numbers, `search` tries what is on the short list, each as a `pipe` (columns → numbers →
representation → predictor), `predictors` and `trees` hold what scikit-learn fitted as arrays, and `reliance` asks what
the choice relies on.
"""
