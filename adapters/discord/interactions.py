"""Interactions: acknowledges them, and answers by their token."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from adapters.abilities import MenuEntry
from adapters.discord.api import Api
from adapters.discord.payloads import EPHEMERAL, SILENT, make_acknowledgement, make_content
from adapters.discord.places import read_place
from adapters.discord.receive import NO_MESSAGE, make_ticket
from adapters.discord.render import render
from adapters.discord.snowflakes import id_in, time_of
from adapters.errors import AdapterError, ChatGone, MessageGone, Unsure
from adapters.messages import OutboundMessage
from adapters.toolkit.text import Json, inside, number_in, words_in

_log = logging.getLogger(__name__)


class Acknowledgements:
    """Acknowledgements in progress. `api` returns the connection or raises `Unreachable`."""

    def __init__(self, api: Callable[[], Api]) -> None:
        self._api = api
        self._pending: dict[str, asyncio.Event] = {}
        self._transient: frozenset[str] = frozenset()
        """Commands whose reply is ephemeral in the direct chat, too."""

    def note_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Note the transient commands, for the acknowledgements from now on."""
        self._transient = frozenset(entry.name for entry in entries if entry.is_transient)

    def expect(self, interaction: Json) -> bool:
        """Register an interaction before it is stored; return False if it is already in progress.

        The answer may be ready before the acknowledgement.
        """
        interaction_id = id_in(interaction, "id")
        if interaction_id in self._pending:
            return False
        self._pending[interaction_id] = asyncio.Event()
        return True

    async def make(self, interaction: Json) -> None:
        """Acknowledge a registered interaction. Only logs failures, because the answer may still
        succeed.
        """
        try:
            place = read_place(inside(interaction, "channel"))
            body = make_acknowledgement(interaction, place, transient=self._transient)
            await self._api().answer_interaction(make_ticket(interaction), body)
        except (AdapterError, ValueError) as error:
            _log.warning("a command or press on Discord could not be acknowledged: %s", error)
        finally:
            self._finish(id_in(interaction, "id"))

    def give_up(self) -> None:
        """Release all waiting answers, because no connection is left for acknowledgements."""
        for interaction_id in [*self._pending]:
            self._finish(interaction_id)

    def _finish(self, interaction_id: str) -> None:
        pending = self._pending.pop(interaction_id, None)
        if pending is not None:
            pending.set()

    async def wait(self, ticket: str) -> None:
        """Wait until the acknowledgement of a ticket's interaction was attempted."""
        pending = self._pending.get(ticket.partition(":")[0])
        if pending is not None:
            await pending.wait()


_LASTS = 15 * 60
"""Seconds for which an interaction token is valid."""
_ORIGINAL = "@original"
_PROMISED = 1 << 7
"""Message flag of a deferred answer that is still pending."""


def check(ticket: str) -> None:
    """Raise `ChatGone` if the ticket has expired."""
    interaction_id = ticket.partition(":")[0]
    if not interaction_id.isdecimal() or time.time() - time_of(interaction_id) / 1000 > _LASTS:
        raise ChatGone(
            "The 15 minutes in which Discord lets a command be answered here are over. Use the "
            "command again."
        )


async def send(api: Api, ticket: str, message: OutboundMessage) -> str:
    """Fill the deferred answer, or send a follow-up. Raises `AdapterError`.

    Filling is idempotent. A follow-up is not: Discord supports no nonce there. Outside of the
    direct chat, a follow-up is ephemeral, like the deferred answer.
    """
    check(ticket)
    body = make_content(message)
    if not message.address.is_direct:
        body["flags"] |= EPHEMERAL
    if message.is_silent:
        body["flags"] |= SILENT
    if message.file is not None:
        body["attachments"] = [{"id": 0, "filename": message.file.name}]
    method, which = "POST", ""
    if await _is_promised(api, ticket):
        method, which = "PATCH", _ORIGINAL
    return words_in(await api.hook(method, ticket, which, body=body, file=message.file), "id")


async def edit(api: Api, ticket: str, message: OutboundMessage, message_id: str) -> None:
    """Replace a message's content. Raises `AdapterError`."""
    check(ticket)
    await api.hook("PATCH", ticket, message_id, body=make_content(message))


async def delete(api: Api, ticket: str, message_id: str) -> None:
    """Delete a message. Raises `AdapterError`."""
    check(ticket)
    await api.hook("DELETE", ticket, message_id)


async def find(api: Api, ticket: str, message: OutboundMessage) -> str | None:
    """Return the deferred answer's id if it is this message; None while the answer is pending.

    Raises `Unsure` for follow-ups, which Discord does not show to the bot.
    """
    check(ticket)
    original = await _original(api, ticket)
    if original is not None and number_in(original, "flags", default=0) & _PROMISED:
        return None
    if original is not None and words_in(original, "content").strip() == render(message.text):
        return words_in(original, "id")
    raise Unsure("Discord does not show what was said there.")


async def _is_promised(api: Api, ticket: str) -> bool:
    original = await _original(api, ticket)
    return original is not None and bool(number_in(original, "flags", default=0) & _PROMISED)


async def _original(api: Api, ticket: str) -> Json | None:
    try:
        return await api.hook("GET", ticket, _ORIGINAL)
    except MessageGone:
        return None


def names_no_message(message_id: str) -> bool:
    """Return True for a command's id: a command is no message and can have no reaction."""
    return message_id.startswith(NO_MESSAGE)
