"""Operations on browsers' logins to the console: make a link, list logins, end all of them."""

from collections.abc import Mapping

from adapters.console.settings import find_account_name
from adapters.ids import Address, PlatformUserId
from adapters.messages import Sender
from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import browser_logins, people
from agent_core.state.people.people import Person
from gateway.chats import make_chat
from gateway.errors import Mistaken
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.login_types import EndedLogins, LinkFor, LoginLink, OpenLogin, OpenLogins
from gateway.operations.people_types import Nothing
from gateway.operations.wire import typed
from gateway.people.admission import LOCAL_PLATFORM, LOCAL_USER
from gateway.people.console_links import LINK_MINUTES, check_pages, make_link, store_link

OWNER = Sender(user_id=PlatformUserId(LOCAL_USER), display_name=find_account_name())
"""The console's only account: whoever holds the printed address, or runs the terminal."""


async def make_login_link(context: OperationContext, asked: LinkFor) -> LoginLink:
    """Make a one-time link to the pages of a person. Raises `Mistaken`."""
    slug, pages, now = asked.person, context.pages, context.now()
    if fault := check_pages(pages, is_owner=True):
        raise Mistaken(fault)

    def work(connection: Connection) -> tuple[Person, str]:
        person = _find(connection, slug)
        link = make_link(pages)
        store_link(connection, link, person_id=person.id, actor="house", now=now)
        return person, link

    person, link = await context.database.write("logins.link", work)
    return LoginLink(folder=person.slug, link=link, minutes=LINK_MINUTES)


def find_owner(connection: Connection) -> Person | None:
    """Return the person of the console's account, else the first owner."""
    console = people.find_by_account(connection, platform=LOCAL_PLATFORM, user_id=OWNER.user_id)
    return console or people.find_owner(connection)


def find_console_user(connection: Connection, person_id: PersonId) -> str:
    """Return the user on the console as whom a person writes on their pages.

    The owner's conversation is that of the terminal, too.
    """
    owner = find_owner(connection)
    return LOCAL_USER if owner is not None and owner.id == person_id else str(person_id)


def find_page_chat(connection: Connection, person_id: PersonId) -> Chat:
    """Return the chat in which a person writes on their pages; nobody else sees it."""
    user = find_console_user(connection, person_id)
    return make_chat(LOCAL_PLATFORM, Address(chat_id=user, is_direct=True))


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


async def list_logins(context: OperationContext, _: Nothing) -> OpenLogins:
    """List the open logins."""
    now = context.now()

    def look(connection: Connection) -> tuple[OpenLogin, ...]:
        names = {person.id: person.slug for person in people.list_all(connection)}
        return tuple(
            OpenLogin(
                created_at=one.created_at,
                expires_at=one.expires_at,
                folder=names.get(one.person_id, "") if one.person_id else "",
            )
            for one in browser_logins.list_open(connection, now=now)
        )

    return OpenLogins(logins=await context.database.read(look))


async def end_logins(context: OperationContext, _: Nothing) -> EndedLogins:
    """End every login and every link; open pages close within seconds."""
    ended = await context.database.write("logins.end_all", browser_logins.delete_all)
    return EndedLogins(ended=ended)


OPERATIONS: Mapping[str, Operation] = {
    "logins.link": typed(make_login_link),
    "logins.list": typed(list_logins),
    "logins.end": typed(end_logins),
}
"""The operations, by their names on the control socket."""
