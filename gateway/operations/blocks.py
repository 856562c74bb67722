"""Operations on memory blocks: list, make, change, share and delete them."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.files import find_flaw
from agent_core.memory.shared import SharedMemory
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import TEAM, Block, NewBlock
from agent_core.state.people import audit, people, rooms
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import flatten
from gateway.errors import Declined, Mistaken
from gateway.operations.block_types import (
    BlockAudience,
    BlockDetail,
    BlockDetails,
    BlockReader,
    ChangeBlock,
    ChangedBlock,
    ListBlocks,
    MakeBlock,
    PickBlock,
)
from gateway.operations.contract import OperationContext, find_person
from gateway.people.admission import slug_of
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import blocks as texts
from gateway.texts.people import quote_name
from gateway.texts.reader_language import speak_to
from gateway.texts.rooms import UNNAMED_ROOM, name_room

VERBS = ("new", "share", "unshare", "readonly", "limit", "describe", "delete")
"""The words of the command `/block`; no block may have such a name."""
UNDO = "undo"
DROP = "drop"
"""The word for `delete` until 2026-11-30."""
HERE, EVERYONE, ME = "here", "everyone", "me"
"""Words that name a reader without a person's name."""
LONGEST_DESCRIPTION = 300
_ROOM = "room:"
_LEAST_LIMIT, _MOST_LIMIT = 100, 20_000
_LABEL = re.compile(r"(?=.*[^\W\d_])[\w-]{1,40}")
_BLANK_LETTERS = re.compile("[\u115f\u1160\u3164\uffa0]")
"""Characters that Unicode counts as letters but fonts draw as blanks."""


class UnknownBlock(Mistaken):
    """The person neither sees nor made a block of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Names who asks for a deed on blocks, and in which group; None outside of groups.

    `actor` names them in the audit trail. New readers get a notice on one of the `platforms`.
    """

    person: Person
    room: Room | None
    actor: str
    now: int
    platforms: Collection[str]


def read_label(word: str) -> str:
    """Normalize a name that somebody typed."""
    return unicodedata.normalize("NFC", word.strip()).casefold()


def list_for(connection: Connection, person: Person, room: Room | None) -> list[Block]:
    """List the blocks that a person may name in a group, or outside of groups."""
    if room:
        return blocks.list_visible(connection, person_id=room.person_id)
    if person.is_owner:
        return blocks.list_all(connection)
    made = blocks.list_made(connection, person_id=person.id)
    seen = blocks.list_visible(connection, person_id=person.id)
    by_label = {block.label: block for block in (*seen, *made)}
    return [by_label[label] for label in sorted(by_label)]


def name_readers(connection: Connection, block: Block, person_id: PersonId) -> list[str]:
    """Name those who see a block, besides a person."""
    return [
        _name_reader(connection, reader)
        for reader in blocks.list_readers(connection, block_id=block.id)
        if reader.id != person_id
    ]


def find_own(connection: Connection, asker: Asker, name: str) -> Block:
    """Return the named block if the person may change it.

    Raises `UnknownBlock`, also for one that they neither see nor made, and `Declined`.
    """
    block = _find(connection, asker, name)
    if block.made_by == asker.person.id or asker.person.is_owner:
        return block
    raise Declined(texts.NOT_YOURS(name=quote_name(name)))


def make(
    connection: Connection, asker: Asker, name: str, limit: int | None, description: str
) -> str:
    """Make a block, which its author sees, and the group in which they ask. Raises `Mistaken`."""
    description = " ".join(description.split())
    is_word = _LABEL.fullmatch(name) and not _BLANK_LETTERS.search(name)
    if not is_word or name in (*VERBS, DROP, UNDO, TEAM):
        raise Mistaken(texts.BAD_LABEL())
    if find_secret(f"{name} {description}"):  # prompts contain the name, too
        raise Mistaken(texts.SECRET_FOUND())
    most = _check_limit(limit)
    _check_description(description)
    if blocks.find(connection, label=name):
        raise Mistaken(texts.TAKEN())
    new = NewBlock(
        slug=slug_of(name),
        label=name,
        description=description,
        limit=most,
        made_by=asker.person.id,
    )
    made = blocks.insert(connection, new, now=asker.now)
    for reader in (asker.person.id, asker.room and asker.room.person_id):
        if reader:
            blocks.share(connection, block_id=made.id, person_id=reader)
    _note(connection, asker, made, "block.new", f"{made.label}, {most} characters")
    return texts.describe_new(made.label, most, is_in_room=asker.room is not None)


