"""Commands about named blocks of memory that several people or rooms share: block."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.files import find_flaw
from agent_core.memory.shared import SharedList
from agent_core.memory.undo import Kept
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import TEAM, Block, NewBlock
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import audit, people, rooms
from agent_core.state.people.audit import Deed
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.secret_scan import find_secret
from agent_core.tools.untrusted_text import flatten
from gateway.commands.memory_scope import PERSON, own, view
from gateway.commands.registry import Call, Effect, House, Reply, SlashCommand
from gateway.outbound.composer import stand_for
from gateway.people import owners
from gateway.people.identity import slug_of
from gateway.texts import blocks as wording
from gateway.texts import blocks as wording_blocks
from gateway.texts import memory
from gateway.texts.blocks import BlockLine
from gateway.texts.people import quote_name
from gateway.texts.rooms import UNREADABLE

_BLOCK = "block:"


async def undo_shared(call: Call, house: House, label: str) -> Reply:
    """Take back the newest change of a block of this name, or of the team's list.

    Done once if the event is read twice. Said again, it takes back the one before.
    """
    seen = await house.shared.look(call.person.id, call.now)
    shared = _choose(seen, label, is_owner=call.person.is_owner)
    if shared is None or shared.person_id is None:
        return Reply(text=wording_blocks.UNKNOWN.format(name=quote_name(label)))
    is_mine = shared.block is not None and shared.block.made_by == call.person.id
    if not (is_mine or call.person.is_owner):
        return Reply(text=wording_blocks.NOT_YOURS.format(name=quote_name(label)))
    origin = Origin(
        actor=f"{PERSON}{call.person.id}",
        now=call.now,
        evidence=call.message.text,
        call_key=f"inbox:{call.inbox_id}",
    )
    try:
        outcome = await house.shared.undo(shared, origin)
    except OSError as error:
        return Reply(text=UNREADABLE.format(reason=error.strerror or error))
    if isinstance(outcome, Kept):
        return Reply(text=memory.describe_kept(outcome))
    rows = [one.undone for one in outcome]
    viewer = await view(call, house, own(call.person), rows)
    return Reply(text=memory.describe_shared_undone(label, outcome, viewer))


def _choose(seen: tuple[SharedList, ...], label: str, *, is_owner: bool) -> SharedList | None:
    """The block of a name, and for owners the team's list for `team`.

    Before 2026-11-22 a block could be called that: to owners it is `block:team`, as every block
    may be called here.
    """
    named = {one.target: one for one in seen if one.person_id is not None}
    block = label if label.startswith(_BLOCK) else f"{_BLOCK}{label}"
    team = named.get(TEAM) if label == TEAM else None
    return (team if is_owner else None) or named.get(block) or team


_LABEL = re.compile(r"(?=.*[^\W\d_])[\w-]{1,40}")
_NOTHING_TO_SEE = re.compile("[\u115f\u1160\u3164\uffa0]")
"""Letters that show as nothing."""
_LONGEST_DESCRIPTION = 300
_LEAST_LIMIT, _MOST_LIMIT = 100, 20_000
_UNDO = "undo"
_HERE, _EVERYONE, _ME = "here", "everyone", "me"
_IN_ROOM = ("new", "share", "unshare")
Written = tuple[str, list[OutboxRow]]


class _Refused(Exception):
    """Nothing is done; the text is what to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What is wanted of a block: its name, and the words after it."""

    label: str
    rest: str
    call: Call
    house: House

    @property
    def shown(self) -> str:
        """The name, as it can be put into a sentence."""
        return quote_name(self.label)


Act = Callable[[Connection, _Order], Written]


async def _block(call: Call, house: House) -> Reply:
    word, _, rest = call.argument.partition(" ")
    word = word.casefold()
    if word == _UNDO and rest.strip() and not call.room:
        return await undo_shared(call, house, _read_label(rest))
    if word not in _WORDS:
        return await _show(call, house, _read_label(call.argument))
    label, _, rest = rest.strip().partition(" ")
    order = _Order(label=_read_label(label), rest=rest.strip(), call=call, house=house)
    if call.room and (word not in _IN_ROOM or (word != "new" and _read_whom(rest) != _HERE)):
        return Reply(text=wording.ONLY_IN_DIRECT)
    if word == "drop" and order.rest.casefold() != "yes":
        return await _ask_to_drop(order)
    if word == "new":
        house.shared.expect_blocks()
    return Reply(effect=_effect(_WORDS[word], order))


def _effect(act: Act, order: _Order) -> Effect:
    def effect(connection: Connection) -> Written:
        try:
            return act(connection, order)
        except _Refused as refusal:
            return str(refusal), []

    return effect


async def _show(call: Call, house: House, label: str) -> Reply:
    """The blocks that are seen here, or one of them with what stands in it."""

    def look(connection: Connection) -> list[tuple[Block, list[str]]]:
        found = _list_for(connection, call)
        chosen = [block for block in found if block.label == label] if label else found
        is_direct = call.room is None
        return [(one, _name_readers(connection, one) if is_direct else []) for one in chosen]

    seen = await house.database.read(look)
    if not seen:
        unknown = wording.UNKNOWN.format(name=quote_name(label))
        return Reply(text=unknown if label else wording.NONE)
    opened = await house.shared.open([block for block, _ in seen], call.now)
    lines = [
        BlockLine(shared=one, readers=readers, is_mine=block.made_by == call.person.id)
        for one, (block, readers) in zip(opened, seen, strict=True)
    ]
    return Reply(text=wording.show_block(lines[0]) if label else wording.list_blocks(lines))


def _make(connection: Connection, order: _Order) -> Written:
    number, _, description = order.rest.partition(" ")
    description = " ".join(description.split())
    if not _is_label(order.label):
        return wording.BAD_LABEL, []
    if secret := find_secret(order.call.argument):  # the name, too, stands in prompts
        return wording.BAD_BLOCK.format(secret=secret), []
    if (limit := _read_limit(number)) is None:
        return wording.BAD_LIMIT, []
    if why := _complain(description):
        return why, []
    if blocks.find(connection, label=order.label):
        return wording.TAKEN, []
    call = order.call
    new = NewBlock(
        slug=slug_of(order.label),
        label=order.label,
        description=description,
        limit=limit,
        made_by=call.person.id,
    )
    made = blocks.insert(connection, new, now=call.now)
    for reader in (call.person.id, call.room and call.room.person_id):
        if reader:
            blocks.share(connection, block_id=made.id, person_id=reader)
    _note(connection, order, made, "block.new", f"{made.label}, {limit} characters")
    return wording.describe_new(made.label, limit, is_in_room=call.room is not None), []


def _share(connection: Connection, order: _Order) -> Written:
    block = _find_own(connection, order)
    if _read_whom(order.rest) == _EVERYONE and not order.call.person.is_owner:
        return wording.ONLY_OWNERS_WITH_ALL, []
    reader, name = _find_whom(connection, order)
    is_new = blocks.share(connection, block_id=block.id, person_id=reader)
    rows: list[OutboxRow] = []
    if is_new:
        _note(connection, order, block, "block.share", f"with {reader}")
        rows = _tell_reader(connection, order, block, reader)
    return wording.describe_shared(block.label, name, is_new=is_new), rows


def _unshare(connection: Connection, order: _Order) -> Written:
    """Its maker and owners take it from anybody; whoever sees it, from themselves."""
    is_leaving = _read_whom(order.rest) == _ME
    block = (_find_block if is_leaving else _find_own)(connection, order)
    reader, name = _find_whom(connection, order)
    is_gone = blocks.unshare(connection, block_id=block.id, person_id=reader)
    if is_gone:
        _note(connection, order, block, "block.unshare", f"with {reader}")
    return wording.describe_unshared(block.label, name, is_gone=is_gone), []


def _set_read_only(connection: Connection, order: _Order) -> Written:
    block = _find_own(connection, order)
    word = order.rest.casefold()
    if word not in ("on", "off"):
        return wording.ON_OR_OFF.format(name=block.label), []
    blocks.set_read_only(connection, block_id=block.id, is_read_only=word == "on")
    _note(connection, order, block, "block.readonly", word)
    return wording.describe_read_only(block.label, is_read_only=word == "on"), []


def _set_limit(connection: Connection, order: _Order) -> Written:
    block = _find_own(connection, order)
    if (limit := _read_limit(order.rest)) is None:
        return wording.BAD_LIMIT, []
    blocks.set_limit(connection, block_id=block.id, limit=limit)
    _note(connection, order, block, "block.limit", f"{block.limit} -> {limit}")
    return wording.describe_limit(block.label, limit), []


def _describe(connection: Connection, order: _Order) -> Written:
    block = _find_own(connection, order)
    description = " ".join(order.rest.split())
    if why := _complain(description):
        return why, []
    blocks.describe(connection, block_id=block.id, description=description)
    _note(connection, order, block, "block.describe", description)
    return wording.describe_description(block.label, description), []


async def _ask_to_drop(order: _Order) -> Reply:
    """The button says the command with the block's number, which no label can be."""

    def look(connection: Connection) -> tuple[Block, list[str]]:
        block = _find_own(connection, order)
        return block, _name_readers(connection, block)

    try:
        block, readers = await order.house.database.read(look)
    except _Refused as refusal:
        return Reply(text=str(refusal))
    button = stand_for(f"block drop {block.id} yes", wording.DROP, "danger")
    return Reply(text=wording.ask_to_drop(block.label, readers), buttons=(button,))


