"""The command for named memory blocks that several people or rooms share: block."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.shared import SharedList, SharedMemory
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import TEAM, Block, NewBlock
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import flatten
from gateway.commands.block_requests import (
    EVERYONE,
    HERE,
    LONGEST_DESCRIPTION,
    ME,
    BlockRefused,
    BlockRequest,
    find_block,
    find_fault,
    find_own,
    find_target,
    is_label,
    list_for,
    parse_target,
    read_label,
    read_limit,
)
from gateway.commands.memory_scope import PERSON, MemoryAccess, own_scope, refuse_unreadable
from gateway.commands.registry import Call, Effect, Handler, Outcome, Reply
from gateway.operations import memory as operations
from gateway.outbound.command_buttons import stand_for
from gateway.people.admission import slug_of
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import blocks as block_texts
from gateway.texts import memory
from gateway.texts.blocks import BlockLine
from gateway.texts.people import quote_name
from gateway.texts.reader_language import speak_to
from gateway.texts.rooms import name_room

_BLOCK = "block:"


def _choose(seen: tuple[SharedList, ...], label: str, *, is_owner: bool) -> SharedList | None:
    """Return the block of a name; for owners, `team` names the team's list.

    Before 2026-11-22 a block could have that name. Owners reach it as `block:team`.
    """
    named = {one.target: one for one in seen if one.person_id is not None}
    block = label if label.startswith(_BLOCK) else f"{_BLOCK}{label}"
    team = named.get(TEAM) if label == TEAM else None
    return (team if is_owner else None) or named.get(block) or team


_UNDO = "undo"
_IN_ROOM = ("new", "share", "unshare")


Act = Callable[[Connection, BlockRequest], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCommands:
    """Shows and changes memory blocks, and notifies their new readers."""

    access: MemoryAccess
    shared: SharedMemory
    platforms: Collection[str]

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"block": self._block}

    async def undo_shared(self, call: Call, label: str) -> Reply:
        """Undo the newest change of a block, or of the team's list.

        A repeated event undoes it once; a second command undoes the change before it.
        """
        seen = await self.shared.look(call.person.id, call.now)
        shared = _choose(seen, label, is_owner=call.person.is_owner)
        if shared is None or shared.person_id is None:
            return Reply(text=block_texts.UNKNOWN(name=quote_name(label)))
        is_mine = shared.block is not None and shared.block.made_by == call.person.id
        if not (is_mine or call.person.is_owner):
            return Reply(text=block_texts.NOT_YOURS(name=quote_name(label)))
        origin = Origin(
            actor=f"{PERSON}{call.person.id}",
            now=call.now,
            evidence=call.message.text,
            call_key=call.call_key,
        )
        try:
            outcome = await self.shared.undo(shared, origin)
        except OSError as error:
            return refuse_unreadable(error)
        undone = operations.take_undone(outcome)
        rows = [one.undone for one in undone]
        viewer = await self.access.make_viewer(call, own_scope(call.person), rows)
        return Reply(text=memory.describe_shared_undone(label, undone, viewer))

    async def _block(self, call: Call) -> Reply:
        word, _, rest = call.argument.partition(" ")
        word = word.casefold()
        if word == _UNDO and rest.strip() and not call.room:
            return await self.undo_shared(call, read_label(rest))
        if word not in _VERBS:
            return await self._show(call, read_label(call.argument))
        label, _, rest = rest.strip().partition(" ")
        request = BlockRequest(
            label=read_label(label), rest=rest.strip(), call=call, platforms=self.platforms
        )
        if call.room and (word not in _IN_ROOM or (word != "new" and parse_target(rest) != HERE)):
            return Reply(text=block_texts.ONLY_IN_DIRECT())
        if word == "drop" and request.rest.casefold() != "yes":
            return await self._ask_to_drop(request)
        if word == "new":
            self.shared.expect_blocks()
        return Reply(effect=_effect(_VERBS[word], request))

    async def _show(self, call: Call, label: str) -> Reply:
        """List the blocks that are visible here, or show one of them with its entries."""

        def look(connection: Connection) -> list[tuple[Block, list[str]]]:
            found = list_for(connection, call)
            chosen = [block for block in found if block.label == label] if label else found
            is_direct = call.room is None
            return [
                (one, _name_readers(connection, one, call) if is_direct else []) for one in chosen
            ]

        seen = await self.access.database.read(look)
        if not seen:
            unknown = block_texts.UNKNOWN(name=quote_name(label))
            return Reply(text=unknown if label else block_texts.list_blocks(()))
        opened = await self.shared.open([block for block, _ in seen], call.now)
        lines = [
            BlockLine(shared=one, readers=readers, is_mine=block.made_by == call.person.id)
            for one, (block, readers) in zip(opened, seen, strict=True)
        ]
        return Reply(
            text=block_texts.show_block(lines[0]) if label else block_texts.list_blocks(lines)
        )

    async def _ask_to_drop(self, request: BlockRequest) -> Reply:
        """Ask for confirmation. The button carries the block's number, because no label is a
        number.
        """

        def look(connection: Connection) -> tuple[Block, list[str]]:
            block = find_own(connection, request)
            return block, _name_readers(connection, block, request.call)

        try:
            block, readers = await self.access.database.read(look)
        except BlockRefused as refusal:
            return Reply(text=str(refusal))
        button = stand_for(f"block drop {block.id} yes", block_texts.DROP(), "danger")
        return Reply(text=block_texts.ask_to_drop(block.label, readers), buttons=(button,))


def _effect(act: Act, request: BlockRequest) -> Effect:
    def effect(connection: Connection) -> Outcome:
        try:
            return act(connection, request)
        except BlockRefused as refusal:
            return str(refusal), []

    return effect


def _make(connection: Connection, request: BlockRequest) -> Outcome:
    number, _, description = request.rest.partition(" ")
    description = " ".join(description.split())
    if not is_label(request.label, (*_VERBS, _UNDO, TEAM)):
        return block_texts.BAD_LABEL(), []
    if find_secret(request.call.argument):  # prompts contain the name, too
        return block_texts.SECRET_FOUND(), []
    if (limit := read_limit(number)) is None:
        return block_texts.BAD_LIMIT(), []
    if why := find_fault(description):
        return why, []
    if blocks.find(connection, label=request.label):
        return block_texts.TAKEN(), []
    call = request.call
    new = NewBlock(
        slug=slug_of(request.label),
        label=request.label,
        description=description,
        limit=limit,
        made_by=call.person.id,
    )
    made = blocks.insert(connection, new, now=call.now)
    for reader in (call.person.id, call.room and call.room.person_id):
        if reader:
            blocks.share(connection, block_id=made.id, person_id=reader)
    _note(connection, request, made, "block.new", f"{made.label}, {limit} characters")
    return block_texts.describe_new(made.label, limit, is_in_room=call.room is not None), []


def _share(connection: Connection, request: BlockRequest) -> Outcome:
    block = find_own(connection, request)
    if parse_target(request.rest) == EVERYONE and not request.call.person.is_owner:
        return block_texts.ONLY_OWNERS_WITH_ALL(), []
    reader, name = find_target(connection, request)
    is_new = blocks.share(connection, block_id=block.id, person_id=reader)
    rows: list[OutboxRow] = []
    if is_new:
        _note(connection, request, block, "block.share", f"with {reader}")
        rows = _notify_reader(connection, request, block, reader)
    return block_texts.describe_shared(block.label, name, is_new=is_new), rows


def _unshare(connection: Connection, request: BlockRequest) -> Outcome:
    """Stop sharing a block. Its author and owners remove any reader, others only themselves."""
    is_leaving = parse_target(request.rest) == ME
    block = (find_block if is_leaving else find_own)(connection, request)
    reader, name = find_target(connection, request)
    is_gone = blocks.unshare(connection, block_id=block.id, person_id=reader)
    if is_gone:
        _note(connection, request, block, "block.unshare", f"with {reader}")
    return block_texts.describe_unshared(block.label, name, was_shared=is_gone), []


def _set_read_only(connection: Connection, request: BlockRequest) -> Outcome:
    block = find_own(connection, request)
    word = request.rest.casefold()
    if word not in ("on", "off"):
        return block_texts.ON_OR_OFF(name=block.label), []
    blocks.set_read_only(connection, block_id=block.id, is_read_only=word == "on")
    _note(connection, request, block, "block.readonly", word)
    return block_texts.describe_read_only(block.label, is_read_only=word == "on"), []


def _set_limit(connection: Connection, request: BlockRequest) -> Outcome:
    block = find_own(connection, request)
    if (limit := read_limit(request.rest)) is None:
        return block_texts.BAD_LIMIT(), []
    blocks.set_limit(connection, block_id=block.id, limit=limit)
    _note(connection, request, block, "block.limit", f"{block.limit} -> {limit}")
    return block_texts.NEW_LIMIT(label=block.label, limit=limit), []


def _describe(connection: Connection, request: BlockRequest) -> Outcome:
    block = find_own(connection, request)
    description = " ".join(request.rest.split())
    if why := find_fault(description):
        return why, []
    blocks.describe(connection, block_id=block.id, description=description)
    _note(connection, request, block, "block.describe", description)
    return block_texts.NEW_DESCRIPTION(label=block.label, description=description), []


def _drop(connection: Connection, request: BlockRequest) -> Outcome:
    block = find_own(connection, request)
    blocks.drop(connection, block_id=block.id)
    _note(connection, request, block, "block.drop", block.label)
    return block_texts.DROPPED(label=block.label), []


def _notify_reader(
    connection: Connection, request: BlockRequest, block: Block, reader: PersonId
) -> list[OutboxRow]:
    """Notify a new reader in their latest direct conversation."""
    person = people.find(connection, person_id=reader)
    if person is None or person.kind != "human" or person.id == request.call.person.id:
        return []
    chat = find_direct_chat(connection, person, request.platforms)
    if chat is None:
        return []
    with speak_to(connection, person.id):
        words = block_texts.describe_shared_with_you(
            request.call.person.name, block.label, block.description
        )
    outgoing = NewOutboxMessage(chat=chat, body=words, person_id=person.id, is_silent=True)
    return [outbox.enqueue(connection, outgoing, now=request.call.now)]


def _name_readers(connection: Connection, block: Block, call: Call) -> list[str]:
    """Name those who see a block, besides the caller."""
    return [
        _name_reader(connection, reader)
        for reader in blocks.list_readers(connection, block_id=block.id)
        if reader.id != call.person.id
    ]


def _name_reader(connection: Connection, reader: Person) -> str:
    if reader.kind == "team":
        return block_texts.EVERYONE()
    if reader.kind == "room":
        return name_room(rooms.find_name(connection, person_id=reader.id))
    return quote_name(reader.name)


def _note(
    connection: Connection, request: BlockRequest, block: Block, action: str, detail: str
) -> None:
    words = flatten(detail, LONGEST_DESCRIPTION)
    request.call.record(connection, action, words, block.person_id)


_VERBS: dict[str, Act] = {
    "new": _make,
    "share": _share,
    "unshare": _unshare,
    "readonly": _set_read_only,
    "limit": _set_limit,
    "describe": _describe,
    "drop": _drop,
}
