"""Answers by the right that a command gave, where the bot may not write by itself."""

import asyncio
import logging
import time
from collections.abc import Callable

from adapters.discord.api import Api
from adapters.discord.payloads import SILENT, make_acknowledgement, make_content
from adapters.discord.places import read_place
from adapters.discord.receive import NO_MESSAGE, make_ticket
from adapters.discord.render import render
from adapters.discord.snowflakes import id_in, time_of
from adapters.errors import AdapterError, ChatGone, MessageGone, Unsure
from adapters.messages import OutboundMessage
from adapters.toolkit.text import Json, inside, number_in, words_in

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


_LASTS = 15 * 60
"""Seconds for which Discord lets a command be answered (interaction tokens)."""
_ORIGINAL = "@original"
_PROMISED = 1 << 7
"""Flag of an answer that was promised and is not there yet."""


def check(ticket: str) -> None:
    """Raises `ChatGone` if it has run out."""
    interaction_id = ticket.partition(":")[0]
    if not interaction_id.isdecimal() or time.time() - time_of(interaction_id) / 1000 > _LASTS:
        raise ChatGone(
            "The 15 minutes in which Discord lets a command be answered here are over. Use the "
            "command again."
        )


async def send(api: Api, ticket: str, message: OutboundMessage) -> str:
    """Keep the promise that was made, or say one thing more. Raises `AdapterError`.

    Keeping it may be repeated. What comes after it may not: Discord knows no nonce there.
    """
    check(ticket)
    body = make_content(message)
    if message.is_silent:
        body["flags"] |= SILENT
    if message.file is not None:
        body["attachments"] = [{"id": 0, "filename": message.file.name}]
    method, which = "POST", ""
    if await _is_promised(api, ticket):
        method, which = "PATCH", _ORIGINAL
    return words_in(await api.hook(method, ticket, which, body=body, file=message.file), "id")


async def edit(api: Api, ticket: str, message: OutboundMessage, message_id: str) -> None:
    """Make a message read so. Raises `AdapterError`."""
    check(ticket)
    await api.hook("PATCH", ticket, message_id, body=make_content(message))


async def delete(api: Api, ticket: str, message_id: str) -> None:
    """Take a message away. Raises `AdapterError`."""
    check(ticket)
    await api.hook("DELETE", ticket, message_id)


async def find(api: Api, ticket: str, message: OutboundMessage) -> str | None:
    """The promised answer if it is this message, None while it is still promised.

    Raises `Unsure` for what came after it: Discord does not show that to the bot.
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
    """True for the id of a command, which is no message that could be reacted to."""
    return message_id.startswith(NO_MESSAGE)
