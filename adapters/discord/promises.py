"""Acknowledges commands and presses once they are stored, and makes answers wait for that."""

import asyncio
import logging
from collections.abc import Callable

from adapters.discord.api import Api
from adapters.discord.payloads import make_acknowledgement
from adapters.discord.places import read_place
from adapters.discord.receive import make_ticket
from adapters.discord.words import id_in
from adapters.errors import AdapterError
from adapters.untrusted import Json, inside

_log = logging.getLogger(__name__)


class Promises:
    """The acknowledgements under way. `api` gives the connection or raises `Unreachable`."""

    def __init__(self, api: Callable[[], Api]) -> None:
        self._api = api
        self._pending: dict[str, asyncio.Event] = {}

    def expect(self, interaction: Json) -> bool:
        """One is about to be stored; False if it came before and is still under way.

        Asked before it is stored: the answer may be there sooner than the acknowledgement.
        """
        interaction_id = id_in(interaction, "id")
        if interaction_id in self._pending:
            return False
        self._pending[interaction_id] = asyncio.Event()
        return True

    async def make(self, interaction: Json) -> None:
        """Acknowledge what was expected. What goes wrong is logged: the answer still may go."""
        try:
            place = read_place(inside(interaction, "channel"))
            body = make_acknowledgement(interaction, place)
            await self._api().answer_interaction(make_ticket(interaction), body)
        except (AdapterError, ValueError) as error:
            _log.warning("a command or press on Discord could not be acknowledged: %s", error)
        finally:
            self._settle(id_in(interaction, "id"))

    def give_up(self) -> None:
        """Nobody is there any more who could acknowledge; answers need not wait."""
        for interaction_id in [*self._pending]:
            self._settle(interaction_id)

    def _settle(self, interaction_id: str) -> None:
        pending = self._pending.pop(interaction_id, None)
        if pending is not None:
            pending.set()

    async def wait(self, ticket: str) -> None:
        """Return once the acknowledgement that a ticket belongs to was tried."""
        pending = self._pending.get(ticket.partition(":")[0])
        if pending is not None:
            await pending.wait()
