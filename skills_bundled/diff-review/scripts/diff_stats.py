"""Count what a unified diff changes, and name the lines that a reviewer should look at first."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
TEST = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|_test\.|\.(?:test|spec)\.", re.I)
LOCK = re.compile(
    r"(?:^|/)(?:[\w.-]+\.lock|[\w.-]*-lock\.(?:json|yaml)|go\.sum|requirements.*\.txt)$", re.I
)
CODE = re.compile(r"\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|c|cc|cpp|h|cs|rb|php|swift|sh|sql)$", re.I)
KEY = "possible key"
PATTERNS = {
    "conflict marker": r"^(?:<{7}|>{7}) ",
    KEY: r"(?i:pass(?:word|wd)?|secret|token|api_?key)\w*[\"']?\s*[:=]\s*[\"'][^\"'\s]{8,}[\"']"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY",
    "open end": r"\b(?:TODO|FIXME|XXX|HACK)\b",
    "left from debugging": r"\bconsole\.log\(|\bdebugger\b|\bbreakpoint\(\)|\bpdb\.set_trace",
    "swallowed error": r"except\s*:|except (?:Base)?Exception\s*:\s*pass"
    r"|catch\s*\([^)]*\)\s*\{\s*\}",
    "test switched off": r"@pytest\.mark\.skip|\b(?:it|describe|test)\.skip\("
    r"|@Ignore\b|@Disabled\b",
}
SIGNS = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}
KINDS = (
    ("new file", "new"),
    ("deleted file", "deleted"),
    ("rename from ", "renamed"),
    ("Binary files ", "binary"),
    ("GIT binary patch", "binary"),
)


class Change(NamedTuple):
    """The changes of one file. `added` are line numbers with their text."""

    path: str
    added: list[tuple[int, str]]
    removed: int
    kind: str


class BadInput(Exception):
    """The input can't be used; the message says why."""


def parse(lines: Iterable[str]) -> Iterator[Change]:
    """Parse a diff of Git or of `diff -u`. Raises `BadInput` if a part of it is missing."""
    path, kind, old_path = "", "changed", ""
    added: list[tuple[int, str]] = []
    removed = 0
    rest = iter(lines)
    for line in rest:
        is_next = line.startswith("diff --git ") or (line.startswith("--- ") and (added or removed))
        if is_next and path:
            yield Change(path, added, removed, kind)
            path, kind, added, removed = "", "changed", [], 0
        if line.startswith("diff --git "):
            path = line.rpartition(" b/")[2]
        elif line.startswith("--- "):
            old_path = clean(line[4:])
        elif line.startswith("+++ "):
            path = clean(line[4:]) or path or old_path
        elif found := HUNK.match(line):
            if not path:
                raise BadInput("a part of the diff has no file name above it")
            more, fewer = read_hunk(rest, path, found)
            added, removed = added + more, removed + fewer
        else:
            kind = next((name for begin, name in KINDS if line.startswith(begin)), kind)
    if path:
        yield Change(path, added, removed, kind)


def read_hunk(
    lines: Iterator[str], path: str, found: "re.Match[str]"
) -> tuple[list[tuple[int, str]], int]:
    """Read the lines of one part; return the added ones, and the number of removed ones."""
    old_left, new_left, number = int(found[1] or 1), int(found[3] or 1), int(found[2])
    added: list[tuple[int, str]] = []
    removed = 0
    while old_left > 0 or new_left > 0:
        line = next(lines, None)
        if line is None or line[:1] not in ("", "+", "-", " ", "\\"):
            raise BadInput(f"the diff of {path} is cut off")
        if line.startswith("+"):
            added.append((number, line[1:]))
            number, new_left = number + 1, new_left - 1
        elif line.startswith("-"):
            removed, old_left = removed + 1, old_left - 1
        elif not line.startswith("\\"):  # which says that a file ends without a line break
            number, old_left, new_left = number + 1, old_left - 1, new_left - 1
    return added, removed


def clean(name: str) -> str:
    """Return a path without the prefix of Git and the time of `diff -u`; "" for no file."""
    name = name.partition("\t")[0].strip().strip('"')
    return "" if name == "/dev/null" else re.sub(r"^[ab]/", "", name)


def report(changes: list[Change], most: int) -> list[str]:
    """Write the report."""
    plus, minus = sum(len(one.added) for one in changes), sum(one.removed for one in changes)
    lines = [f"# {len(changes)} files, {plus:,} lines added, {minus:,} removed", ""]
    for one in sorted(changes, key=lambda one: -(len(one.added) + one.removed)):
        note = "" if one.kind == "changed" else f", {one.kind}"
        lines.append(f"- {one.path}: +{len(one.added)} -{one.removed}{note}")
    notes = []
    code = [one for one in changes if CODE.search(one.path) and not TEST.search(one.path)]
    if sum(len(one.added) for one in code) > 10 and not any(
        TEST.search(one.path) for one in changes
    ):
        notes.append("- code changes, but no test does")
    if plus + minus > 800:
        notes.append("- more than 800 changed lines: ask for smaller parts")
    notes += [f"- {one.path} is a lock file: read why" for one in changes if LOCK.search(one.path)]
    for one in changes:
        for number, text in one.added:
            for name in (name for name, sign in SIGNS.items() if sign.search(text)):
                shown = "" if name == KEY else f": {text.strip()[:80]}"
                notes.append(f"- {one.path}:{number}: {name}{shown}")
    if len(notes) > most:
        notes = [*notes[:most], f"- and {len(notes) - most} more"]
    return [*lines, *(["", "## Look at these first", *notes] if notes else [])]


def main(arguments: list[str]) -> int:
    """Run; return 0, or 2 with one sentence on stderr."""
    parser = argparse.ArgumentParser(description="Count what a diff changes.")
    parser.add_argument("diff", metavar="FILE", help="a unified diff; - for standard input")
    parser.add_argument("--most", type=int, default=40, help="the most lines to look at")
    given = parser.parse_args(arguments)
    try:
        data = sys.stdin.buffer.read() if given.diff == "-" else Path(given.diff).read_bytes()
        # Only the line feed ends a line of a diff; a form feed is a part of one.
        changes = list(parse(data.decode("utf-8", "replace").removesuffix("\n").split("\n")))
        if not changes:
            raise BadInput(f"there is no unified diff in {given.diff}; make one with `git diff`")
    except (BadInput, OSError) as error:
        why = (
            f"{given.diff} can't be read: {error.strerror}" if isinstance(error, OSError) else error
        )
        print(f"{str(why).rstrip('.')}.", file=sys.stderr)
        return 2
    print("\n".join(report(changes, max(given.most, 1))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
