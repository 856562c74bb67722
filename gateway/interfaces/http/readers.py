"""Finds who reads a page, and the chat in which they write there."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from adapters.ids import Address
from agent_core.chats import Chat
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Person
from gateway.app.gateway import Gateway
from gateway.chats import make_chat
from gateway.interfaces.pages.routes import FindLogin
from gateway.operations.logins import find_console_user, find_owner
from gateway.people.admission import LOCAL_PLATFORM, LOCAL_USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Whoever is logged in; `person` is None before the first message to a new home.

    `user` names their conversation at the console's socket. The owner's is that of the terminal.
    """

    person: Person | None
    user: str

    @property
    def chat(self) -> Chat:
        """The chat of the page."""
        return make_chat(LOCAL_PLATFORM, Address(chat_id=self.user, is_direct=True))


class Readers:
    """Looks up each request's login again, so that a lost right counts at once."""

    def __init__(self, gateway: Gateway, find_login: FindLogin) -> None:
        self._database = gateway.database
        self._identity = gateway.identity
        self._find_login = find_login

    async def find(self, request: HTTPConnection) -> Reader | None:
        """Return the reader; None if the login has ended or the person may not talk any more.

        Raises `StoreError`.
        """
        login = await self._find_login(request)
        if login is None:
            return None
        person_id = login.person_id

        def look(connection: Connection) -> Reader | None:
            if person_id is None:
                return Reader(person=find_owner(connection), user=LOCAL_USER)
            person = self._identity.find_admitted(connection, person_id)
            user = find_console_user(connection, person_id)
            return Reader(person=person, user=user) if person else None

        return await self._database.read(look)
