"""Write numbers as people write them: three significant digits, thousands apart, no exponents."""

from __future__ import annotations

import math
import numbers
from typing import Any

_MINUS, _SPACE = "−", "\N{NO-BREAK SPACE}"
_LARGE, _SMALL = 1e15, 1e-6  # beyond these nobody counts zeros, and powers of ten are shorter


def readable(value: Any) -> str:
    """Write a number to three significant digits (four from a thousand on); whole numbers of Python are exact.

    >>> [readable(v) for v in (0.123456, 0.00123, 2.0, 12.949, 1115.7, 1318986234.0, 100836, -0.5)]
    ['0.123', '0.00123', '2', '12.9', '1,116', '1,319,000,000', '100,836', '−0.5']
    >>> readable(float("nan")), readable(float("inf")), readable(1.9e15), readable(1e-9)
    ('unknown', '∞', '1.9×10¹⁵', '1×10⁻⁹')
    """
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}".replace("-", _MINUS)
    value = float(value)
    if math.isnan(value):
        return "unknown"
    sign, size = (_MINUS if value < 0 else ""), abs(value)
    if math.isinf(size):
        return f"{sign}∞"
    if size != 0 and not _SMALL <= size < _LARGE:
        mantissa, power = f"{size:.2e}".split("e")
        return f"{sign}{_without_zeros(mantissa)}×10{_superscript(int(power))}"
    if size >= 999.5:
        return f"{sign}{float(f'{size:.4g}'):,.0f}"
    digits = max(0, 2 - math.floor(math.log10(size))) if size else 0
    return f"{sign if size else ''}{_without_zeros(f'{size:.{digits}f}')}"


def percent(share: Any) -> str:
    """Write a share in percent, without claiming that nearly all is all or that next to nothing is nothing.

    >>> [percent(v).replace("\\xa0", " ") for v in (0.8412, 0.0042, 1, 0, 0.99991, 1e-7, 3.5, 1.9e13)]
    ['84 %', '0.42 %', '100 %', '0 %', 'over 99.9 %', 'under 0.01 %', '350 %', 'over 100,000 %']
    """
    value = 100 * float(share)
    if math.isnan(value):
        return "unknown"
    sign, size = (_MINUS if value < 0 else ""), abs(value)
    if size > 1e5:
        return f"over {sign}100,000{_SPACE}%"
    if 0 < size < 0.01:
        return f"under 0.01{_SPACE}%"
    if 99.5 <= size < 100:
        return f"over 99.9{_SPACE}%" if size >= 99.95 else f"{sign}{size:.1f}{_SPACE}%"
    text = f"{size:,.0f}" if size >= 9.95 else _without_zeros(f"{size:.2g}")
    return f"{sign}{text}{_SPACE}%"


def listed(words: list[str]) -> str:
    """Join words as a sentence does.

    >>> listed(["62", "65", "51"]), listed(["one"])
    ('62, 65 and 51', 'one')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(n: float, noun: str, plural: str | None = None) -> str:
    """Write a count with its noun.

    >>> counted(1, "row"), counted(1200, "axis", "axes")
    ('1 row', '1,200 axes')
    """
    return f"{readable(n)} {noun if n == 1 else plural or noun + 's'}"


def _without_zeros(text: str) -> str:
    """Cut the zeros at the end of a decimal fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def readable_bytes(n: float) -> str:
    """Write a number of bytes in the unit that suits it."""
    for unit in ("B", "KB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"
