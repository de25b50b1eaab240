"""Numbers, durations, names and addresses as a reader sees them."""

import math
from typing import Any
from urllib.parse import quote

from clrepro.report import common


def address(name: str) -> str:
    """An id as it stands in `id` and after `#`; the script's encoding is the same."""
    return quote(str(name), safe="/!'()*~")


def named(name: str) -> str:
    """table_3_v1 -> Table 3 (v1); figure_1a -> Figure 1a."""
    words = str(name).split("_")
    if len(words) > 2 and words[-1].startswith("v") and words[-1][1:].isdigit():
        words[-1] = f"({words[-1]})"
    return " ".join([words[0].capitalize(), *words[1:]])


def number(value: float | None, decimals: int | None = 2) -> str:
    return "–" if value is None else common.number(value, decimals).replace("-", "−")


def signed(value: float | None, decimals: int | None = 2) -> str:
    return "–" if value is None else common.number(value, decimals, sign=True).replace("-", "−")


def short(value: float | None) -> str:
    return "–" if value is None else common.short(value).replace("-", "−")


def plain(value: Any) -> str:
    """A setting as it is: 1e-05, 0.05, a word; nothing for None."""
    if value is None:
        return ""
    return f"{value:g}".replace("-", "−", 1) if isinstance(value, float) and value < 0 else str(value)


def duration(seconds: float | None) -> str:
    """45 s, 12 min, 3.5 h, 2.1 days."""
    if seconds is None:
        return "–"
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    for size, unit, limit in ((60, "min", 6000), (3600, "h", 172800), (86400, "days", math.inf)):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}" if seconds / size >= 10 else f"{seconds / size:.1f} {unit}"
    return ""
