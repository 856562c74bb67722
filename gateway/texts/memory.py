"""What is said of why something is remembered, and of taking it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_core.memory.archive.undo import Fault
from agent_core.memory.explanations import ChangeName, Explanation, SourceMessage, ChangeStep
from agent_core.memory.external.client import ExternalMemoryStatus
from agent_core.memory.undo import UndoRefused, UndoneChange
from agent_core.state.memory.ledger import Change, LedgerEntry
from agent_core.tools.clock import local_time
from agent_core.tools.untrusted_text import flatten
from gateway.texts.general import name_platform
from gateway.texts.people import quote_name

WHY_HOW = (
    "Say which entry, by its number: /why 3, or one of the archive by its name. /memory lists both."
)
UNDO_HOW = (
    "/undo takes back the newest change of what I remember of you, /undo 3 the change of that"
    " number; /memory and /why show the numbers. A name of the archive stands for the newest change"
    " of that note."
)
UNDO = "Undo"
UNDO_AGAIN = "Undo that"
_LONGEST_LABEL = 40
NUMBER_UNKNOWN = "There is no change {number}. /memory lists the entries with their numbers."
NAME_UNKNOWN = "Nothing is called {name} in the archive. /memory archive lists what is kept there."
ARCHIVE_EMPTY = "Nothing is kept in the archive."
ARCHIVE_NO_HIT = "Nothing in the archive fits that. /memory archive lists what is kept there."
_ASIDE_USAGE = (
    "/memory archive lists the newest notes, /memory archive lisbon finds some. /why, /undo and"
    " /memory forget take their names, too."
)
NOT_YOUR_CHANGE = (
    "What a room remembers is everybody's there: only who asked for a change, or the owner of this"
    " house, takes it back. /undo 3 names one of yours."
)
ROOM_HOW = "/memory lists what this room remembers; /memory forget 3 drops entry 3."

_KEPT = {
    "unknown": "There is no such change. /memory lists the entries with their numbers.",
    "undone": "That is taken back already. /why shows all that was changed.",
    "parted": (
        "That would bring back what has left with an account that was split off, so it stays as it"
        " is."
    ),
    "forgotten": "That was forgotten for good: its words are nowhere any more.",
    "nothing": "There is nothing to take back.",
    "overtaken": (
        "That note was changed again since: take the later change back first. /why with its name"
        " shows them."
    ),
}
_LONGEST = 300
"""Characters of an entry or of a message that are shown."""
_MOST_SAYINGS = 5
_MOST_STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who reads: somebody in a direct talk, or all who are in a room. `zone` is IANA.

    `names` are of people that changes were made by, by their ids.
    """

    zone: str
    is_direct: bool
    names: Mapping[str, str] = field(default_factory=dict)


def list_room(entries: Sequence[tuple[int, str]]) -> str:
    """What a room remembers; `entries` are (number, words)."""
    lines = [f"- {number}: {flatten(words, _LONGEST)}" for number, words in entries]
    usage = "/why 3 tells where entry 3 comes from, /undo 3 takes it back."
    return "\n".join(["**Notes of this room (MEMORY.md)**", *lines, "", usage])


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """What is kept in the archive, or some of it: `notes` are (name, words), `count` is of all."""

    notes: Sequence[tuple[str, str]]
    count: int


def list_aside(aside: Aside) -> list[str]:
    """The lines below what is remembered that tell of the archive; none if it is empty."""
    if not aside.count:
        return []
    return [
        f"**Kept aside (archive): {_count(aside.count, 'note')}**",
        *_list_notes(aside.notes),
        "",
        _ASIDE_USAGE,
    ]


def list_archive(aside: Aside) -> str:
    """Notes of the archive, newest first or as they fit what was looked for."""
    head = f"**Archive: {_count(aside.count, 'note')}**"
    shown = len(aside.notes)
    if shown < aside.count:
        head = f"**Archive: {shown} of {_count(aside.count, 'note')}**"
    usage = (
        "/why with a name tells where a note comes from, /undo with it takes its newest change"
        " back, /memory forget drops it."
    )
    return "\n".join([head, *_list_notes(aside.notes), "", usage])


def _list_notes(notes: Sequence[tuple[str, str]]) -> list[str]:
    return [f"- {name}: {flatten(words, _LONGEST)}" for name, words in notes]


def explain(reason: Explanation, viewer: Viewer) -> str:
    """Where an entry comes from, and what became of it since."""
    head = "**That is not in memory any more.**"
    if reason.words is not None:
        head = f"**{reason.number}:** {flatten(reason.words, _LONGEST)}"
    shown = reason.steps[-_MOST_STEPS:]
    earlier = len(reason.steps) - len(shown)
    return "\n".join(
        [
            head,
            "",
            "It rests on:",
            *_list_grounds(reason, viewer),
            "",
            "What was changed:",
            *([f"- {_count(earlier, 'earlier change')}"] if earlier else []),
            *(f"- {_describe_step(step, viewer)}" for step in shown),
        ]
    )


def describe_kept(kept: UndoRefused) -> str:
    """Why nothing was taken back."""
    return _KEPT[kept.fault]


