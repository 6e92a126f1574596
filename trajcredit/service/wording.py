"""Numbers and counts in sentences, as the pages print them."""

from __future__ import annotations

__all__ = ["are", "count", "plain", "share", "signed"]


def signed(value: float) -> str:
    """Two decimals and a sign; what would round to nothing keeps one digit, because only zero is `0.00`."""
    if value == 0:
        return "0.00"
    return ("-" if value < 0 else "+") + _unsigned(abs(value))


def plain(value: float) -> str:
    """The same without a plus."""
    return signed(value).removeprefix("+")


def share(part: float) -> str:
    """`72 % of`, `all of`, `less than 1 % of`: a share that is not the whole is never said to be 100 %."""
    if part == 1:
        return "all of"
    if part < 0.01:
        return "less than 1 % of"
    return f"{min(round(100 * part), 99)} % of"


def count(number: int, what: str) -> str:
    """`1 action span`, `1,200 action spans`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def are(number: int) -> str:
    """The verb of so many."""
    return "is" if number == 1 else "are"


def _unsigned(size: float) -> str:
    if size >= 1e6:
        return f"{size:.1e}"
    if size >= 1000:
        return f"{size:.0f}"
    if size >= 0.005:
        return f"{size:.2f}"
    return f"{size:.1g}" if size >= 1e-4 else f"{size:.0e}"
