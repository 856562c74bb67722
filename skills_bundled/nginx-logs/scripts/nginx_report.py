"""Report errors, visitors and slow requests of nginx access logs as Markdown.

It reads the combined format, a request time after it, and logs that are compressed with gzip.
"""

import argparse
import gzip
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

LINE = re.compile(
    r'(?P<address>\S+) \S+ \S+ \[(?P<at>[^\]]+)\] "(?P<request>(?:[^"\\]|\\.)*)"'
    r' (?P<status>\d{3}) (?P<size>\d+|-)(?: "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)")?'
    r"(?P<rest>.*)"
)
SECONDS = re.compile(r"(?:^|[\s=\"])(\d+\.\d+)(?=$|[\s\"])")
"""The request time, such as 0.123 or request_time=0.123."""
BOT = re.compile(r"bot\b|crawl|spider|slurp|curl/|python-|go-http|scan", re.IGNORECASE)
PROBE = re.compile(
    r"/\.(?:env|git|aws|ssh)|/wp-(?:login|admin|includes)|/xmlrpc\.php|/phpmyadmin|/cgi-bin|\.\./",
    re.IGNORECASE,
)


class Entry(NamedTuple):
    """One request. `seconds` is None if the log has no request times."""

    address: str
    at: datetime
    path: str
    status: int
    size: int
    agent: str
    seconds: float | None


def parse(line: str) -> Entry | None:
    """Parse a line; None if it is not in the combined format."""
    found = LINE.match(line)
    if not found:
        return None
    try:
        at = datetime.strptime(found["at"], "%d/%b/%Y:%H:%M:%S %z")
    except ValueError:
        return None
    request = found["request"].split(" ")
    target = request[1] if len(request) > 1 else found["request"]
    seconds = SECONDS.search(found["rest"] or "")
    return Entry(
        address=found["address"],
        at=at,
        path=target.partition("?")[0][:120] or "-",
        status=int(found["status"]),
        size=0 if found["size"] == "-" else int(found["size"]),
        agent=found["agent"] or "",
        seconds=float(seconds[1]) if seconds else None,
    )


def read_lines(path: Path) -> Iterator[str]:
    """Read a log, compressed or not. Raises `OSError`, and `EOFError` if it is cut off."""
    with path.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    if is_packed:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as packed:
            yield from packed
    else:
        with path.open(encoding="utf-8", errors="replace") as plain:
            yield from plain


def read_entries(lines: Iterable[str], since: datetime | None) -> tuple[list[Entry], int, int]:
    """Return the requests since a moment, the number of lines, and of lines in another format."""
    entries, total, other = [], 0, 0
    for line in lines:
        if not line.strip():
            continue
        total += 1
        entry = parse(line)
        if entry is None:
            other += 1
        elif since is None or entry.at >= since:
            entries.append(entry)
    return entries, total, other


def table(title: str, rows: Iterable[tuple[str, int]], count: str) -> list[str]:
    """Show counts as a Markdown table; nothing without rows."""
    lines = [f"| {name.replace('|', '%7C')} | {number:,} |" for name, number in rows]
    return ["", f"## {title}", f"| | {count} |", "|---|---|", *lines] if lines else []


def percentile(sorted_values: list[float], share: float) -> float:
    """Return the value below which a share of all values is."""
    return sorted_values[min(int(len(sorted_values) * share), len(sorted_values) - 1)]


def report(entries: list[Entry], total: int, other: int, top: int) -> list[str]:
    """Write the report."""
    first, last = min(one.at for one in entries), max(one.at for one in entries)
    classes = Counter(f"{one.status // 100}xx" for one in entries)
    bots = [one for one in entries if BOT.search(one.agent)]
    probes = [one for one in entries if PROBE.search(one.path)]
    failed = [one for one in entries if one.status >= 500]
    missing = [one for one in entries if one.status in (404, 410)]
    shown = ", ".join(f"{name} {classes[name]:,}" for name in sorted(classes))
    lines = [
        f"# {len(entries):,} requests from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M %z}",
        f"- status: {shown}",
        f"- server errors: {len(failed) / len(entries):.2%} of all requests",
        f"- sent: {sum(one.size for one in entries) / 1e6:,.1f} MB",
        f"- addresses: {len({one.address for one in entries}):,}",
        f"- requests of programs: {len(bots):,}; probes for weak spots: {len(probes):,}",
    ]
    if other:
        lines.append(f"- {other:,} of {total:,} lines are in another format and not counted")
    hours = Counter(f"{one.at:%Y-%m-%d %H:00}" for one in failed)
    lines += table("Hours with most server errors", hours.most_common(top), "errors")
    causes = Counter(f"{one.status} {one.path}" for one in failed)
    lines += table("Server errors by path", causes.most_common(top), "errors")
    lines += table("Missing", Counter(one.path for one in missing).most_common(top), "requests")
    lines += table("Paths", Counter(one.path for one in entries).most_common(top), "requests")
    visitors = Counter(one.address for one in entries)
    lines += table("Addresses", visitors.most_common(top), "requests")
    lines += table(
        "Probes by address", Counter(o.address for o in probes).most_common(top), "probes"
    )
    lines += table("Programs", Counter(o.agent[:80] for o in bots).most_common(top), "requests")
    times = [one for one in entries if one.seconds is not None]
    if times:
        seconds = sorted(one.seconds or 0.0 for one in times)
        shares = ", ".join(
            f"p{share:.0%} {percentile(seconds, share):.3f}" for share in (0.5, 0.95)
        )
        lines += [
            "",
            "## Slow requests",
            f"Seconds: {shares.replace('%', '')}, max {seconds[-1]:.3f}",
        ]
        slowest = sorted(times, key=lambda one: -(one.seconds or 0.0))[:top]
        lines += [
            f"- {one.seconds:.3f} s {one.path} ({one.status}, {one.at:%H:%M})" for one in slowest
        ]
    return lines


def main(arguments: list[str]) -> int:
    """Run; return 0, or 2 with one sentence on stderr."""
    parser = argparse.ArgumentParser(description="Report on nginx access logs.")
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="plain or .gz")
    parser.add_argument("--since", metavar="TIME", help="such as 2026-11-24T08:00:00+00:00")
    parser.add_argument("--top", type=int, default=10, help="rows of each table")
    given = parser.parse_args(arguments)
    try:
        since = datetime.fromisoformat(given.since) if given.since else None
        if since and since.tzinfo is None:
            raise ValueError("the time needs an offset, such as +00:00")
    except ValueError as error:
        print(f"--since {given.since} is no time: {error}.", file=sys.stderr)
        return 2
    try:
        lines = (line for path in given.logs for line in read_lines(path))
        entries, total, other = read_entries(lines, since)
    except (OSError, EOFError) as error:
        named = getattr(error, "filename", None) or ", ".join(map(str, given.logs))
        print(
            f"{named} can't be read: {getattr(error, 'strerror', None) or error}.", file=sys.stderr
        )
        return 2
    if not entries:
        why = "no line is in the combined format of nginx" if other else "no request is in them"
        print(f"There is nothing to report: {why}.", file=sys.stderr)
        return 2
    print("\n".join(report(entries, total, other, max(given.top, 1))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
