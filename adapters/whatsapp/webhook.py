"""Reads Meta's requests: the handshake, the signature over the raw bytes, the events in them."""

import hashlib
import hmac
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.abilities import WebAnswer, WebRequest
from adapters.ids import EventId
from adapters.messages import DeliveryReport, RawEvent
from adapters.toolkit.text import Json, inside, make_unreadable, parts, text_in, words_in
from adapters.whatsapp.deliveries import spell_mark
from adapters.whatsapp.errors import read_details
from adapters.whatsapp.receive import (
    find_address,
    pack,
    pack_status,
    read_status,
    read_time,
)
from adapters.whatsapp.settings import WhatsAppSettings

MOST_BYTES = 4_000_000
"""Meta sends at most 3 MB (docs: webhooks)."""
_log = logging.getLogger(__name__)
_FALSE_TOKEN = "The verify token is not that of WHATSAPP_VERIFY_TOKEN."  # noqa: S105 - a sentence
_UNSIGNED = "The request does not carry Meta's signature with the app's secret."


def shake_hands(request: WebRequest, settings: WhatsAppSettings) -> WebAnswer:
    """Answer the question with which Meta verifies the callback URL."""
    given = request.query.get("hub.verify_token", "").encode("utf-8", "surrogateescape")
    is_right = hmac.compare_digest(given, settings.verify_token.encode())
    if request.query.get("hub.mode") != "subscribe" or not is_right:
        return WebAnswer(status=403, text=_FALSE_TOKEN)
    return WebAnswer(status=200, text=request.query.get("hub.challenge", ""))


def refuse(request: WebRequest, settings: WhatsAppSettings) -> WebAnswer | None:
    """Return the refusal of a request that Meta did not sign; None for one that it signed."""
    digest = hmac.new(settings.app_secret.encode(), request.body, hashlib.sha256).hexdigest()
    given = request.headers.get("x-hub-signature-256", "")
    signed = hmac.compare_digest(
        f"sha256={digest}".encode(), given.encode("utf-8", "surrogateescape")
    )
    return None if signed else WebAnswer(status=401, text=_UNSIGNED)


class Batch:
    """The events of one request. What can't be read is an event, too, and harms no other."""

    def __init__(self, body: bytes, phone_number_id: str) -> None:
        self.messages: list[tuple[Json, RawEvent]] = []
        self.reports: list[tuple[DeliveryReport, RawEvent]] = []
        self.unreadable: list[RawEvent] = []
        self._phone = phone_number_id
        try:
            found: Any = json.loads(body)
            changes = list(_list_changes(found))
        except (ValueError, RecursionError) as error:
            shown = body.decode("utf-8", "replace")
            self.unreadable.append(make_unreadable(shown, f"a request can't be read: {error}"))
            return
        for change in changes:
            self._take(change)

    def list_events(self, reports: Sequence[RawEvent]) -> list[RawEvent]:
        """Return what to store: all messages, and these reports."""
        return [*(event for _, event in self.messages), *reports, *self.unreadable]

    def _take(self, value: Json) -> None:
        """Read what happened to one number. That of another number is not for us."""
        number = inside(value, "metadata")
        if number.get("phone_number_id") != self._phone:
            _log.info("a request concerns another number, %s", number.get("phone_number_id"))
            return
        for error in _list_items(value, "errors"):
            _log.warning("WhatsApp reports an error: %s", read_details(error))
        contacts = _list_items(value, "contacts")
        for message in _list_items(value, "messages"):
            try:
                self.messages.append((message, self._make_event(message, contacts, number)))
            except ValueError as error:
                self.unreadable.append(make_unreadable(message, str(error)))
        for status in _list_items(value, "statuses"):
            try:
                report = read_status(status)
                name = f"{self._phone}/report/{text_in(status, 'id')}/{status['status']}"
                event = RawEvent(event_id=EventId(name), payload=pack_status(status, number))
            except ValueError as error:
                self.unreadable.append(make_unreadable(status, str(error)))
            else:
                if report is not None:
                    self.reports.append((report, event))

    def _make_event(self, message: Json, contacts: Sequence[Json], number: Json) -> RawEvent:
        chat = find_address(message).chat_id
        author = (words_in(message, "from"), words_in(message, "from_user_id"))
        contact: Mapping[str, Any] = next(
            (one for one in contacts if {one.get("wa_id"), one.get("user_id")} & set(author)), {}
        )
        return RawEvent(
            event_id=EventId(f"{self._phone}/{text_in(message, 'id')}"),
            payload=pack(message, dict(contact), number),
            channel=chat,
            position=spell_mark(read_time(message) // 1000),
        )


def _list_changes(found: Any) -> Iterator[Json]:
    """Yield the values of all changes of messages. Raises `ValueError`."""
    if not isinstance(found, dict) or found.get("object") != "whatsapp_business_account":
        raise ValueError("it is not about a WhatsApp account")
    for entry in parts(found, "entry"):
        for change in parts(entry, "changes"):
            if change.get("field") == "messages":
                yield inside(change, "value")


def _list_items(value: Json, key: str) -> list[Json]:
    """Return the objects of a list; anything else in it can't be an event."""
    found = value.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