def share(
    connection: Connection, asker: Asker, name: str, whom: str
) -> tuple[str, list[OutboxRow]]:
    """Let a reader see a block, and tell them. Raises `Mistaken` and `Declined`."""
    block = find_own(connection, asker, name)
    if whom == EVERYONE and not asker.person.is_owner:
        raise Declined(texts.ONLY_OWNERS_WITH_ALL())
    reader, shown = _find_reader(connection, asker, whom)
    is_new = blocks.share(connection, block_id=block.id, person_id=reader)
    rows: list[OutboxRow] = []
    if is_new:
        _note(connection, asker, block, "block.share", f"with {reader}")
        rows = _notify_reader(connection, asker, block, reader)
    return texts.describe_shared(block.label, shown, is_new=is_new), rows


def unshare(connection: Connection, asker: Asker, name: str, whom: str) -> str:
    """Stop sharing a block. Its author and owners remove any reader, others only themselves.

    Raises `Mistaken` and `Declined`.
    """
    block = (_find if whom == ME else find_own)(connection, asker, name)
    seen = {one.id for one in blocks.list_readers(connection, block_id=block.id)}
    reader, shown = _find_reader(connection, asker, whom, seen)
    is_gone = blocks.unshare(connection, block_id=block.id, person_id=reader)
    if is_gone:
        _note(connection, asker, block, "block.unshare", f"with {reader}")
    return texts.describe_unshared(block.label, shown, was_shared=is_gone)


def set_read_only(connection: Connection, asker: Asker, name: str, *, is_read_only: bool) -> str:
    """Choose whether the assistant may change a block. Raises `Mistaken` and `Declined`."""
    block = find_own(connection, asker, name)
    blocks.set_read_only(connection, block_id=block.id, is_read_only=is_read_only)
    _note(connection, asker, block, "block.readonly", "on" if is_read_only else "off")
    return texts.describe_read_only(block.label, is_read_only=is_read_only)


def set_limit(connection: Connection, asker: Asker, name: str, limit: int | None) -> str:
    """Choose how many characters a block holds. Raises `Mistaken` and `Declined`."""
    block = find_own(connection, asker, name)
    most = _check_limit(limit)
    blocks.set_limit(connection, block_id=block.id, limit=most)
    _note(connection, asker, block, "block.limit", f"{block.limit} -> {most}")
    return texts.NEW_LIMIT(label=block.label, limit=most)


def describe(connection: Connection, asker: Asker, name: str, description: str) -> str:
    """Describe what a block is for. Raises `Mistaken` and `Declined`."""
    block = find_own(connection, asker, name)
    description = " ".join(description.split())
    _check_description(description)
    blocks.describe(connection, block_id=block.id, description=description)
    _note(connection, asker, block, "block.describe", description)
    return texts.NEW_DESCRIPTION(label=block.label, description=description)


def drop(connection: Connection, asker: Asker, name: str) -> str:
    """Delete a block; its file and history stay. Raises `Mistaken` and `Declined`."""
    block = find_own(connection, asker, name)
    blocks.drop(connection, block_id=block.id)
    _note(connection, asker, block, "block.drop", block.label)
    return texts.DROPPED(label=block.label)


