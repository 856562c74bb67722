"""Amounts of money: dollars as people write them, in millionths as they are counted."""


def count_micro_dollars(dollars: float) -> int:
    """Return dollars in millionths; only nothing becomes 0, which means no limit.

    Raises `ValueError` with a clause for an amount that is too small to be counted.
    """
    micro = round(dollars * 1_000_000)
    if dollars and not micro:
        raise ValueError("it is too small to be counted; the least is 0.000001, and 0 is no limit")
    return micro


def show_dollars(micro: int) -> str:
    """Format millionths of a dollar to the cent, or exactly: `$1.50`."""
    cents = micro % 10_000 == 0
    return f"${micro / 1_000_000:.2f}" if cents else f"${micro / 1_000_000:.6f}".rstrip("0")
