"""Sentences about why something is remembered, and about undoing changes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_core.localization import Plural, Text, join_list
from agent_core.memory.approval import fence
from agent_core.memory.archive.undo import ArchiveUndoFault
from agent_core.memory.explanations import ChangeStep, Explanation, SourceMessage
from agent_core.memory.external.client import ExternalMemoryStatus
from agent_core.memory.undo import UndoFault, UndoneChange
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory.ledger import Change, LedgerEntry
from agent_core.tools.clock import ReaderClock
from agent_core.transcript import flatten, strip_controls
from gateway.texts.approvals import name_sources
from gateway.texts.people import quote_name
from gateway.texts.states import name_platform
from gateway.texts.undo import BRING_BACK, TAKEN_BACK

WHY_USAGE = Text("Add a note's number or an archived note's name: /why 3. /memory lists both.")
UNDO_USAGE = Text(
    "/undo takes back your last change, such as a reminder, a setting, a file or a note."
    " /undo 3 undoes change 3 of what I remember. /undo NAME undoes the newest change of an"
    " archived note. /undo skill NAME undoes the newest change of a skill. /memory and /why"
    " show the numbers."
)
UNDO = Text("Undo")
UNDO_ALL = Text("Undo all {count}")
NUMBER_UNKNOWN = Text(
    "There's no change with the number {number}. /memory shows the numbers that you can use."
)
CHANGE_ELSEWHERE = Text(
    "I can't undo that from here any more. /memory shows the numbers that you can use with /undo."
)
CHANGED_SOUL = Text(
    "Change {number} was made in SOUL.md, so I can't undo it here. Edit that file by hand, or"
    " ask me to propose a change."
)
CHANGED_SKILL = Text(
    "Change {number} was made in a skill. `talaria skills undo {number}` takes it back."
)
OF_MERGED_PERSON = Text("Change {number} belongs to a person who was merged with another one.")
FILE_UNREADABLE = Text(
    "A memory file of {name} can't be read ({reason}), so their memory was not changed."
)
NAME_UNKNOWN = Text(
    "There's no note called “{name}” in the archive. To see the notes there, send /memory archive."
)
ARCHIVE_EMPTY = Text("The archive is empty.")
ARCHIVE_NO_HIT = Text("I found nothing in the archive. To see its notes, send /memory archive.")
NOT_YOUR_CHANGE = Text(
    "That stays as it is: someone else asked for that change, and this group shares its"
    " memory. Only that person or an owner can undo it."
)
ROOM_USAGE = Text(
    "/memory lists what I remember about this group. /memory forget 3 deletes note 3."
)

OVERSIZE = Text(
    "Someone edited the file “{name}” by hand. It now has {size:,} characters, and I read"
    " only the first {limit:,}. Shorten the file so that I read all of it."
)
OWN_OVERSIZE = Text(
    "Someone edited by hand what I remember about you. It now has {size:,} characters, and I read"
    " only the first {limit:,}. /memory shows all of it; tell me what to shorten."
)
_LONGEST_LABEL = 40
_REFUSALS = {
    "unknown": Text("There's no change {number}. /memory shows the numbers that you can use."),
    "undone": Text("Change {number} is already undone."),
    "parted": Text(
        "I can't undo that, because it belongs to an account that was unlinked. Nothing has"
        " changed."
    ),
    "forgotten": Text("That was deleted permanently, so I can't restore it."),
    "nothing": Text("There's nothing to undo."),
    "overtaken": Text(
        "The note was changed again after change {number}. Undo the newer change first."
    ),
}
_ROOM_HEAD = Text("**My notes about this group**")
_ROOM_LIST_USAGE = Text(
    "/why {number} shows where note {number} comes from, and /undo {number} undoes its"
    " newest change."
)
_ARCHIVE_HEAD = Plural("**Archive: {n:,} note**", "**Archive: {n:,} notes**")
_ARCHIVE_HEAD_PART = Text("**Archive: {shown:,} of {count:,} notes**")
_ARCHIVE_HINT = Text(
    "/memory archive lists the newest notes. To search the archive, send for example /memory"
    " archive lisbon. You can use the notes' names with /why, /undo and /memory forget."
)
_ARCHIVE_USAGE = Text(
    "/why NAME shows where a note comes from, and /undo NAME undoes its newest change. "
    "/memory forget NAME deletes it."
)
_FORGOTTEN = Text("That was deleted permanently with /forget. Nothing about it is left to show.")
_FORGOTTEN_TEXT = Text("a text that was deleted permanently")
_NOT_IN_MEMORY = Text("**That's no longer in memory.**")
_SOURCES = Text("Where it comes from:")
_CHANGES = Text("Changes:")
_EARLIER = Plural("{n:,} earlier change", "{n:,} earlier changes")
_HIDDEN = Plural("{n:,} message that I don't show here", "{n:,} messages that I don't show here")
_EVIDENCE = Text("the words I based it on: {quote}")
_READ = Text("text from others that I had read: {sources}")
_NO_SOURCE = Text("{actor}, without a message")
_SAYING = Text("{name}, {moment}, {platform}: {quote}")
_YOU, _SOMEONE = Text("You"), Text("Someone")
_STEP = Text("{number}: {moment}, {actor}: {change}")
_STEP_UNDONE = Text("{step} (undone)")
_ACTORS = {
    "turn": Text("by me"),
    "review": Text("from your messages"),
    "person": Text("by {name}"),
    "you": Text("by you"),
    "hand": Text("by hand in the file"),
    "house": Text("in the terminal"),
    "link": Text("by linking accounts"),
    "unlink": Text("by unlinking an account"),
    "other": Text("by someone"),
}
_SAVED = Text("saved {quote}")
_CHANGED = Text("changed to {quote}")
_DELETED = Text("deleted")
_UNDID = Text("undid an earlier change. {result}")
_NO_EFFECT = Text("This doesn't change what I remember.")
_RESTORED = Text("Restored: {entry}")
_REMOVED = Text("Removed: {entry}")
_REVERTED = Text("It said: {was}\nIt now says: {entry}")
_UNDONE_SHARED = Text("↩ Taken back in {name}:")
_UNDONE_LINE = Text("- Change {actor}. {result}")
_ALSO_REMOVED, _ALSO_RESTORED = Text("This also removed:"), Text("This also restored:")
_BLOCK_REDO = Text("/block undo {name} undoes the change before that one, too.")
_EXTERNAL = {
    "starting": Text("External memory {name}: not checked yet"),
    "ok": Text("External memory {name}: available"),
    "away": Text("External memory {name}: unavailable (details: “{detail}”)"),
}
_EXTERNAL_QUEUED = Text("waiting to be sent: {count:,}")
_EXTERNAL_DEAD = Text("failed: {count:,} (`talaria logs` shows why)")
_EXTERNAL_MISSING = Text("its server doesn't support {names}")
_UNDO_LABEL = Text("Undo: {entry}")
_UNDO_DELETION_LABEL = Text("Bring it back: {entry}")
_MARKUP = re.compile(r"[`*_~\[\]<>|#\\\n]")
_LONGEST = 300
"""Characters of an entry or of a message that are shown."""
_MOST_SAYINGS = 5
_MOST_STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryViewer:
    """The reader: a person in a direct conversation, or everyone in a group, and their clock.

    `names` are those of people who made changes, by their ids.
    """

    clock: ReaderClock
    is_direct: bool
    names: Mapping[str, str] = field(default_factory=dict)


def list_room(entries: Sequence[tuple[int, str]]) -> str:
    """List a group's memory; `entries` are (number, words)."""
    lines = [f"- {number}: {flatten(words, _LONGEST)}" for number, words in entries]
    usage = _ROOM_LIST_USAGE(number=entries[0][0])
    return "\n".join([_ROOM_HEAD(), *lines, "", usage])


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The archive, or a part of it: `notes` are (name, words), `count` is of all."""

    notes: Sequence[tuple[str, str]]
    count: int


def list_archive_hint(archive: Archive) -> list[str]:
    """List the newest archived notes below a memory; nothing if there are none."""
    if not archive.count:
        return []
    return [_ARCHIVE_HEAD(archive.count), *_list_notes(archive.notes), "", _ARCHIVE_HINT()]


def list_archive(archive: Archive) -> str:
    """List archived notes: the newest, or those that match a search."""
    head = _ARCHIVE_HEAD(archive.count)
    if len(archive.notes) < archive.count:
        head = _ARCHIVE_HEAD_PART(shown=len(archive.notes), count=archive.count)
    return "\n".join([head, *_list_notes(archive.notes), "", _ARCHIVE_USAGE()])


def _list_notes(notes: Sequence[tuple[str, str]]) -> list[str]:
    return [f"- {name}: {flatten(words, _LONGEST)}" for name, words in notes]


def explain(reason: Explanation, viewer: MemoryViewer) -> str:
    """Show where an entry comes from, and its history; neither for a forgotten one."""
    if reason.is_forgotten:
        return _FORGOTTEN()
    head = _NOT_IN_MEMORY()
    if reason.words is not None:
        head = f"**{reason.name}:** {flatten(reason.words, _LONGEST)}"
    shown = reason.steps[-_MOST_STEPS:]
    earlier = len(reason.steps) - len(shown)
    return "\n".join(
        [
            head,
            "",
            _SOURCES(),
            *(f"- {line}" for line in _list_sources(reason, viewer)),
            "",
            _CHANGES(),
            *([f"- {_EARLIER(earlier)}"] if earlier else []),
            *(f"- {_describe_step(step, viewer)}" for step in shown),
        ]
    )


def explain_refusal(fault: UndoFault | ArchiveUndoFault, number: int) -> str:
    """Explain why a change was not undone."""
    return _REFUSALS[fault](number=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """An undone change.

    `went` and `came` are changes that were undone or restored with it, as (number, words).
    """

    undone: UndoneChange
    went: tuple[tuple[int, str], ...]
    came: tuple[tuple[int, str], ...]


def describe_undone(changes: Sequence[Undone], *, is_back: bool) -> str:
    """Say what was taken back, and what went with it.

    With `is_back`, the changes had taken others back, which are done again.
    """
    done = "\n".join(_describe_result(one.undone.row.change) for one in changes)
    lines = [done if is_back else TAKEN_BACK(done=done)]
    for one in changes:
        lines += _list_others(_ALSO_REMOVED(), one.went)
        lines += _list_others(_ALSO_RESTORED(), one.came)
    return "\n".join(lines)


def label_reversals(changes: Sequence[Undone], *, is_back: bool) -> list[str]:
    """Return the labels of the buttons that reverse an undo; a single one needs no name."""
    if len(changes) == 1:
        return [UNDO() if is_back else BRING_BACK()]
    label = _UNDO_LABEL if is_back else _UNDO_DELETION_LABEL
    rows = (one.undone.row.change for one in changes)
    return [label(entry=_name_entry(row.after or row.before or "")) for row in rows]


def describe_shared_undone(name: str, undone: Sequence[UndoneChange], viewer: MemoryViewer) -> str:
    """Say what was undone in a block that several people share."""
    lines = [_UNDONE_SHARED(name=quote_name(name))]
    for one in undone:
        actor, result = name_actor(one.undone, viewer), _describe_result(one.row.change)
        lines.append(_UNDONE_LINE(actor=actor, result=result))
    return "\n".join([*lines, "", _BLOCK_REDO(name=name)])


def name_actor(row: LedgerEntry, viewer: MemoryViewer) -> str:
    """Say who made a change."""
    kind, _, number = row.origin.actor.partition(":")
    name = viewer.names.get(number)
    if kind == "person" and name:
        return _ACTORS["person"](name=quote_name(name))
    return name_maker(row.origin.actor)


def name_maker(actor: str) -> str:
    """Say who made a change, from an actor as it is stored or as commands print it."""
    kind = actor.partition(":")[0]
    known = {"person": "you", "operator": "house"}.get(kind, kind)
    return _ACTORS.get(known, _ACTORS["other"])()


def _list_sources(reason: Explanation, viewer: MemoryViewer) -> list[str]:
    """List the messages, then the quoted words if no shown message holds them.

    A message that is hidden from a group is hidden as a quote, too.
    """
    messages = reason.basis.source_messages
    lines = [_describe_source(message, viewer) for message in messages[-_MOST_SAYINGS:]]
    more = reason.basis.hidden + max(0, len(messages) - _MOST_SAYINGS)
    if more:
        lines.append(_HIDDEN(more))
    said = _join("\n".join(message.text for message in messages))
    is_shown = viewer.is_direct or not reason.basis.hidden
    if reason.basis.evidence and is_shown and _join(reason.basis.evidence) not in said:
        lines.append(_EVIDENCE(quote=_quote(reason.basis.evidence)))
    if reason.basis.sources and is_shown:
        lines.append(_READ(sources=name_sources(reason.basis.sources)))
    return lines or [_NO_SOURCE(actor=name_actor(reason.made_by, viewer))]


def _describe_source(message: SourceMessage, viewer: MemoryViewer) -> str:
    name = _YOU() if viewer.is_direct else _SOMEONE()
    if message.author and not viewer.is_direct:
        name = quote_name(message.author)
    platform = name_platform(message.platform)
    return _SAYING(
        name=name,
        moment=viewer.clock.show(message.at),
        platform=platform,
        quote=_quote(message.text),
    )


def _describe_step(step: ChangeStep, viewer: MemoryViewer) -> str:
    shown = _STEP(
        number=step.number,
        moment=viewer.clock.show(step.row.origin.now),
        actor=name_actor(step.row, viewer),
        change=_describe_change(step.row),
    )
    return shown if step.counts else _STEP_UNDONE(step=shown)


def _describe_change(row: LedgerEntry) -> str:
    change = row.change
    if row.origin.undoes is not None:
        return _UNDID(result=_describe_result(change, _shorten))
    if change.after is None:
        return _DELETED()
    quote = _FORGOTTEN_TEXT() if change.after == FORGOTTEN else _quote(change.after)
    return (_SAVED if change.before is None else _CHANGED)(quote=quote)


def _shorten(entry: str) -> str:
    return flatten(entry, _LONGEST)


def _show_whole(entry: str) -> str:
    """Show an entry as it is: apps must not read it as markup, or join its lines."""
    shown = strip_controls(entry)
    return f"\n{fence(shown)}" if _MARKUP.search(shown) else shown


def _describe_result(change: Change, show: Callable[[str], str] = _show_whole) -> str:
    """Describe an entry after a change was undone."""
    before, after = show(change.before or ""), show(change.after or "")
    if change.before is None and change.after is None:
        return _NO_EFFECT()
    if change.before is None:
        return _RESTORED(entry=after)
    if change.after is None:
        return _REMOVED(entry=before)
    return _REVERTED(was=before, entry=after)


def _list_others(head: str, others: Sequence[tuple[int, str]]) -> list[str]:
    if not others:
        return []
    return [head, *(f"- {number}: {flatten(words, _LONGEST)}" for number, words in others)]


def _quote(text: str) -> str:
    """Quote one line of somebody's words, in which nothing is read as Markdown."""
    return "`" + (flatten(text, _LONGEST).replace("`", "'") or "?") + "`"


def _join(text: str) -> str:
    return " ".join(text.split())


def describe_external(status: ExternalMemoryStatus) -> str:
    """Describe the state of the external memory in one line."""
    shown = [_EXTERNAL[status.state](name=status.name, detail=status.detail)]
    if status.queued:
        shown.append(_EXTERNAL_QUEUED(count=status.queued))
    if status.dead:
        shown.append(_EXTERNAL_DEAD(count=status.dead))
    if status.missing_functions:
        shown.append(_EXTERNAL_MISSING(names=join_list(status.missing_functions)))
    return f"{'; '.join(shown)}."


def offer_undo(after: str | None, before: str | None) -> str:
    """Label the button that undoes what a turn saved or deleted."""
    label = _UNDO_LABEL if after else _UNDO_DELETION_LABEL
    return label(entry=_name_entry(after or before or ""))


def _name_entry(entry: str) -> str:
    words = " ".join(entry.split())
    return words if len(words) <= _LONGEST_LABEL else f"{words[: _LONGEST_LABEL - 1]}…"
