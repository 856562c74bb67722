"""Faults of the emulated Bot API, by name."""

import math
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.emulators.telegram_texts import Refusal

Moment = Literal["answer", "drop", "lose", "hang"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A kind of fault.

    "answer": nothing is applied and `status` with `body` is answered. "drop": nothing is
    applied and the connection breaks. "lose": the call is applied, then the connection breaks.
    "hang": nothing is applied and no answer ever comes.
    """

    moment: Moment
    status: int = 200
    body: dict[str, Any] | str = ""


def _refused(status: int, description: str, **parameters: Any) -> Fault:
    body: dict[str, Any] = {"ok": False, "error_code": status, "description": description}
    if parameters:
        body["parameters"] = parameters
    return Fault(moment="answer", status=status, body=body)


def retry_after(seconds: int) -> Fault:
    """429 with the wait that Telegram asks for."""
    text = f"Too Many Requests: retry after {seconds}"
    return _refused(429, text, retry_after=seconds)


def http(status: int) -> Fault:
    """An error page of a proxy, not of the Bot API."""
    return Fault(moment="answer", status=status, body=f"<html><h1>{status}</h1></html>")


def internal(status: int = 500) -> Fault:
    """An internal error in the Bot API's format."""
    return _refused(status, "Internal Server Error: restart")


def blocked() -> Fault:
    """403: the user stopped the bot."""
    return _refused(403, "Forbidden: bot was blocked by the user")


def refused(description: str, status: int = 400, **parameters: Any) -> Fault:
    """Any error response, in Telegram's words."""
    return _refused(status, description, **parameters)


def garbage() -> Fault:
    """200 with a body that is not JSON."""
    return Fault(moment="answer", status=200, body="It works!")


@dataclass(kw_only=True)
class ChatLimit:
    """A bucket per chat: `burst` messages at once, then one every `interval` seconds."""

    burst: int
    interval: float = 1.0
    refused: int = 0
    _full_at: dict[str, float] = field(default_factory=dict)

    def take(self, chat_id: str) -> None:
        """Count a new message. Raises `Refusal` with the whole seconds to wait."""
        now = time.monotonic()
        full_at = max(self._full_at.get(chat_id, now), now)
        wait = full_at - (self.burst - 1) * self.interval - now
        if wait > 0:
            self.refused += 1
            seconds = math.ceil(wait)
            text = f"Too Many Requests: retry after {seconds}"
            raise Refusal(429, text, retry_after=seconds)
        self._full_at[chat_id] = full_at + self.interval


DROP = Fault(moment="drop")
LOSE = Fault(moment="lose")
HANG = Fault(moment="hang")
