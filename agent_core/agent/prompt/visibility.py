"""The conversation's context, the visibility of memory in it, and news of its changes."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeGuard

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.prompt.compose import show_entry
from agent_core.ids import CallId, TurnId
from agent_core.memory.files import fit
from agent_core.memory.line_dates import has_ended
from agent_core.memory.shared import SharedList, SharedMemory
from agent_core.memory.store import Snapshot, Stamp
from agent_core.state.conversations.messages import PRIVATE
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Database
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import shares
from agent_core.state.memory.ledger import LISTS, LedgerEntry, MemoryTarget
from agent_core.state.memory.shares import EVERYONE
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.clock import local_time
from agent_core.tools.contract import MemoryOwner, ToolContext
from agent_core.transcript import Message, Part, TextPart, UntrustedSource, escape


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """Person, conversation, room and platform of one turn.

    `person` asks and pays; `room` is None in a direct conversation. A private conversation with a
    room is a person's own, continued there.
    """

    conversation: Conversation
    person: Person
    room: Room | None
    platform: str
    agent: NamedAgent | None = None
    """The named agent that answers; None for the assistant itself."""

    @property
    def is_shared(self) -> bool:
        """True if everyone in the room shares the conversation."""
        return self.conversation.person_id != self.person.id

    @property
    def audience(self) -> str:
        """The audience of the conversation. A private conversation stays private even in a room."""
        if self.conversation.is_private or self.room is None:
            return PRIVATE
        return self.room.audience

    @property
    def memory_owner(self) -> MemoryOwner | None:
        """The owner of the memory that may be changed: the room in a room, else the person."""
        agent, blocks = self.agent, None
        if agent and agent.blocks is not None:
            blocks = (*agent.blocks, *agent.shared)
        if self.conversation.is_private and not self.is_shared:
            return MemoryOwner(person_id=self.person.id, slug=self.person.slug, blocks=blocks)
        if self.room is None:
            return None
        return MemoryOwner(
            person_id=self.room.person_id, slug=self.room.slug, kind="room", blocks=blocks
        )

    @property
    def tool_owner(self) -> MemoryOwner | None:
        """The owner of the memory and the workspace that tools get; in a task, it is the person."""
        if self.conversation.kind == "task":
            return MemoryOwner(person_id=self.person.id, slug=self.person.slug)
        return self.memory_owner

    def make_tool_context(
        self,
        turn_id: TurnId,
        call_id: CallId,
        *,
        memory_owner: MemoryOwner | None,
        now: int,
        evidence: str,
        sources: tuple[UntrustedSource, ...],
    ) -> ToolContext:
        """Make the context of a tool call here; the loop adds what only a running turn has."""
        return ToolContext(
            person_id=self.person.id,
            owner_id=self.conversation.person_id,
            memory_owner=memory_owner,
            conversation_id=self.conversation.id,
            scope=self.conversation.scope,
            turn_id=turn_id,
            call_id=call_id,
            now=now,
            evidence=evidence,
            sources=sources,
        )


MOST_CHARACTERS = 1500
"""The most characters of news; a new prompt replaces longer ones."""

_NEW, _GONE = "New in", "Gone from"
_INSTEAD = "Now, instead of"
FORGOT_FOR_GOOD = (
    "Deleted for good from your memory: {count}. What only earlier messages say about it is gone:"
    " do not repeat it."
)
"""A fact for the model, after `/forget`; the words themselves must not come back."""
_TURN, _REVIEW = "turn", "review:"
"""How actors begin that are turns, and reviews of them; the number of the turn ends both."""
_REPORTED = re.compile(rf"({_NEW}|{_GONE}) (team|block:[\w-]+|memory|user): (\[.*\])")

ShownEntries = frozenset[tuple[str, str]]
"""The shown entries that others own or that are shared with others: (owner, hash of the entry or
heading).
"""


class Heard(NamedTuple):
    """The last word on an entry that a conversation heard, and the turn that said it."""

    turn_id: TurnId
    is_there: bool


Reported = Mapping[str, Mapping[str, Heard]]
"""By list, the entries that facts reported last."""
_RUNNING = TurnId(2**63 - 1)
"""The turn of facts that belong to the running one, whatever its number."""

_EXACT = ("lent", "block")
"""Kinds of entries that a prompt must show exactly as they are now; it may lack entries of other
kinds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleMemory:
    """The memory that enters one prompt.

    `own` is the person's memory, if nobody else reads along or the person trusts the room; `room`
    is the room's; `borrowed` are the person's entries that everyone there may see; `shared` is the
    memory of the team and the visible blocks.
    """

    own: Snapshot | None = None
    room: Snapshot | None = None
    borrowed: tuple[str, ...] = ()
    shared: tuple[SharedList, ...] = ()

    @property
    def shown(self) -> ShownEntries:
        """The entries that a prompt with this memory shows."""
        notes = self.room.memory if self.room else ()
        return frozenset(
            [("room", _digest(entry)) for entry in notes]
            + [("lent", _digest(entry)) for entry in self.borrowed]
            + [hash_entry(one, entry) for one in self.shared for entry in one.entries]
            + [_hash_heading(one) for one in self.shared if one.block]
        )