def describe_fault(fault: Fault) -> str:
    """Why a change of the archive was not taken back."""
    return _KEPT[fault]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A change that was taken back; numbers as /memory shows them, `again` that of the undo.

    `went` and `came` are changes that went and came with it, as (number, words).
    """

    undone: UndoneChange
    number: ChangeName
    again: ChangeName
    went: tuple[tuple[int, str], ...]
    came: tuple[tuple[int, str], ...]


def describe_undone(told: Sequence[Told], viewer: Viewer) -> str:
    """What was taken back, and what went with it."""
    lines: list[str] = []
    for one in told:
        who = name_actor(one.undone.undone, viewer)
        lines.append(f"Taken back: change {one.number}, made {who}.")
        lines.append(_describe_result(one.undone.row.change))
        lines += _list_others("With it went:", one.went)
        lines += _list_others("With it came:", one.came)
        lines.append("")
    again = " or ".join(f"/undo {one.again}" for one in told)
    return "\n".join([*lines, f"{again} undoes that."])


def describe_shared_undone(name: str, undone: Sequence[UndoneChange], viewer: Viewer) -> str:
    """What was taken back of what several remember together."""
    lines = [f"Taken back in {quote_name(name)}:"]
    for one in undone:
        lines.append(f"- made {name_actor(one.undone, viewer)}. {_describe_result(one.row.change)}")
    return "\n".join([*lines, "", f"/block undo {name} takes back the change before."])


def name_actor(row: LedgerEntry, viewer: Viewer) -> str:
    """Who made a change, to stand behind "made"."""
    kind, _, number = row.origin.actor.partition(":")
    if kind == "turn":
        return f"by me, in turn {number}"
    if kind == "person":
        name = viewer.names.get(number)
        return f"by {quote_name(name)}" if name else "by you"
    return {
        "hand": "by hand, in the file",
        "house": "by who runs this house",
        "link": "when two accounts were joined",
        "unlink": "when an account was split off",
    }.get(kind, "by somebody")


def _list_grounds(reason: Explanation, viewer: Viewer) -> list[str]:
    """The messages, then the words that were quoted if no message that is shown holds them.

    What a room's people may not see of a message they don't see as a quote either.
    """
    lines = [f"- {_describe_saying(saying, viewer)}" for saying in reason.source_messages[-_MOST_SAYINGS:]]
    more = reason.hidden + max(0, len(reason.source_messages) - _MOST_SAYINGS)
    if more:
        lines.append(f"- {_count(more, 'more message')} that I don't show here")
    said = _join("\n".join(saying.text for saying in reason.source_messages))
    is_shown = viewer.is_direct or not reason.hidden
    if reason.evidence and is_shown and _join(reason.evidence) not in said:
        lines.append(f"- the words I noted it by: {_quote(reason.evidence)}")
    return lines or [f"- no message: it was written {name_actor(reason.made_by, viewer)}"]


def _describe_saying(saying: SourceMessage, viewer: Viewer) -> str:
    who = "you" if viewer.is_direct else "somebody"
    if saying.author and not viewer.is_direct:
        who = quote_name(saying.author)
    moment = f"{local_time(saying.at, viewer.zone):%Y-%m-%d %H:%M}"
    words = _quote(saying.text)
    return f"{who}, {moment}, {name_platform(saying.platform)}: {words}"


def _describe_step(step: ChangeStep, viewer: Viewer) -> str:
    moment = f"{local_time(step.row.origin.now, viewer.zone):%Y-%m-%d %H:%M}"
    gone = "" if step.counts else " (taken back)"
    who = name_actor(step.row, viewer)
    return f"{step.number}: {moment}, {who}: {_describe_change(step.row)}{gone}"


def _describe_change(row: LedgerEntry) -> str:
    change = row.change
    if row.origin.undoes is not None:
        return f"took an earlier change back. {_describe_result(change)}"
    if change.after is None:
        return "dropped"
    verb = "noted" if change.before is None else "reworded to"
    return f"{verb} {_quote(change.after)}"


def _describe_result(change: Change) -> str:
    """What a change that takes another back has made of an entry."""
    before = flatten(change.before or "", _LONGEST)
    after = flatten(change.after or "", _LONGEST)
    if change.before is None and change.after is None:
        return "Nothing that shows has changed by it."
    if change.before is None:
        return f"It is there again: {after}"
    if change.after is None:
        return f"It is no longer there: {before}"
    return f"It reads again: {after}"


def _list_others(head: str, others: Sequence[tuple[int, str]]) -> list[str]:
    if not others:
        return []
    return [head, *(f"- {number}: {flatten(words, _LONGEST)}" for number, words in others)]


def _quote(text: str) -> str:
    """One line of what somebody else wrote, in which nothing is read as Markdown."""
    return "`" + (flatten(text, _LONGEST).replace("`", "'") or "?") + "`"


def _join(text: str) -> str:
    return " ".join(text.split())


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def describe_outside(report: ExternalMemoryStatus) -> str:
    """How the outside memory fares: one line."""
    how = {"starting": "not asked yet", "ok": "there", "away": f"away ({report.detail})"}
    told = f"Outside memory: {report.name}, {how[report.state]}"
    if report.owed:
        told += f"; {report.owed:,} still to be told"
    if report.dead:
        told += f"; {report.dead:,} set aside, the log says why"
    if report.missing_functions:
        told += f"; its server has no {' and no '.join(report.missing_functions)}"
    return f"{told}."


def offer_undo(after: str | None, before: str | None) -> str:
    """The button below an answer that takes back what was learned, or dropped, in its turn."""
    words = " ".join((after or before or "").split())
    short = words if len(words) <= _LONGEST_LABEL else f"{words[: _LONGEST_LABEL - 1]}…"
    return f"{UNDO}: {short}" if after else f"{UNDO}: drop {short}"
