"""Operations on browsers' logins to the console: make a link, list logins, end all of them."""

from collections.abc import Mapping
from typing import Any

from agent_core.state.engine.database import Connection
from agent_core.state.people import browser_logins, people
from agent_core.state.people.people import Person
from gateway.errors import Mistaken
from gateway.operations.contract import Answer, Operation, OperationContext, find_person
from gateway.people.admission import LOCAL_PLATFORM
from gateway.people.console_links import LINK_MINUTES, check_pages, make_link

_LOCAL = "local"
"""The console's only account."""


async def make_login_link(context: OperationContext, asked: Answer) -> Answer:
    """Make a one-time link to the pages of a person; "" means the owner. Raises `Mistaken`."""
    slug, pages, now = asked.get("person", ""), context.pages, context.now()
    if not isinstance(slug, str):
        raise Mistaken("The person is a text.")
    if fault := check_pages(pages, is_owner=True):
        raise Mistaken(fault)

    def work(connection: Connection) -> tuple[Person, str]:
        person = _find(connection, slug)
        link = make_link(connection, person_id=person.id, pages=pages, actor="house", now=now)
        return person, link

    person, link = await context.database.write("logins.link", work)
    return {"folder": person.slug, "link": link, "minutes": LINK_MINUTES}


def find_owner(connection: Connection) -> Person | None:
    """Return the person of the console's account, else the first owner."""
    console = people.find_by_account(connection, platform=LOCAL_PLATFORM, user_id=_LOCAL)
    return console or people.find_owner(connection)


def _find(connection: Connection, slug: str) -> Person:
    if not slug:
        owner = find_owner(connection)
        if owner is None:
            raise Mistaken(
                "Nobody has talked to Talaria yet; send it a message first, or open the address"
                " that `talaria run` prints."
            )
        return owner
    return find_person(connection, slug)


async def list_logins(context: OperationContext, _: Answer) -> Answer:
    """List the open logins, with their times in milliseconds UTC.

    `folder` is the person's folder name; "" for a login from the printed address.
    """
    now = context.now()

    def look(connection: Connection) -> list[dict[str, Any]]:
        names = {person.id: person.slug for person in people.list_all(connection)}
        return [
            {
                "created_at": one.created_at,
                "expires_at": one.expires_at,
                "folder": names.get(one.person_id, "") if one.person_id else "",
            }
            for one in browser_logins.list_open(connection, now=now)
        ]

    return {"logins": await context.database.read(look)}


async def end_logins(context: OperationContext, _: Answer) -> Answer:
    """End every login and every link; open pages close within seconds."""
    return {"ended": await context.database.write("logins.end_all", browser_logins.delete_all)}


OPERATIONS: Mapping[str, Operation] = {
    "logins.link": make_login_link,
    "logins.list": list_logins,
    "logins.end": end_logins,
}
"""The operations, by their names on the control socket."""