def _drop(connection: Connection, order: _Order) -> Written:
    block = _find_own(connection, order)
    blocks.drop(connection, block_id=block.id)
    _note(connection, order, block, "block.drop", block.label)
    return wording.describe_dropped(block.label), []


def _list_for(connection: Connection, call: Call) -> list[Block]:
    """The blocks that may be named where the command was used."""
    if call.room:
        return blocks.list_seen(connection, person_id=call.room.person_id)
    if call.person.is_owner:
        return blocks.list_all(connection)
    made = blocks.list_made(connection, person_id=call.person.id)
    seen = blocks.list_seen(connection, person_id=call.person.id)
    by_label = {block.label: block for block in (*seen, *made)}
    return [by_label[label] for label in sorted(by_label)]


def _find_own(connection: Connection, order: _Order) -> Block:
    """The block that is named, if it may be changed by whoever names it. Raises `_Refused`.

    A block that somebody neither sees nor has made is not there for them.
    """
    block, person = _find_block(connection, order), order.call.person
    if block.made_by == person.id or person.is_owner:
        return block
    raise _Refused(wording.NOT_YOURS.format(name=order.shown))


def _find_block(connection: Connection, order: _Order) -> Block:
    """The block that is named, if whoever names it sees or has made it. Raises `_Refused`."""
    call = order.call
    known = blocks.list_all(connection) if call.person.is_owner else _list_own(connection, call)
    for block in known:
        if order.label in (block.label, str(block.id)):
            return block
    raise _Refused(wording.UNKNOWN.format(name=order.shown))


