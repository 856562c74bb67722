"""The names under which an outside memory knows people, talks and entries; they tell nothing."""

import hashlib
import secrets

from agent_core.ids import PersonId, SessionId
from agent_core.memory.contract import Digest, Talk, Who
from agent_core.state import meta
from agent_core.state.database import Connection, Database

_KEY = "mirror.secret"
_LENGTH = 24
"""Hex digits of a name: enough that two are never the same."""


class Names:
    """Makes the names of one house. Without its secret nobody can tell whose a name is."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    @classmethod
    async def of(cls, database: Database) -> "Names":
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

    def name_person(self, person_id: PersonId) -> Who:
        """The same person, the same name, whatever they call themselves."""
        return Who(f"person-{self._hash('person', person_id)}")

    def name_talk(self, session_id: SessionId, dropped: int) -> Talk:
        """A session, which goes on under another name each time it was forgotten outside."""
        return Talk(f"talk-{self._hash('talk', session_id, dropped)}")

    def name_entry(self, text: str) -> Digest:
        """What stands for the words of an entry."""
        return Digest(self._hash("entry", text))

    def _hash(self, *parts: object) -> str:
        text = "\0".join((self._secret, *map(str, parts)))
        return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
