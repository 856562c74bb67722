"""Commands about where what is remembered comes from, and taking it back: why, undo."""

from collections.abc import Sequence

from agent_core.memory.archive import undo as undoing
from agent_core.memory.archive.history import read_named
from agent_core.memory.explanations import explain
from agent_core.memory.numbering import Register
from agent_core.memory.undo import Kept, Undone, find_newest
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, Origin
from gateway.commands import archive
from gateway.commands.memory_scope import Keeper, find_keeper, look, may_change, name_actor, view
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.outbound.composer import stand_for
from gateway.texts import memory
from gateway.texts.memory import Told
from gateway.texts.rooms import UNREADABLE


async def _why(call: Call, house: House) -> Reply:
    keeper = find_keeper(call)
    if named := read_named(call.argument):
        return await archive.why(call, house, keeper, named)
    number = _read_number(call.argument)
    if number is None:
        return Reply(text=memory.WHY_HOW)
    register = await look(call, house, keeper)
    reason = await house.database.read(lambda c: explain(c, register, number, keeper.reader))
    if reason is None:
        return Reply(text=memory.NUMBER_UNKNOWN.format(number=number))
    viewer = await view(call, house, keeper, [step.row for step in reason.steps])
    undo = stand_for(f"undo {reason.number}", memory.UNDO)
    return Reply(
        text=memory.explain(reason, viewer), buttons=() if reason.words is None else (undo,)
    )


async def _undo(call: Call, house: House) -> Reply:
    """Take a change back. Done once, if the event is read twice: the ledger knows it."""
    keeper = find_keeper(call)
    if named := read_named(call.argument):
        return await archive.undo_named(call, house, keeper, named)
    number = _read_number(call.argument)
    if number is None and call.argument:
        return Reply(text=memory.UNDO_HOW)
    register = await look(call, house, keeper)
    row = None if number is None else register.find(number)
    if number is not None and row is None:
        return Reply(text=memory.NUMBER_UNKNOWN.format(number=number))
    if number is None and (aside := await _find_aside(call, house, keeper, register)):
        return await archive.undo(call, house, keeper, aside)
    if keeper.is_room and not await may_change(call, house, row):
        return Reply(text=memory.NOT_YOUR_CHANGE)
    origin = Origin(
        actor=name_actor(call, keeper),
        now=call.now,
        evidence=call.message.text,
        call_key=f"inbox:{call.inbox_id}",
    )
    try:
        outcome = await house.memory.undo(
            keeper.person_id, keeper.slug, row.id if row else None, origin, kind=keeper.kind
        )
    except OSError as error:
        return Reply(text=UNREADABLE.format(reason=error.strerror or error))
    if isinstance(outcome, Kept):
        return Reply(text=memory.describe_kept(outcome))
    return await _tell(call, house, keeper, outcome)


async def _find_aside(
    call: Call, house: House, keeper: Keeper, register: Register
) -> LedgerEntry | None:
    """The newest change of the archive, if it is the newest of all that can be taken back, or
    what this very call has taken back before.
    """

    def look(connection: Connection) -> LedgerEntry | None:
        made = ledger.find_call(
            connection, person_id=keeper.person_id, call_key=f"inbox:{call.inbox_id}"
        )
        if made:
            found = ledger.find_row(connection, entry_id=made[0].origin.undoes or 0)
            return found[1] if found and made[0].target == "archive" else None
        newest = undoing.find_newest(connection, person_id=keeper.person_id)
        other = find_newest(connection, keeper.person_id, register.histories)
        return newest if newest and newest.id > other else None

    return await house.database.read(look)


async def _tell(call: Call, house: House, keeper: Keeper, outcome: Sequence[Undone]) -> Reply:
    register = await look(call, house, keeper)
    told = [_number(one, register) for one in outcome]
    viewer = await view(call, house, keeper, [one.undone for one in outcome])
    again = (stand_for(f"undo {told[0].again}", memory.UNDO_AGAIN),) if len(told) == 1 else ()
    return Reply(text=memory.describe_undone(told, viewer), buttons=again)


def _number(one: Undone, register: Register) -> Told:
    def tell(rows: Sequence[LedgerEntry]) -> tuple[tuple[int, str], ...]:
        others = (row for row in rows if row.id != one.undone.id)
        return tuple((register.number_of(row), row.change.after or "") for row in others)

    return Told(
        undone=one,
        number=register.number_of(one.undone),
        again=register.number_of(one.row),
        went=tell(one.derived),
        came=tell(one.revived),
    )


def _read_number(argument: str) -> int | None:
    return int(argument) if argument.isdecimal() and len(argument) < 10 else None


COMMANDS = (
    SlashCommand(name="why", summary="Where an entry of my memory comes from", run=_why),
    SlashCommand(name="undo", summary="Take back a change of my memory", run=_undo),
)