def _list_own(connection: Connection, call: Call) -> list[Block]:
    made = blocks.list_made(connection, person_id=call.person.id)
    return [*made, *blocks.list_seen(connection, person_id=call.person.id)]


def _find_whom(connection: Connection, order: _Order) -> tuple[PersonId, str]:
    """Who is named, and what to call them. Raises `_Refused`."""
    whom, room = _read_whom(order.rest), order.call.room
    if not whom:
        raise _Refused(wording.WITH_WHOM)
    if whom == _HERE:
        if room is None:
            raise _Refused(wording.HERE_NOWHERE)
        return room.person_id, wording.name_room(room.title)
    if whom == _ME:
        return order.call.person.id, wording.YOU
    if whom == _EVERYONE:
        return blocks.make_team(connection, now=order.call.now), wording.EVERYONE
    platform, _, user_id = whom.partition(":")
    account = people.find_account(connection, platform=platform, user_id=user_id)
    found = [
        person
        for person in people.list_all(connection)
        if (account and account.person_id == person.id)
        or whom in (person.name.casefold(), person.slug)
    ]
    if len(found) != 1:
        why = wording.SEVERAL if found else wording.NOBODY
        raise _Refused(why.format(name=quote_name(whom)))
    return found[0].id, quote_name(found[0].name)


