"""Lines of numbers, cell by cell, as Python reads them."""

import math


def read_rows(data, width, separator, point):
    """Numbers of all lines in one list (an empty cell is NaN), or None if a cell or a line is not as it should be."""
    values = []
    for line in data.decode("latin-1").removesuffix("\n").split("\n"):
        cells = line.removesuffix("\r").split(separator)
        if len(cells) != width:
            return None
        for cell in cells:
            if set(cell) - set("0123456789+-eE" + point):
                return None
            try:
                values.append(float(cell.replace(point, ".")) if cell else math.nan)
            except ValueError:
                return None
    return values
