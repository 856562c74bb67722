"""Sort issues and pull requests of GitHub, from JSON of its API or of `gh ... --json`."""

import argparse
import json
import re
import sys
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

WORD = re.compile(r"[a-z0-9_.]{3,}")
COMMON = {
    "the",
    "and",
    "for",
    "with",
    "when",
    "not",
    "does",
    "can",
    "from",
    "after",
    "this",
    "that",
}
KINDS = (
    (
        "bug",
        r"\b(?:bug|crash\w*|error|exception|traceback|fails?|failing|broken|regression|wrong)\b",
    ),
    ("documentation", r"\b(?:docs?|documentation|readme|typo|example)\b"),
    ("question", r"\b(?:how (?:do|can|to)|question|is it possible|help)\b|\?\s*$"),
    ("enhancement", r"\b(?:feature|support|add|allow|please|would be (?:nice|great)|proposal)\b"),
)


class BadInput(Exception):
    """The input can't be used; the message says why."""


class Item(NamedTuple):
    """An issue or a pull request."""

    number: int
    title: str
    author: str
    labels: list[str]
    comments: int
    assigned: bool
    updated: datetime
    is_pull: bool
    is_draft: bool
    text: str


def read_items(paths: Iterable[Path]) -> list[Item]:
    """Read all files; each holds a list. Raises `BadInput`."""
    items: dict[int, Item] = {}
    for path in paths:
        try:
            data = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise BadInput(f"{path} can't be read: {error.strerror}") from error
        except ValueError as error:
            raise BadInput(f"{path} is no JSON: {error}") from error
        if isinstance(data, dict) and isinstance(data.get("message"), str):
            raise BadInput(f"{path} is an error of GitHub: {data['message']}")
        if not isinstance(data, list):
            raise BadInput(f"{path} must hold a list of issues")
        for one in data:
            item = to_item(one, path)
            items[item.number] = item
    return sorted(items.values(), key=lambda one: one.number)


def to_item(one: Any, path: Path) -> Item:
    """Read one issue; the API and `gh` spell some names differently. Raises `BadInput`."""
    try:
        author = one.get("user") or one.get("author") or {}
        labels = [
            label if isinstance(label, str) else label["name"] for label in one.get("labels") or []
        ]
        comments = one.get("comments", 0)
        return Item(
            number=int(one["number"]),
            title=" ".join(str(one["title"]).split()),
            author=str(author.get("login", "somebody")),
            labels=labels,
            comments=comments if isinstance(comments, int) else len(comments),
            assigned=bool(one.get("assignees") or one.get("assignee")),
            updated=to_time(one.get("updated_at") or one["updatedAt"]),
            is_pull="pull_request" in one or "isDraft" in one,
            is_draft=bool(one.get("draft") or one.get("isDraft")),
            text=str(one.get("body") or ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        missing = f"has no {error}" if isinstance(error, KeyError) else f"is malformed ({error})"
        raise BadInput(
            f"an entry of {path} {missing}; fetch number, title and updatedAt"
        ) from error


def to_time(text: str) -> datetime:
    """Read a time of GitHub; one without an offset is UTC."""
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def words_of(title: str) -> set[str]:
    """Return the words of a title that say what it is about."""
    return {word.rstrip("s.") for word in WORD.findall(title.lower())} - COMMON


def find_duplicates(items: list[Item]) -> list[tuple[Item, Item, float]]:
    """Return pairs whose titles share most of their words, the likeliest first."""
    known = [(one, words_of(one.title)) for one in items if not one.is_pull]
    pairs = []
    for place, (one, words) in enumerate(known):
        for other, others in known[place + 1 :]:
            shared = len(words & others)
            if shared >= 2 and (share := shared / len(words | others)) >= 0.5:
                pairs.append((one, other, share))
    return sorted(pairs, key=lambda pair: (-pair[2], pair[0].number))


def guess_kind(item: Item) -> str:
    """Guess a label by the title, then by the text; "" without a hint."""
    for text in (item.title.lower(), item.text[:2000].lower()):
        for kind, pattern in KINDS:
            if re.search(pattern, text):
                return kind
    return ""


def section(title: str, lines: list[str], most: int) -> list[str]:
    """Show a part of the report; nothing if it is empty."""
    more = [f"- and {len(lines) - most} more"] if len(lines) > most else []
    return ["", f"## {title} ({len(lines)})", *lines[:most], *more] if lines else []


def report(items: list[Item], now: datetime, stale_days: int, most: int) -> list[str]:
    """Write the report."""
    pulls = [one for one in items if one.is_pull]
    issues = [one for one in items if not one.is_pull]

    def line(one: Item, note: str) -> str:
        return f"- #{one.number} {one.title[:100]} ({note})"

    def age(one: Item) -> int:
        return max((now - one.updated).days, 0)

    waiting = [
        line(o, f"{o.author}, {age(o)} days") for o in issues if not o.comments and not o.assigned
    ]
    doubles = [f"- #{a.number} and #{b.number}: {share:.0%} alike: {b.title[:80]}"
               for a, b, share in find_duplicates(items)]  # fmt: skip
    unlabelled = [line(o, guess_kind(o) or "no guess") for o in issues if not o.labels]
    reviews = [line(o, f"{o.author}, {age(o)} days") for o in pulls if not o.is_draft]
    stale = [
        line(o, f"{age(o)} days")
        for o in sorted(items, key=age, reverse=True)
        if age(o) >= stale_days
    ]
    return [
        f"# {len(issues)} issues, {len(pulls)} pull requests",
        *section("Nobody answered", waiting, most),
        *section("Probably duplicates", doubles, most),
        *section("Without a label, with a guess", unlabelled, most),
        *section("Pull requests to review", reviews, most),
        *section(f"No change for {stale_days} days", stale, most),
    ]


def main(arguments: list[str]) -> int:
    """Run; return 0, or 2 with one sentence on stderr."""
    parser = argparse.ArgumentParser(description="Sort issues and pull requests.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lists")
    parser.add_argument("--stale", type=int, default=60, metavar="DAYS")
    parser.add_argument("--most", type=int, default=25, help="lines of each part")
    parser.add_argument("--now", metavar="TIME", help="instead of the present")
    given = parser.parse_args(arguments)
    try:
        now = to_time(given.now) if given.now else datetime.now(timezone.utc)
        items = read_items(given.files)
        if not items:
            raise BadInput("there is no open issue or pull request in the input")
    except (BadInput, ValueError) as error:
        print(f"{str(error).rstrip('.')}.", file=sys.stderr)
        return 2
    print("\n".join(report(items, now, given.stale, max(given.most, 1))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
