"""The command that tells what was spent, and what is left of the day."""

from agent_core.ids import PersonId
from agent_core.state import usage
from agent_core.state.database import Connection
from agent_core.state.usage import Charged, Line
from gateway import wording_usage
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.wording_usage import Reader, UsageReport

_MONTH = 30 * 86_400_000

_Found = tuple[list[Line], Charged, list[tuple[PersonId, str, Charged]]]


async def _usage(call: Call, house: House) -> Reply:
    person, everybody = await house.ceilings.look(call.person.id)
    # What others spent is for owners, and for nobody who reads along in a room.
    shows_house = call.person.is_owner and call.message.address.is_direct

    def look(connection: Connection) -> _Found:
        own, since = call.person.id, call.now - _MONTH
        by_person = (
            usage.charged_by_person(connection, since=everybody.day.start) if shows_house else []
        )
        return (
            usage.list_lines(connection, person_id=own, since=person.day.start),
            usage.charged_since(connection, person_id=own, since=since),
            by_person,
        )

    today, month, by_person = await house.database.read(look)
    priced = []
    for model in dict.fromkeys(line.model for line in today):
        price = house.ceilings.prices.find(model)
        priced.append((model, price.as_of if price else ""))
    report = UsageReport(
        reader=Reader(zone=call.zone, now=call.now, is_owner=call.person.is_owner),
        person=person,
        today=today,
        month=month,
        priced=priced,
        house=everybody if shows_house else None,
        people=[(name, charged) for _, name, charged in by_person],
    )
    return Reply(text=wording_usage.describe_usage(report))


COMMANDS = (SlashCommand(name="usage", summary="What was spent, and what is left", run=_usage),)
