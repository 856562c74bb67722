"""The display of `talaria top`: the gateway's platforms, queues and turns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_QUEUES = {
    "turns_running": "conversations with work",
    "owed": "messages to send",
    "undelivered": "undelivered",
    "unreadable": "unreadable",
}
"""Keys of the health report that are counts, with their names on the display."""


def draw(report: Mapping[str, Any], turns: Sequence[Mapping[str, Any]], now: float) -> list[str]:
    """Return the lines of the display. `now` is in seconds since the epoch."""
    return [_print_safely(line) for line in _draw(report, turns, now)]


def _draw(
    report: Mapping[str, Any], turns: Sequence[Mapping[str, Any]], now: float
) -> Iterator[str]:
    running = [one for one in turns if one["state"] == "running"]
    state = "healthy" if report["status"] == "ok" else "failing"
    yield f"Talaria {report['version']}: {state}, up {_format_span(report['uptime_seconds'])}"
    yield f"Model      {report['model']}"
    counts = (f"{report[key]} {word}" for key, word in _QUEUES.items() if report[key] is not None)
    yield f"Queues     {', '.join(counts) or 'unknown'}"
    yield from (f"Problem    {one}" for one in report["problems"])
    yield ""
    yield f"{'PLATFORM':<12} {'STATE':<14} LAST SIGN OF LIFE"
    for name, platform in report["platforms"].items():
        alive = platform["seconds_since_alive"]
        seen = "" if alive is None else f"{_format_span(alive)} ago"
        yield f"{name:<12} {platform['state']:<14} {seen}".rstrip()
    yield ""
    yield f"{'TURN':>8}  {'FOR':>8}  {'PLATFORM':<12} PERSON"
    for one in running:
        span = _format_span(now - one["started_at"] / 1000)
        yield f"{one['id']:>8}  {span:>8}  {one['platform']:<12} {one['person']}"
    if not running:
        yield "No turn is running."


def _format_span(seconds: float) -> str:
    """Format a duration in its two largest units: `4 s`, `3 m 05 s`, `2 h 07 m`, `5 d 03 h`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} m"
    return f"{whole // 86400} d {whole % 86400 // 3600:02} h"


def _print_safely(line: str) -> str:
    """Remove unprintable characters: a name could contain some, and the terminal would obey."""
    return "".join(letter for letter in line if letter.isprintable())