async def list_own(
    context: OperationContext, shared: SharedMemory, asked: ListBlocks
) -> BlockDetails:
    """List the blocks that a person sees or made, with their entries. Raises `Mistaken`."""

    def look(connection: Connection) -> tuple[Person, list[Block], list[list[BlockReader]]]:
        person = find_person(connection, asked.person)
        found = list_for(connection, person, None)
        return person, found, [_list_readers(connection, one, person.id) for one in found]

    person, found, readers = await context.database.read(look)
    opened = await shared.open(found, context.now())
    return BlockDetails(
        blocks=tuple(
            BlockDetail(
                name=block.label,
                description=block.description,
                size=one.size,
                limit=block.limit,
                is_read_only=block.is_read_only,
                is_own=block.made_by == person.id or person.is_owner,
                readers=tuple(names),
                entries=tuple(one.entries),
            )
            for one, block, names in zip(opened, found, readers, strict=True)
        )
    )


async def make_own(
    context: OperationContext, shared: SharedMemory, asked: MakeBlock
) -> ChangedBlock:
    """Make a block for a person. Raises `Mistaken`."""
    name = read_label(asked.name)
    shared.expect_blocks()

    def work(connection: Connection) -> str:
        asker = _find_asker(connection, context, asked)
        return make(connection, asker, name, asked.limit, asked.description)

    return _end(context, name, await context.database.write("blocks.make", work))


async def change_own(context: OperationContext, asked: ChangeBlock) -> ChangedBlock:
    """Change a block, all or nothing. Raises `Mistaken` and `Declined`."""
    name = read_label(asked.name)

    def work(connection: Connection) -> str:
        asker = _find_asker(connection, context, asked)
        find_own(connection, asker, name)
        said = []
        if asked.description is not None:
            said.append(describe(connection, asker, name, asked.description))
        if asked.limit is not None:
            said.append(set_limit(connection, asker, name, asked.limit))
        if asked.is_read_only is not None:
            said.append(set_read_only(connection, asker, name, is_read_only=asked.is_read_only))
        return " ".join(said)

    return _end(context, name, await context.database.write("blocks.change", work))


async def share_own(context: OperationContext, asked: BlockAudience) -> ChangedBlock:
    """Let a reader see a block. Raises `Mistaken` and `Declined`."""
    name, whom = read_label(asked.name), asked.reader.strip().casefold()

    def work(connection: Connection) -> tuple[str, list[OutboxRow]]:
        return share(connection, _find_asker(connection, context, asked), name, whom)

    said, rows = await context.database.write("blocks.share", work)
    context.enqueue(rows)
    return _end(context, name, said)


async def unshare_own(context: OperationContext, asked: BlockAudience) -> ChangedBlock:
    """Hide a block from a reader. Raises `Mistaken` and `Declined`."""
    name, whom = read_label(asked.name), asked.reader.strip().casefold()

    def work(connection: Connection) -> str:
        return unshare(connection, _find_asker(connection, context, asked), name, whom)

    return _end(context, name, await context.database.write("blocks.unshare", work))


async def drop_own(context: OperationContext, asked: PickBlock) -> ChangedBlock:
    """Delete a block. Raises `Mistaken` and `Declined`."""
    name = read_label(asked.name)

    def work(connection: Connection) -> str:
        return drop(connection, _find_asker(connection, context, asked), name)

    return _end(context, name, await context.database.write("blocks.drop", work))


def _end(context: OperationContext, name: str, said: str) -> ChangedBlock:
    context.forget_known()
    return ChangedBlock(name=name, said=said)


def _find_asker(connection: Connection, context: OperationContext, asked: PickBlock) -> Asker:
    person = find_person(connection, asked.person)
    return Asker(
        person=person,
        room=None,
        actor=f"person:{person.id}",
        now=context.now(),
        platforms=context.scheduling.load_platforms(),
    )


def _find(connection: Connection, asker: Asker, name: str) -> Block:
    """Return the named block. Owners find every one, others only those that they see or made."""
    person = asker.person
    known: Sequence[Block]
    if person.is_owner:
        known = blocks.list_all(connection)
    else:
        made = blocks.list_made(connection, person_id=person.id)
        known = [*made, *blocks.list_visible(connection, person_id=person.id)]
    for block in known:
        if name in (block.label, str(block.id)):
            return block
    raise UnknownBlock(texts.UNKNOWN(name=quote_name(name)))


