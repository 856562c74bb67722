"""Takes back the newest change of what several remember together: a block's, or the team's."""

from agent_core.memory.shared import SharedList
from agent_core.memory.undoing import Kept
from agent_core.state.blocks import TEAM
from agent_core.state.ledger import Origin
from gateway import wording_blocks, wording_memory
from gateway.commands.keeper import PERSON, own, view
from gateway.commands.registry import Call, House, Reply
from gateway.wording_people import quote_name
from gateway.wording_rooms import UNREADABLE

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
        return Reply(text=wording_memory.describe_kept(outcome))
    rows = [one.undone for one in outcome]
    viewer = await view(call, house, own(call.person), rows)
    return Reply(text=wording_memory.describe_shared_undone(label, outcome, viewer))


def _choose(seen: tuple[SharedList, ...], label: str, *, is_owner: bool) -> SharedList | None:
    """The block of a name, and for owners the team's list for `team`.

    Before 2026-11-22 a block could be called that: to owners it is `block:team`, as every block
    may be called here.
    """
    named = {one.target: one for one in seen if one.person_id is not None}
    block = label if label.startswith(_BLOCK) else f"{_BLOCK}{label}"
    team = named.get(TEAM) if label == TEAM else None
    return (team if is_owner else None) or named.get(block) or team
