"""The command for named memory blocks that several people or rooms share: block."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from agent_core.memory.shared import SharedList, SharedMemory
from agent_core.state.engine.database import Connection
from agent_core.state.memory.blocks import TEAM, Block
from agent_core.state.memory.ledger import Origin
from gateway.commands.memory_scope import PERSON, MemoryAccess, own_scope, refuse_unreadable
from gateway.commands.registry import Call, Effect, Handler, Outcome, Reply
from gateway.errors import Declined
from gateway.operations import blocks as operations
from gateway.operations.blocks import HERE, Asker, read_label
from gateway.operations.memory import take_undone
from gateway.outbound.command_buttons import stand_for
from gateway.texts import blocks as block_texts
from gateway.texts import memory
from gateway.texts.blocks import BlockLine
from gateway.texts.people import quote_name

_BLOCK = "block:"


def _choose(seen: tuple[SharedList, ...], label: str, *, is_owner: bool) -> SharedList | None:
    """Return the block of a name; for owners, `team` names the team's list.

    Before 2026-11-22 a block could have that name. Owners reach it as `block:team`.
    """
    named = {one.target: one for one in seen if one.person_id is not None}
    block = label if label.startswith(_BLOCK) else f"{_BLOCK}{label}"
    team = named.get(TEAM) if label == TEAM else None
    return (team if is_owner else None) or named.get(block) or team


_IN_ROOM = ("new", "share", "unshare")


_MOST_DIGITS = 9
Act = Callable[[Connection, Asker, str, str], Outcome]
"""Does a deed on the block of a name; the words after it say what."""


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
        undone = take_undone(outcome)
        rows = [one.undone for one in undone]
        viewer = await self.access.make_viewer(call, own_scope(call.person), rows)
        return Reply(text=memory.describe_shared_undone(label, undone, viewer))

    async def _block(self, call: Call) -> Reply:
        word, _, rest = call.argument.partition(" ")
        word = word.casefold()
        word = "delete" if word == operations.DROP else word
        if word == operations.UNDO and rest.strip() and not call.room:
            return await self.undo_shared(call, read_label(rest))
        if word not in _VERBS:
            return await self._show(call, read_label(call.argument))
        label, _, rest = rest.strip().partition(" ")
        name, rest = read_label(label), rest.strip()
        if call.room and (word not in _IN_ROOM or (word != "new" and _read_target(rest) != HERE)):
            return Reply(text=block_texts.ONLY_IN_DIRECT())
        asker = Asker(
            person=call.person,
            room=call.room,
            actor=call.actor,
            now=call.now,
            platforms=self.platforms,
        )
        if word == "delete" and rest.casefold() != "yes":
            return await self._ask_to_drop(asker, name)
        if word == "new":
            self.shared.expect_blocks()
        return Reply(effect=_effect(_VERBS[word], asker, name, rest))

    async def _show(self, call: Call, label: str) -> Reply:
        """List the blocks that are visible here, or show one of them with its entries."""

        def look(connection: Connection) -> list[tuple[Block, list[str]]]:
            person_id = call.person.id
            found = operations.list_for(connection, call.person, call.room)
            chosen = [block for block in found if block.label == label] if label else found
            if call.room:
                return [(one, []) for one in chosen]
            return [(one, operations.name_readers(connection, one, person_id)) for one in chosen]

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

    async def _ask_to_drop(self, asker: Asker, name: str) -> Reply:
        """Ask for confirmation. The button carries the block's number, because no label is a
        number.
        """

        def look(connection: Connection) -> tuple[Block, list[str]]:
            block = operations.find_own(connection, asker, name)
            return block, operations.name_readers(connection, block, asker.person.id)

        try:
            block, readers = await self.access.database.read(look)
        except Declined as refusal:
            return Reply(text=str(refusal))
        words = f"block delete {block.id} yes"
        button = stand_for(words, block_texts.DROP(), "danger", says_yes=True)
        return Reply(text=block_texts.ask_to_drop(block.label, readers), buttons=(button,))


def _effect(act: Act, asker: Asker, name: str, rest: str) -> Effect:
    def effect(connection: Connection) -> Outcome:
        try:
            return act(connection, asker, name, rest)
        except Declined as refusal:
            return str(refusal), []

    return effect


def _make(connection: Connection, asker: Asker, name: str, rest: str) -> Outcome:
    number, _, description = rest.partition(" ")
    return operations.make(connection, asker, name, _read_limit(number), description), []


def _share(connection: Connection, asker: Asker, name: str, rest: str) -> Outcome:
    return operations.share(connection, asker, name, _read_target(rest))


def _unshare(connection: Connection, asker: Asker, name: str, rest: str) -> Outcome:
    return operations.unshare(connection, asker, name, _read_target(rest)), []


def _set_read_only(connection: Connection, asker: Asker, name: str, rest: str) -> Outcome:
    word = rest.casefold()
    if word not in ("on", "off"):
        block = operations.find_own(connection, asker, name)
        return block_texts.ON_OR_OFF(name=block.label), []
    return operations.set_read_only(connection, asker, name, is_read_only=word == "on"), []


def _set_limit(connection: Connection, asker: Asker, name: str, rest: str) -> Outcome:
    return operations.set_limit(connection, asker, name, _read_limit(rest)), []


def _describe(connection: Connection, asker: Asker, name: str, rest: str) -> Outcome:
    return operations.describe(connection, asker, name, rest), []


def _drop(connection: Connection, asker: Asker, name: str, _: str) -> Outcome:
    return operations.drop(connection, asker, name), []


def _read_target(rest: str) -> str:
    """Return the reader that an argument names, without "with" or "from"."""
    words = " ".join(rest.split()).casefold()
    return re.sub(r"^(?:with|from) ", "", words)


def _read_limit(word: str) -> int | None:
    """Read a number of characters; None if it is none."""
    digits = word.replace(",", "").replace(".", "")
    return int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None


_VERBS: Mapping[str, Act] = dict(
    zip(
        operations.VERBS,
        (_make, _share, _unshare, _set_read_only, _set_limit, _describe, _drop),
        strict=True,
    )
)
