"""Turns what signal-cli reports into events to store; notes receipts and the account's concerns."""

import asyncio
import json
import logging
import re
from collections.abc import Mapping

from adapters.errors import AdapterStopped
from adapters.ids import EventId
from adapters.messages import RawEvent
from adapters.signal.receipts import Receipts, sources_of
from adapters.signal.receive import Account, pack, read_spoken
from adapters.signal.rpc import Notice
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.text import (
    Json,
    inside,
    make_unreadable,
    number_in,
    part,
    plain_text,
    words_in,
)

_log = logging.getLogger(__name__)

_EVENT = re.compile(r"(\d{1,15})-(\d{1,12})\Z", re.ASCII)
_ALL = "0-0"
"""An id that is unknown, so that signal-cli sends all events that it has kept."""
_OVERLAP = 1000
"""Events that are asked for again after a connection: receipts are not stored, but a look-up needs
those that an earlier process had read. signal-cli keeps so many (SseEventBuffer, MAX_EVENTS). The
store skips what it has.
"""
_UNTRUSTED = "UntrustedIdentityException"


class NoticeReader:
    """Reads the notifications of one account."""

    def __init__(self, me: Account, receipts: Receipts) -> None:
        self.me = me
        self._receipts = receipts
        self._originals: BoundedDict[tuple[str, int], int] = BoundedDict()
        """By author and version: the message that it is a version of."""
        self.keys_changed = asyncio.Event()
        """Set when somebody's safety number may have changed, or may be trusted again."""

    def read(self, notice: Notice) -> RawEvent | None:
        """Return the event to store, or None for what needs no answer.

        Raises `AdapterStopped` if signal-cli serves another account.
        """
        try:
            envelope = self._open(json.loads(notice.text))
            return None if envelope is None else self._store(envelope, notice)
        except (ValueError, RecursionError) as error:
            _log.error("what signal-cli reports can't be read and is set aside: %s", error)
            return make_unreadable(plain_text(notice.text), f"signal-cli: {error}")

    def _open(self, message: object) -> Json | None:
        """Return the envelope of a notification, in each of its three forms."""
        if not isinstance(message, dict):
            raise ValueError("a notification is no object")
        params = part(message, "params") or message
        params = part(params, "result") or params
        account = words_in(params, "account")
        if account and not self.me.is_me(account):
            if "subscription" in (part(message, "params") or {}) or not account.startswith("+"):
                return None
            raise AdapterStopped(
                f"signal-cli serves the account {account}, not {self.me.name}. Correct"
                " SIGNAL_ACCOUNT, and restart Talaria."
            )
        envelope = part(params, "envelope")
        if fault := part(params, "exception"):
            self._note_fault(fault, envelope or {})
            return None
        if envelope is None:
            raise ValueError("a notification without an envelope")
        return envelope

    def _note_fault(self, fault: Json, envelope: Json) -> None:
        """Note a message that can't be decrypted; signal-cli keeps it until its key is trusted."""
        person = words_in(envelope, "sourceNumber", "sourceUuid", "source") or "PERSON"
        if words_in(fault, "type") == _UNTRUSTED:
            self.keys_changed.set()
        _log.warning("a message from %s can't be read: %s", person, words_in(fault, "message"))

    def _store(self, envelope: Json, notice: Notice) -> RawEvent | None:
        if since := _read_since(envelope, notice):
            self._receipts.note_reading(since)
        if receipt := part(envelope, "receiptMessage"):
            self._receipts.note_receipt(sources_of(envelope), receipt)
        sent = part(inside(envelope, "syncMessage"), "sentMessage")
        if sent and number_in(sent, "timestamp", default=0):
            sent_at = number_in(sent, "timestamp")
            if self._receipts.is_sent(sent_at):
                return None  # our own message, come back from signal-cli
            self._receipts.note_sent(sent_at)
        spoken = read_spoken(envelope, self.me)
        if spoken is None:
            return None
        original = None
        if spoken.replaces is not None:
            known = self._originals.get((spoken.sender, spoken.replaces))
            original = known or spoken.replaces
            self._originals.put((spoken.sender, spoken.sent_at), original)
        device = number_in(envelope, "sourceDevice", default=0)
        name = f"{self.me.name}/{spoken.sender}/{device}/{spoken.sent_at}"
        channel, position = f"signal/{self.me.name}", write_position(notice.event)
        return RawEvent(
            event_id=EventId(name),
            payload=pack(envelope, self.me, original=original),
            channel=channel if position else "",
            position=position,
        )

    def list_read(self, events: list[RawEvent]) -> Mapping[str, list[int]]:
        """Return the direct messages among stored events, by author: their times."""
        found: dict[str, list[int]] = {}
        for event in events:
            envelope = part(json.loads(event.payload), "envelope") or {}
            data = part(envelope, "dataMessage") or {}
            if data and "groupInfo" not in data and (names := sources_of(envelope)):
                found.setdefault(names[0], []).append(number_in(envelope, "timestamp"))
        return found


def _read_since(envelope: Json, notice: Notice) -> int:
    """Return a time from which on an event and those behind it are all that has arrived, or 0.

    The id of signal-cli's first event names its start; any other event names when it arrived.
    """
    found = _EVENT.match(notice.event)
    if found and int(found[2]) == 1:
        return int(found[1])
    return number_in(envelope, "serverDeliveredTimestamp", default=0)


def write_position(event: str) -> str:
    """Return the id of a server-sent event as text that sorts in order; empty if it has none."""
    found = _EVENT.match(event)
    return f"{int(found[1]):015}-{int(found[2]):012}" if found else ""


def read_last_event(marks: Mapping[str, str], account: str) -> str:
    """Return the event after which a connection goes on; without a mark, all are wanted."""
    found = _EVENT.match(marks.get(f"signal/{account}", ""))
    return f"{int(found[1])}-{max(int(found[2]) - _OVERLAP, 0)}" if found else _ALL
