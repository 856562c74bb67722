"""Logins of browsers: a random secret in a cookie, its hash in the database, for some hours."""

import hashlib
import secrets
from collections.abc import Callable

from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import browser_logins

SECONDS = 12 * 3600
"""A login ends after half a day, however much it is used."""
_BYTES = 32


class Logins:
    """The logins of one gateway; any process may end them."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def begin(self) -> str:
        """Store a new login and return its secret. Raises `StoreError`."""
        secret, now = secrets.token_urlsafe(_BYTES), self._now()

        def work(connection: Connection) -> None:
            browser_logins.insert(
                connection, secret_hash=_hash(secret), now=now, expires_at=now + SECONDS * 1000
            )

        await self._database.write("logins.begin", work)
        return secret

    async def is_open(self, secret: str) -> bool:
        """Return whether a secret belongs to a login that has not ended. Raises `StoreError`."""
        if not secret:
            return False
        now, secret_hash = self._now(), _hash(secret)
        found = await self._database.read(
            lambda c: browser_logins.find(c, secret_hash=secret_hash, now=now)
        )
        return found is not None

    async def end(self, secret: str) -> None:
        """End a login. Raises `StoreError`."""
        secret_hash = _hash(secret)
        await self._database.write(
            "logins.end", lambda c: browser_logins.delete(c, secret_hash=secret_hash)
        )


def _hash(secret: str) -> str:
    """Hash a secret; it is random, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
