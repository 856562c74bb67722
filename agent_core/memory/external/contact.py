"""How an outside memory fares: whether it is there, and how long to leave it alone if not."""

import hashlib
import logging
import secrets
import time
from dataclasses import dataclass
from typing import Literal

from agent_core.errors import ExternalMemoryError, ExternalMemoryUnavailable
from agent_core.ids import PersonId, SessionId
from agent_core.memory.contract import EntryDigest, ExternalPersonId, ExternalSessionId, MemoryProvider
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database

_log = logging.getLogger(__name__)

_FIRST, _MOST = 1.0, 300.0
"""Seconds until it is tried again, doubled each time."""

State = Literal["starting", "ok", "away"]


class ProviderHealth:
    """Known to all who speak with it, so that nobody waits for one that is not there."""

    def __init__(self, name: str, first: float = _FIRST) -> None:
        """`first` is the pause after the first failure, in seconds."""
        self._name = name
        self._first = first
        self._failures = 0
        self.state: State = "starting"
        self.detail = ""
        self._again_at = 0.0

    @property
    def pause(self) -> float:
        """Seconds for which to leave it alone still."""
        return max(0.0, self._again_at - time.monotonic())

    @property
    def is_available(self) -> bool:
        """True if it may be asked."""
        return self.state == "ok"

    def mark_available(self) -> None:
        """It answered."""
        if self.state == "away":
            _log.info("the outside memory %s is there again", self._name)
        self.state, self.detail, self._failures = "ok", "", 0

    def mark_unavailable(self, error: ExternalMemoryError | TimeoutError) -> None:
        """It did not answer: it is left alone for a while."""
        detail = str(error) or "it did not answer in time"
        if self.state != "away":
            _log.warning("the outside memory %s is away: %s", self._name, detail)
        self.state, self.detail = "away", detail
        pause = min(self._first * 2.0 ** min(self._failures, 30), _MOST)
        self._failures += 1
        wanted = error.retry_after if isinstance(error, ExternalMemoryUnavailable) else None
        self._again_at = time.monotonic() + max(pause, min(wanted or 0.0, _MOST))


_KEY = "mirror.secret"
_LENGTH = 24
"""Hex digits of a name: enough that two are never the same."""


class Pseudonyms:
    """Makes the names of one house. Without its secret nobody can tell whose a name is."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    @classmethod
    async def of(cls, database: Database) -> "Pseudonyms":
        """Those of the house of this database; its secret is made at the first call.

        Raises `StoreError`.
        """

        def work(connection: Connection) -> str:
            secret = meta.get(connection, key=_KEY)
            if secret is None:
                secret = secrets.token_hex(16)
                meta.put(connection, key=_KEY, value=secret)
            return secret

        return cls(await database.write("mirror.secret", work))

    def name_person(self, person_id: PersonId) -> ExternalPersonId:
        """The same person, the same name, whatever they call themselves."""
        return ExternalPersonId(f"person-{self._hash('person', person_id)}")

    def name_session(self, session_id: SessionId, dropped: int) -> ExternalSessionId:
        """A session, which goes on under another name each time it was forgotten outside."""
        return ExternalSessionId(f"talk-{self._hash('talk', session_id, dropped)}")

    def name_entry(self, text: str) -> EntryDigest:
        """What stands for the words of an entry."""
        return EntryDigest(self._hash("entry", text))

    def _hash(self, *parts: object) -> str:
        text = "\0".join((self._secret, *map(str, parts)))
        return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConnection:
    """One provider, the names it knows, and how it fares."""

    provider: MemoryProvider
    names: Pseudonyms
    condition: ProviderHealth