def _find_reader(
    connection: Connection, asker: Asker, whom: str, seen: Collection[PersonId] = ()
) -> tuple[PersonId, str]:
    """Return the named reader with their display name. Raises `Mistaken`.

    A group that is not the present one has to be among those who have `seen` the block.
    """
    if not whom:
        raise Mistaken(texts.WITH_WHOM())
    if whom == HERE:
        if asker.room is None:
            raise Mistaken(texts.HERE_NOWHERE())
        return asker.room.person_id, name_room(asker.room.shown_name)
    if whom == ME:
        return asker.person.id, texts.YOU()
    if whom.startswith(_ROOM) and whom.removeprefix(_ROOM).isdecimal():
        room = people.find(connection, person_id=PersonId(int(whom.removeprefix(_ROOM))))
        if room is None or room.kind != "room" or room.id not in seen:
            raise Mistaken(texts.NOBODY(name=quote_name(whom)))
        return room.id, _name_reader(connection, room)
    if whom == EVERYONE:
        return blocks.make_team(connection, now=asker.now), texts.EVERYONE()
    platform, _, user_id = whom.partition(":")
    account = people.find_account(connection, platform=platform, user_id=user_id)
    found = [
        person
        for person in people.list_all(connection)
        if (account and account.person_id == person.id)
        or whom in (person.name.casefold(), person.slug)
    ]
    if len(found) != 1:
        why = texts.SEVERAL if found else texts.NOBODY
        raise Mistaken(why(name=quote_name(whom)))
    return found[0].id, quote_name(found[0].name)


def _notify_reader(
    connection: Connection, asker: Asker, block: Block, reader: PersonId
) -> list[OutboxRow]:
    """Notify a new reader in their latest direct conversation."""
    person = people.find(connection, person_id=reader)
    if person is None or person.kind != "human" or person.id == asker.person.id:
        return []
    chat = find_direct_chat(connection, person, asker.platforms)
    if chat is None:
        return []
    with speak_to(connection, person.id):
        words = texts.describe_shared_with_you(asker.person.name, block.label, block.description)
    outgoing = NewOutboxMessage(chat=chat, body=words, person_id=person.id, is_silent=True)
    return [outbox.enqueue(connection, outgoing, now=asker.now)]


def _name_reader(connection: Connection, reader: Person) -> str:
    if reader.kind == "team":
        return texts.EVERYONE()
    if reader.kind == "room":
        return name_room(rooms.find_name(connection, person_id=reader.id))
    return quote_name(reader.name)


def _list_readers(connection: Connection, block: Block, person_id: PersonId) -> list[BlockReader]:
    found = []
    for reader in blocks.list_readers(connection, block_id=block.id):
        if reader.kind == "team":
            found.append(BlockReader(reader=EVERYONE, name=texts.EVERYONE()))
        elif reader.kind == "room":
            name = rooms.find_name(connection, person_id=reader.id) or UNNAMED_ROOM()
            found.append(BlockReader(reader=f"{_ROOM}{reader.id}", name=name))
        elif reader.id != person_id:
            found.append(BlockReader(reader=reader.slug, name=reader.name))
    return found


def _check_limit(limit: int | None) -> int:
    if limit is None or not _LEAST_LIMIT <= limit <= _MOST_LIMIT:
        raise Mistaken(texts.BAD_LIMIT())
    return limit


def _check_description(description: str) -> None:
    """Check a description, which prompts show on one line. Raises `Mistaken`."""
    if not description or len(description) > LONGEST_DESCRIPTION:
        raise Mistaken(texts.NO_DESCRIPTION())
    if find_flaw(description):
        raise Mistaken(texts.HIDDEN_IN_DESCRIPTION())
    if find_secret(description):
        raise Mistaken(texts.SECRET_FOUND())


def _note(connection: Connection, asker: Asker, block: Block, action: str, detail: str) -> None:
    entry = AuditEntry(
        person_id=block.person_id,
        actor=asker.actor,
        action=action,
        detail=flatten(detail, LONGEST_DESCRIPTION),
        created_at=asker.now,
    )
    audit.record(connection, entry)
