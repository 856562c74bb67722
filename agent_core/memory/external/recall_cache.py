"""A cache of the provider's view of people, prefetched when a turn begins."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

from agent_core.errors import ExternalMemoryError, ExternalMemoryUnavailable
from agent_core.ids import PersonId
from agent_core.memory.external.contact import ProviderConnection
from agent_core.transcript import quote

PATIENCE = 1.5
"""Seconds that a turn waits if the person has no cached recall."""
_LONGEST = 10.0
"""Seconds until a call to the provider times out."""
_FRESH = 120.0
"""Seconds until a cached recall is refreshed in the background."""
_MOST_PEOPLE = 4096
_CHARACTERS_A_TOKEN = 4
LABEL = "An external memory says of them (may be wrong or old): "


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    text: str
    at: float
    """The time of the answer, in seconds of the monotonic clock."""


class RecallCache:
    """Calls the provider in the background and caches its answers. `tokens` limits their length."""

    def __init__(
        self,
        contact: ProviderConnection,
        *,
        tokens: int,
        patience: float = PATIENCE,
    ) -> None:
        self._provider = contact.provider
        self._condition = contact.condition
        self._names = contact.names
        self._most = tokens * _CHARACTERS_A_TOKEN
        self._patience = patience
        self._heard: OrderedDict[PersonId, _Heard] = OrderedDict()
        self._asking: dict[PersonId, asyncio.Task[None]] = {}
        self._generation = 0
        self._is_slow = False
        """True after a turn waited in vain. Until the provider answers, no other turn waits."""

    def prefetch(self, person_id: PersonId) -> None:
        """Fetch the recall of a person whose turn is being prepared, if no fresh one is cached."""
        heard = self._heard.get(person_id)
        if heard is None or time.monotonic() - heard.at > _FRESH:
            self.ask(person_id)

    async def look_up(self, person_id: PersonId) -> str:
        """Return the recall of a person after `prefetch`; "" if unknown or late."""
        heard = self._heard.get(person_id)
        asking = self._asking.get(person_id)
        if heard is None and asking and not self._is_slow:
            done, _ = await asyncio.wait({asking}, timeout=self._patience)
            self._is_slow = not done
            heard = self._heard.get(person_id)
        return heard.text if heard else ""

    def write(self, text: str) -> str:
        """Format the fact line. The recall is quoted as JSON so that it can't imitate a fact."""
        return f"{LABEL}{quote(text, self._most)}"

    def forget(self) -> None:
        """Drop all cached recalls."""
        self._generation += 1
        self._heard.clear()

    async def close(self) -> None:
        """Cancel all pending calls."""
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def ask(self, person_id: PersonId) -> None:
        """Call the provider, unless it is unavailable or a call for this person is pending."""
        if person_id in self._asking or not self._condition.is_available:
            return
        task = asyncio.create_task(self._hear(person_id), name="external-memory-recall")
        self._asking[person_id] = task
        task.add_done_callback(lambda _: self._asking.pop(person_id, None))

    async def _hear(self, person_id: PersonId) -> None:
        generation = self._generation
        try:
            async with asyncio.timeout(_LONGEST):
                text = await self._provider.recall(self._names.name_person(person_id))
        except (ExternalMemoryUnavailable, TimeoutError) as error:
            self._condition.mark_unavailable(error)
            return
        except ExternalMemoryError:
            text = ""  # the provider knows nothing about this person
        self._is_slow = False
        if generation == self._generation:
            self._heard[person_id] = _Heard(text=text.strip(), at=time.monotonic())
            self._heard.move_to_end(person_id)
            if len(self._heard) > _MOST_PEOPLE:
                self._heard.popitem(last=False)
