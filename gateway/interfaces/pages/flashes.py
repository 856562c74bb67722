"""Notes that outlast a redirect: said once, on the page that follows a form."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_core.ids import PersonId

_LASTS = 600_000
"""Milliseconds."""
_MOST = 200
FLASH = "done"
"""The query's field that names a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash:
    """A sentence about what a form did, and values for the page that follows."""

    note: str
    fields: Mapping[str, Any]
    template: str = ""
    """The page of a rejected form. It stays for a while: a reload or Back shows it again."""


class Flashes:
    """Keeps notes in memory only: they may contain a secret that is shown once."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._kept: dict[str, tuple[PersonId, int, Flash]] = {}

    def keep(self, person_id: PersonId, flash: Flash) -> str:
        """Keep a note for a person, and return the name under which it is taken."""
        now = self._now()
        self._kept = {name: one for name, one in self._kept.items() if one[1] > now}
        while len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        name = secrets.token_urlsafe(12)
        self._kept[name] = (person_id, now + _LASTS, flash)
        return name

    def take(self, person_id: PersonId, name: str) -> Flash | None:
        """Return a note of a person, once; None if it is gone or somebody else's.

        A rejected form is returned until its time is over.
        """
        found = self._kept.get(name)
        if found is None or found[0] != person_id or found[1] <= self._now():
            return None
        if not found[2].template:
            del self._kept[name]
        return found[2]
