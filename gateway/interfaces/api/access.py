"""Access by token: finds a request's person, and limits the requests per token."""

import hmac

from starlette.datastructures import Headers

from agent_core.state.engine.database import Connection
from agent_core.state.people import api_tokens
from agent_core.state.people.api_tokens import ApiToken
from agent_core.state.people.token_scopes import TokenScope
from gateway.app.gateway import Gateway
from gateway.interfaces.api.responses import find_bearer
from gateway.operations.logins import find_owner
from gateway.people.console_links import hash_secret
from gateway.turns.client_calls import Client, ClientRate

_OWNER = "owner"
"""The name of the token that `talaria run` prints."""


class ApiAccess:
    """Finds the person of a token."""

    def __init__(self, gateway: Gateway, owner_token: str) -> None:
        self._database = gateway.database
        self._identity = gateway.identity
        self._now = gateway.now
        self._owner_token = owner_token
        self._rate = ClientRate()

    async def find(self, headers: Headers, scope: TokenScope) -> Client | None:
        """Return the client of a request's bearer token, and note that the token was used.

        The token that `talaria run` prints opens the API for the owner. Raises `StoreError`.
        """
        secret = find_bearer(headers)
        if not secret:
            return None
        if scope != "mcp" and self._is_printed(secret):
            owner = await self._database.read(find_owner)
            return Client(person_id=owner.id, name=_OWNER) if owner else None
        secret_hash, now = hash_secret(secret), self._now()

        def look(connection: Connection) -> ApiToken | None:
            found = api_tokens.find(connection, secret_hash=secret_hash, scope=scope)
            if found is None or scope == "mcp":
                return found
            return found if self._identity.find_admitted(connection, found.person_id) else None

        token = await self._database.read(look)
        if token is None:
            return None

        def note(connection: Connection) -> None:
            api_tokens.note_use(connection, token=token, now=now)

        if token.is_use_due(now):
            await self._database.write("tokens.use", note)
        return Client(person_id=token.person_id, name=token.name)

    def is_unowned(self, headers: Headers) -> bool:
        """Return whether a refused request has the printed token. It was refused because there is
        no owner yet.
        """
        return self._is_printed(find_bearer(headers))

    def _is_printed(self, secret: str) -> bool:
        given = secret.encode("utf-8", "replace")
        return hmac.compare_digest(given, self._owner_token.encode())

    def admit(self, client: Client) -> bool:
        """Count a request; False if there were too many in the last minute."""
        return self._rate.admit(client, self._now())
