"""How good predictions are, and why they are not better: each function gives numbers, words and a drawing.

`confusion` counts what is taken for what, with intervals (`intervals`); `calibration` asks whether shares come true;
`bias_variance` parts an error into what a method gets wrong always and what changes with its rows; `learning_curve`
says what more rows would bring. scikit-learn's estimators and ours are both taken. `figures` draws.
"""