def _drop_ended(own: Snapshot, person: Person, now: int) -> Snapshot:
    """Leave out the lines whose last day has passed where the person lives."""
    today = local_time(now, person.time_zone or "UTC").date()
    left = {
        target: tuple(one for one in lines if not has_ended(one, today))
        for target, lines in (("memory", own.memory), ("user", own.user))
    }
    return replace(own, memory=left["memory"], user=left["user"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnList:
    """A list of memory now: all its entries, and those that a new prompt would show."""

    target: MemoryTarget
    present: tuple[str, ...]
    shown: tuple[str, ...]


class Visibility:
    """Reads the memory that a conversation may see."""

    def __init__(self, database: Database, memory: SharedMemory) -> None:
        self._database = database
        self._memory = memory

    async def read_visible(self, context: PromptContext, now: int) -> VisibleMemory:
        """Read the memory that a turn may see.

        Does not even read personal memory for a shared conversation. Raises `StoreError`.
        """
        person, room = context.person, context.room
        is_private = context.conversation.is_private
        store = self._memory.store
        shared = await self.read_shared(context, now)
        notes = None
        if room:
            notes = await store.snapshot(room.person_id, room.slug, now, kind="room")
        if context.is_shared or (room is None and not is_private):
            return VisibleMemory(room=notes, shared=shared)
        own = _drop_ended(await store.snapshot(person.id, person.slug, now), person, now)
        if is_private:
            return VisibleMemory(own=own, room=notes, shared=shared)
        borrowed = await self._find_borrowed(person, room, own) if room else ()
        return VisibleMemory(room=notes, borrowed=borrowed, shared=shared)

    def stamp_own(self, owner: MemoryOwner) -> tuple[Stamp, ...]:
        """Fingerprint the memory files of a person or a room; each change changes them."""
        store = self._memory.store
        lists = LISTS if owner.kind == "human" else LISTS[:1]
        return tuple(store.stamp(owner.kind, owner.slug, target) for target in lists)

    async def read_own(self, owner: MemoryOwner, person: Person, now: int) -> tuple[OwnList, ...]:
        """Read a memory, with edits of its files by hand. Raises `StoreError`."""
        store = self._memory.store
        own = await store.snapshot(owner.person_id, owner.slug, now, kind=owner.kind)
        left = _drop_ended(own, person, now) if owner.kind == "human" else own
        return (
            OwnList(target="memory", present=own.memory, shown=fit(left.memory, own.bounds.memory)),
            OwnList(target="user", present=own.user, shown=fit(left.user, own.bounds.user)),
        )

    async def read_shared(self, context: PromptContext, now: int) -> tuple[SharedList, ...]:
        """Read the shared memory that the context's memory owner may see. Raises `StoreError`.

        A named agent sees only the blocks that are meant for it.
        """
        memory_owner, agent = context.memory_owner, context.agent
        seen = await self._memory.look(memory_owner.person_id if memory_owner else None, now)
        if agent is None:
            return seen
        return tuple(one for one in seen if one.block is None or agent.may_see(one.block.label))

    async def _find_borrowed(self, person: Person, room: Room, own: Snapshot) -> tuple[str, ...]:
        """The person's entries that everyone in a room may see, in the order of their lists.

        Entries beyond a list's limit stay out, as in the person's own prompt.
        """
        borrowed = await self._database.read(shares.list_of, person_id=person.id)
        seen = {
            (share.target, share.entry)
            for share in borrowed
            if share.audience in (EVERYONE, room.audience)
        }
        return tuple(
            dict.fromkeys(
                [e for e in fit(own.user, own.bounds.user) if ("user", e) in seen]
                + [e for e in fit(own.memory, own.bounds.memory) if ("memory", e) in seen]
            )
        )


def is_still_allowed(shown: ShownEntries, allowed: ShownEntries) -> bool:
    """Return True if a prompt may still be used.

    Lent entries and blocks must match exactly, so that sharing and its withdrawal apply at the next
    message. A prompt must not show an entry of a room, block or team that no longer exists; new
    entries are reported in the facts.
    """
    exact = frozenset(hash_entry for hash_entry in allowed if hash_entry[0] in _EXACT)
    return (
        frozenset(hash_entry for hash_entry in shown if hash_entry[0] in _EXACT) == exact
        and shown <= allowed
    )


def select_shared(shown: ShownEntries) -> ShownEntries:
    """Select the entries of shared memory."""
    return frozenset(hash_entry for hash_entry in shown if hash_entry[0] not in ("lent", "room"))


def hash_entry(shared: SharedList, entry: str) -> tuple[str, str]:
    """The identity of a shared list's entry."""
    return f"{shared.kind}:{shared.person_id}", _digest(entry)


def find_replaced(
    shown: ShownEntries, shared: Sequence[SharedList], said: Iterable[Message]
) -> tuple[str, ...]:
    """Write a line for each block of which the prompt shows an entry that is gone; pure.

    A turn keeps its prompt, so the line has the whole block. One that was `said` last is left out.
    """
    facts = [part.text for message in said for part in message.parts[:1] if _is_fact(part)]
    told = [line for text in facts for line in text.split("\n") if line.startswith(_INSTEAD)]
    lines = []
    for one in shared:
        owner = f"{one.kind}:{one.person_id}"
        present = {hash_entry(one, entry) for entry in one.entries}
        if all(entry in present for entry in shown if entry[0] == owner):
            continue
        head = f"{_INSTEAD} {one.target} in your prompt: "
        line = head + json.dumps([escape(entry) for entry in one.entries], ensure_ascii=False)
        if next((old for old in reversed(told) if old.startswith(head)), "") != line:
            lines.append(line)
    return tuple(lines)


def dump_shown(shown: ShownEntries) -> str:
    """Serialize to JSON; equal entries give equal bytes."""
    return json.dumps(sorted(shown), separators=(",", ":"))


def load_shown(text: str) -> ShownEntries:
    """Parse the output of `dump_shown`."""
    return frozenset((hash_entry[0], hash_entry[1]) for hash_entry in json.loads(text))


def find_news(
    shown: ShownEntries, shared: Sequence[SharedList], reported: Reported
) -> tuple[str, ...]:
    """Write a line for each shared list that changed since the conversation last saw it; pure.

    `shown` are the entries in the conversation's prompt; `reported` are the changes that the facts
    of its messages reported.
    """
    lines: list[str] = []
    for one in shared:
        known = reported.get(one.target, {})
        now = {escape(entry): hash_entry(one, entry) for entry in one.entries}
        new = [
            text
            for text, digest in now.items()
            if not (known[text].is_there if text in known else digest in shown)
        ]
        gone = [text for text, last in known.items() if last.is_there and text not in now]
        lines += _write(one.target, new, gone)
    return tuple(lines)


def count_forgotten(rows: Iterable[LedgerEntry]) -> int:
    """Count the entries that `/forget` removed from a list; pure."""
    return sum(row.change.before == FORGOTTEN and row.change.after is None for row in rows)


def find_forgotten_news(count: int, said: Iterable[Message]) -> tuple[str, ...]:
    """Write the line on so many entries that `/forget` removed, unless `said` tells it; pure."""
    line = FORGOT_FOR_GOOD.format(count=count)
    facts = (part.text for message in said for part in message.parts[:1] if _is_fact(part))
    return () if any(line in text.split("\n") for text in facts) else (line,)


Untold = Mapping[str, Mapping[str, bool]]
"""By list, the entries whose change a conversation does not know, each with whether it is there."""


def list_turns(rows: Iterable[LedgerEntry]) -> set[TurnId]:
    """List the turns that made changes of a list, or whose reviews did; pure."""
    return {turn_id for row in rows if (turn_id := _read_turn(row.origin.actor))}


def _read_turn(actor: str) -> TurnId | None:
    kind, _, number = actor.rpartition(":")
    is_turn = number.isdecimal() and (kind == _TURN or kind.startswith(_REVIEW))
    return TurnId(int(number)) if is_turn else None


def find_untold(
    rows: Iterable[LedgerEntry],
    now: OwnList,
    turns: Collection[TurnId],
    reported: Reported,
    system: str,
) -> dict[str, bool]:
    """Return the entries of a list that changed without the conversation; pure.

    Each comes with whether it is there. `rows` are the changes since the conversation began, oldest
    first, and `turns` its own turns. The last word on an entry counts: of the facts before a turn,
    then of the turn itself, then of facts again. A review adds what the conversation says. Without
    a word, the conversation knows what the prompt `system` lists. What no prompt would show is no
    news.
    """
    told = reported.get(now.target, {})
    heard: dict[str, Heard | None] = {}
    for row in rows:
        turn_id = _read_turn(row.origin.actor)
        is_review = row.origin.actor.startswith(_REVIEW)
        for entry, is_there in ((row.change.before, False), (row.change.after, True)):
            if entry in (None, FORGOTTEN):
                continue
            last = heard.setdefault(entry, told.get(escape(entry)))
            if turn_id is None or turn_id not in turns or (is_review and (last or not is_there)):
                continue
            if last is None or last.turn_id <= turn_id:
                heard[entry] = Heard(turn_id, is_there)
    untold: dict[str, bool] = {}
    for entry, last in heard.items():
        is_there = entry in now.present
        is_known = last.is_there if last else not is_there or _lists(system, entry)
        if is_there != is_known and (entry in now.shown or not is_there):
            untold[entry] = is_there
    return untold


def _lists(system: str, entry: str) -> bool:
    """Return whether a prompt lists exactly this entry."""
    item = re.escape(show_entry(entry))
    return re.search(rf"^{item}$(?!\n  )", system, re.MULTILINE) is not None


def find_own_news(untold: Untold, said: Sequence[Message], system: str) -> tuple[str, ...]:
    """Write a line for each list with untold entries; pure.

    Leaves out what is gone if neither the prompt `system` nor one of all messages `said` shows it.
    """
    # One long text: a long conversation makes a search of every message slow.
    words = "\0".join((system, *_list_words(said)))
    lines: list[str] = []
    for target, entries in untold.items():
        new = [escape(entry) for entry, is_there in entries.items() if is_there]
        gone = [
            escape(entry)
            for entry, is_there in entries.items()
            if not is_there and _shows(words, entry)
        ]
        lines += _write(target, new, gone)
    return tuple(lines)


def _list_words(said: Iterable[Message]) -> Iterator[str]:
    for message in said:
        yield from (part.text for part in message.parts if type(part) is TextPart)
        for call in message.calls:
            yield call.arguments


def _shows(words: str, entry: str) -> bool:
    """Return whether a conversation's words show an entry, as it is or in the JSON of a call."""
    said = entry.partition("\n")[0]
    forms = {
        form
        for line in (said, escape(said))
        for form in (line, json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1])
    }
    return any(form in words for form in forms)


def read_reported(
    said: Iterable[Message], before: Reported | None = None, turn_id: TurnId = _RUNNING
) -> Reported:
    """Return what the facts of a turn's messages reported, added to what was reported `before`."""
    facts = [
        part.text
        for message in said
        if message.role == "user"
        for part in message.parts[:1]
        if _is_fact(part) and (_NEW in part.text or _GONE in part.text)
    ]
    if not facts and before is not None:
        return before  # most facts report no change
    reported = {target: dict(entries) for target, entries in (before or {}).items()}
    for found in (_REPORTED.fullmatch(line) for text in facts for line in text.split("\n")):
        if found and (entries := _load_entries(found[3])):
            texts = dict.fromkeys(entries, Heard(turn_id, found[1] == _NEW))
            reported.setdefault(found[2], {}).update(texts)
    return reported


def _load_entries(text: str) -> list[str]:
    """Read the entries of a line; none of one from which `/forget` took words."""
    try:
        return [str(entry) for entry in json.loads(text)]
    except ValueError:
        return []


def _is_fact(part: Part) -> TypeGuard[TextPart]:
    return type(part) is TextPart and part.is_fact


def _write(target: str, new: Sequence[str], gone: Sequence[str]) -> list[str]:
    return [
        f"{what} {target}: {json.dumps(texts, ensure_ascii=False)}"
        for what, texts in ((_NEW, new), (_GONE, gone))
        if texts
    ]


def _hash_heading(shared: SharedList) -> tuple[str, str]:
    """The identity of a block's name, description and limits."""
    block = shared.block
    assert block is not None  # noqa: S101 - the team has no heading of its own
    fields = (block.id, block.label, block.description, block.limit, block.is_read_only)
    return "block", _digest(json.dumps(fields))


def _digest(entry: str) -> str:
    return hashlib.sha256(entry.encode()).hexdigest()[:16]
