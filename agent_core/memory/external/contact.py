"""Health, backoff and pseudonyms of an external memory provider."""

import hashlib
import logging
import secrets
import time
from dataclasses import dataclass
from typing import Literal

from agent_core.errors import ExternalMemoryError, ExternalMemoryUnavailable
from agent_core.ids import PersonId, SessionId
from agent_core.memory.contract import (
    EntryDigest,
    ExternalPersonId,
    ExternalSessionId,
    MemoryProvider,
)
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database

_log = logging.getLogger(__name__)

_FIRST, _MOST = 1.0, 300.0
"""Seconds until the next attempt: first `_FIRST`, doubled after each failure up to `_MOST`."""

ContactState = Literal["starting", "ok", "away"]


class ProviderHealth:
    """The health of the provider, shared so that no caller waits during an outage."""

    def __init__(self, name: str, first: float = _FIRST) -> None:
        """`first` is the pause after the first failure, in seconds."""
        self._name = name
        self._first = first
        self._failures = 0
        self.state: ContactState = "starting"
        self.detail = ""
        self._again_at = 0.0

    @property
    def pause(self) -> float:
        """Seconds until the next attempt is allowed."""
        return max(0.0, self._again_at - time.monotonic())

    @property
    def is_available(self) -> bool:
        """True if the provider may be called."""
        return self.state == "ok"

    def mark_available(self) -> None:
        """Record a success."""
        if self.state == "away":
            _log.info("the external memory %s is available again", self._name)
        self.state, self.detail, self._failures = "ok", "", 0

    def mark_unavailable(self, error: ExternalMemoryError | TimeoutError) -> None:
        """Record a failure and start the backoff."""
        detail = str(error) or "it did not answer in time"
        if self.state != "away":
            _log.warning("the external memory %s is unavailable: %s", self._name, detail)
        self.state, self.detail = "away", detail
        pause = min(self._first * 2.0 ** min(self._failures, 30), _MOST)
        self._failures += 1
        wanted = error.retry_after if isinstance(error, ExternalMemoryUnavailable) else None
        self._again_at = time.monotonic() + max(pause, min(wanted or 0.0, _MOST))


_KEY = "mirror.secret"
_LENGTH = 24
"""Hex digits of a pseudonym; 96 bits make collisions implausible."""


class Pseudonyms:
    """Creates stable pseudonyms. They reveal nothing without the deployment's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    @classmethod
    async def of(cls, database: Database) -> "Pseudonyms":
        """Load the deployment's secret; the first call creates it. Raises `StoreError`."""

        def work(connection: Connection) -> str:
            secret = meta.get(connection, key=_KEY)
            if secret is None:
                secret = secrets.token_hex(16)
                meta.put(connection, key=_KEY, value=secret)
            return secret

        return cls(await database.write("mirror.secret", work))

    def name_person(self, person_id: PersonId) -> ExternalPersonId:
        """Return the stable pseudonym of a person."""
        return ExternalPersonId(f"person-{self._hash('person', person_id)}")

    def name_session(self, session_id: SessionId, dropped: int) -> ExternalSessionId:
        """Return the pseudonym of a session.

        `dropped` counts how often the provider had to delete it; each time, the pseudonym changes.
        """
        return ExternalSessionId(f"talk-{self._hash('talk', session_id, dropped)}")

    def name_entry(self, text: str) -> EntryDigest:
        """Return the digest of an entry's text."""
        return EntryDigest(self._hash("entry", text))

    def _hash(self, *parts: object) -> str:
        text = "\0".join((self._secret, *map(str, parts)))
        return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConnection:
    """A provider with its pseudonyms and its health."""

    provider: MemoryProvider
    names: Pseudonyms
    condition: ProviderHealth
