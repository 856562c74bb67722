"""Logins of browsers: a random secret in a cookie, and its hash in the database."""

import secrets
from collections.abc import Callable

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import browser_logins
from agent_core.state.people.browser_logins import BrowserLogin
from gateway.people.console_links import hash_secret

SECONDS = 12 * 3600
"""A login lasts half a day, even while it is used."""
_BYTES = 32


class Logins:
    """The logins of one gateway. Any process may end a login."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def begin(self) -> str:
        """Store a login for a browser that has opened the printed address; return its secret.

        Raises `StoreError`.
        """
        return await self._database.write("logins.begin", self._insert, None)

    async def knows_link(self, link: str) -> bool:
        """Return whether a link would open a login now. Raises `StoreError`."""
        link_hash, now = hash_secret(link), self._now()
        found = await self._database.read(browser_logins.find_link, secret_hash=link_hash, now=now)
        return found is not None

    async def follow_link(self, link: str) -> str | None:
        """Use up a link, and return the secret of a new login; None if the link is not valid.

        Raises `StoreError`.
        """
        link_hash, now = hash_secret(link), self._now()

        def work(connection: Connection) -> str | None:
            person_id = browser_logins.use_link(connection, secret_hash=link_hash, now=now)
            return self._insert(connection, person_id) if person_id else None

        return await self._database.write("logins.follow_link", work)

    def _insert(self, connection: Connection, person_id: PersonId | None) -> str:
        secret, now = secrets.token_urlsafe(_BYTES), self._now()
        browser_logins.insert(
            connection,
            secret_hash=hash_secret(secret),
            now=now,
            expires_at=now + SECONDS * 1000,
            person_id=person_id,
        )
        return secret

    async def find(self, secret: str) -> BrowserLogin | None:
        """Return the login with a secret; None if it has ended. Raises `StoreError`."""
        if not secret:
            return None
        now, secret_hash = self._now(), hash_secret(secret)
        return await self._database.read(browser_logins.find, secret_hash=secret_hash, now=now)

    async def is_open(self, secret: str) -> bool:
        """Return whether a secret belongs to a login that has not ended. Raises `StoreError`."""
        return await self.find(secret) is not None

    async def end(self, secret: str) -> None:
        """End a login. Raises `StoreError`."""
        secret_hash = hash_secret(secret)
        await self._database.write("logins.end", browser_logins.delete, secret_hash=secret_hash)
