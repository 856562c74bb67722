"""What commands about memory do with the archive: list it, explain a note, take a change back."""

from functools import partial

from agent_core.errors import ToolArgumentError
from agent_core.ids import ArchiveId, PersonId
from agent_core.memory.archive import search, writes
from agent_core.memory.archive import undo as undoing
from agent_core.memory.archive.entries import name_entry
from agent_core.memory.archive.history import Chronicle, Named, explain, open_chronicle, show
from agent_core.memory.archive.undo import Overtaken
from agent_core.memory.undo import Undone
from agent_core.recall.query import read_query
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive
from agent_core.state.memory.archive import Archived, Drawer
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.tools.clock import local_time
from gateway.commands.memory_scope import Keeper, may_change, name_actor, view
from gateway.commands.registry import Call, House, Reply
from gateway.outbound.composer import stand_for
from gateway.texts import memory
from gateway.texts.memory import Aside, Told
from gateway.texts.rooms import describe_forgotten

_MOST_BELOW = 3
"""Notes that are listed below what is always in the prompt."""
_MOST_LISTED = 12
_MOST_COUNTED = 100_000


async def look_aside(house: House, keeper: Keeper) -> Aside:
    """How much is kept in an archive, with its newest notes. Raises `StoreError`."""
    return await house.database.read(lambda c: _list_newest(c, keeper.person_id, _MOST_BELOW))


async def find_aside(call: Call, house: House, keeper: Keeper, words: str) -> Reply:
    """The notes that fit some words, or the newest ones."""
    query = read_query(words)

    def look(connection: Connection) -> Aside:
        if not query.asked:
            return _list_newest(connection, keeper.person_id, _MOST_LISTED)
        drawer = Drawer(person_id=keeper.person_id)
        found = search.find(connection, drawer, query, lambda moment: local_time(moment, call.zone))
        hits = [hit.entry for hit in found.hits[:_MOST_LISTED]]
        return Aside(notes=[_tell(entry) for entry in hits], count=found.count)

    aside = await house.database.read(look)
    if not aside.notes:
        return Reply(text=memory.ARCHIVE_NO_HIT if query.asked else memory.ARCHIVE_EMPTY)
    return Reply(text=memory.list_archive(aside))


async def why(call: Call, house: House, keeper: Keeper, named: Named) -> Reply:
    """Where a note comes from, and all that became of it."""
    chronicle = await _find(house, keeper, named)
    if chronicle is None or chronicle.find(named.change) is None:
        return _not_there(named)
    reason = await house.database.read(lambda c: explain(c, chronicle, keeper.reader))
    viewer = await view(call, house, keeper, [step.row for step in reason.steps])
    undo = stand_for(f"undo {reason.number}", memory.UNDO)
    return Reply(
        text=memory.explain(reason, viewer), buttons=() if reason.words is None else (undo,)
    )


async def undo_named(call: Call, house: House, keeper: Keeper, named: Named) -> Reply:
    """Take a change back by its name."""
    chronicle = await _find(house, keeper, named)
    row = chronicle.find(named.change) if chronicle else None
    return await undo(call, house, keeper, row) if row else _not_there(named)


async def undo(call: Call, house: House, keeper: Keeper, row: LedgerEntry) -> Reply:
    """Take a change of the archive back, once if the event is read twice."""
    if keeper.is_room and not await may_change(call, house, row):
        return Reply(text=memory.NOT_YOUR_CHANGE)
    origin = _sign(call, keeper)
    work = partial(undoing.undo, person_id=keeper.person_id, row=row, origin=origin)
    try:
        made = await house.database.write("archive.undo", work)
    except Overtaken as error:
        return Reply(text=memory.describe_fault(error.fault))
    house.lanes.forget_talks()  # they are told how much there is
    told = await house.database.read(lambda c: _number(c, keeper.person_id, row, made))
    viewer = await view(call, house, keeper, [row])
    again = stand_for(f"undo {told.again}", memory.UNDO_AGAIN)
    return Reply(text=memory.describe_undone([told], viewer), buttons=(again,))


async def forget(call: Call, house: House, keeper: Keeper, named: Named) -> Reply:
    """Drop a note; the ledger is the record of that, and can bring it back."""
    chronicle = await _find(house, keeper, named)
    if chronicle is None or named.change is not None:
        return _not_there(named)
    if keeper.is_room and not await may_change(call, house, chronicle.rows[-1]):
        return Reply(text=memory.NOT_YOUR_CHANGE)
    work = partial(
        writes.delete,
        person_id=keeper.person_id,
        archive_id=named.id,
        origin=_sign(call, keeper),
    )
    try:
        await house.database.write("archive.forget", work)
    except ToolArgumentError:
        return _not_there(named)
    house.lanes.forget_talks()
    after = await _find(house, keeper, named)
    if after is None:
        raise AssertionError("the row that was just written is there")
    row = after.rows[-1]
    button = stand_for(f"undo {after.name(row)}", memory.UNDO)
    return Reply(text=describe_forgotten(show(row).change.before or ""), buttons=(button,))


async def _find(house: House, keeper: Keeper, named: Named) -> Chronicle | None:
    return await house.database.read(
        lambda c: open_chronicle(c, person_id=keeper.person_id, archive_id=named.id)
    )


def _sign(call: Call, keeper: Keeper) -> Origin:
    return Origin(
        actor=name_actor(call, keeper),
        now=call.now,
        evidence=call.message.text,
        call_key=f"inbox:{call.inbox_id}",
    )


def _number(
    connection: Connection, person_id: PersonId, row: LedgerEntry, made: LedgerEntry
) -> Told:
    """What was done, with the names of both changes."""
    done = Undone(undone=show(row), row=show(made), derived=(), revived=())
    names = [_name(connection, person_id, one) for one in (row, made)]
    return Told(undone=done, number=names[0], again=names[1], went=(), came=())


def _name(connection: Connection, person_id: PersonId, row: LedgerEntry) -> str:
    place = ArchiveId(row.change.position)
    chronicle = open_chronicle(connection, person_id=person_id, archive_id=place)
    return chronicle.name(row) if chronicle else name_entry(place)


def _list_newest(connection: Connection, person_id: PersonId, most: int) -> Aside:
    ids = archive.list_holders(connection, drawer=Drawer(person_id=person_id), limit=most)
    entries = archive.list_entries(connection, person_id=person_id, archive_ids=ids)
    count = archive.count(connection, person_id=person_id, most=_MOST_COUNTED)
    return Aside(notes=[_tell(entry) for entry in entries], count=count)


def _tell(entry: Archived) -> tuple[str, str]:
    tags = f" ({', '.join(entry.tags)})" if entry.tags else ""
    return name_entry(entry.id), f"{entry.text}{tags}"


def _not_there(named: Named) -> Reply:
    return Reply(text=memory.NAME_UNKNOWN.format(name=name_entry(named.id)))