def _tell_reader(
    connection: Connection, order: _Order, block: Block, reader: PersonId
) -> list[OutboxRow]:
    """Tell a person, where they last talked with us in private, who shares a block with them."""
    person = people.find(connection, person_id=reader)
    if person is None or person.kind != "human" or person.id == order.call.person.id:
        return []
    place = owners.find_direct(connection, person, order.house.platforms)
    if place is None:
        return []
    words = wording.tell_shared(order.call.person.name, block.label, block.description)
    outgoing = NewOutboxMessage(
        platform=place[0], chat=place[1], body=words, person_id=person.id, is_silent=True
    )
    return [outbox.enqueue(connection, outgoing, now=order.call.now)]


def _name_readers(connection: Connection, block: Block) -> list[str]:
    return [
        _name_reader(connection, reader)
        for reader in blocks.list_readers(connection, block_id=block.id)
    ]


def _name_reader(connection: Connection, reader: Person) -> str:
    if reader.kind == "team":
        return wording.EVERYONE
    if reader.kind == "room":
        return wording.name_room(rooms.find_title(connection, person_id=reader.id))
    return quote_name(reader.name)


def _read_label(word: str) -> str:
    return unicodedata.normalize("NFC", word.strip()).casefold()


def _is_label(label: str) -> bool:
    is_word = _LABEL.fullmatch(label) and not _NOTHING_TO_SEE.search(label)
    return bool(is_word) and label not in (*_WORDS, _UNDO, blocks.TEAM)


def _read_whom(rest: str) -> str:
    words = " ".join(rest.split()).casefold()
    return re.sub(r"^(?:with|from) ", "", words)


def _read_limit(word: str) -> int | None:
    digits = word.replace(",", "").replace(".", "")
    if not digits.isdecimal() or len(digits) > len(str(_MOST_LIMIT)):
        return None
    limit = int(digits)
    return limit if _LEAST_LIMIT <= limit <= _MOST_LIMIT else None


def _complain(description: str) -> str:
    """Why a description can't be kept, or nothing; it stands in prompts, as one line."""
    if not description or len(description) > _LONGEST_DESCRIPTION:
        return wording.NO_DESCRIPTION
    reason = find_flaw(description)
    if reason is None and (secret := find_secret(description)):
        reason = f"it holds what looks like {secret}"
    return wording.BAD_DESCRIPTION.format(reason=reason) if reason else ""


def _note(connection: Connection, order: _Order, block: Block, action: str, detail: str) -> None:
    deed = Deed(
        person_id=block.person_id,
        actor=order.call.actor,
        action=action,
        detail=flatten(detail, _LONGEST_DESCRIPTION),
        created_at=order.call.now,
    )
    audit.note(connection, deed)


_WORDS: dict[str, Act] = {
    "new": _make,
    "share": _share,
    "unshare": _unshare,
    "readonly": _set_read_only,
    "limit": _set_limit,
    "describe": _describe,
    "drop": _drop,
}

COMMANDS = (SlashCommand(name="block", summary="Named memory that several may share", run=_block),)
