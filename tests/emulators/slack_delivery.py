"""Deliver events to the app: kept until acknowledged, and repeated like Slack does."""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tests.emulators.slack_shapes import Json

Kind = Literal["events_api", "slash_commands", "interactive"]
RETRIES = 3


class NobodyListens(Exception):
    """No app handled a command or a click: the person sees an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """The app's acknowledgement of an envelope."""

    envelope_id: str
    at: float
    """Seconds of the emulator's steady clock."""
    payload: Json | None = None


@dataclass(kw_only=True, eq=False)
class Parcel:
    """One event for the app; every attempt has its own envelope."""

    kind: Kind
    payload: Json
    born: float
    attempt: int = -1
    envelope_ids: list[str] = field(default_factory=list)
    is_acked: bool = False
    on_ack: Callable[[Json], None] | None = None
    """Handles the payload of the ack."""

    def envelope(self) -> Json:
        """The frame of the newest attempt."""
        frame: Json = {
            "envelope_id": self.envelope_ids[-1],
            "payload": self.payload,
            "type": self.kind,
            "accepts_response_payload": self.kind != "events_api",
        }
        if self.kind == "events_api":
            reason = "timeout" if self.attempt else ""
            frame |= {"retry_attempt": self.attempt, "retry_reason": reason}
        return frame


class Carrier(Protocol):
    """A transport that brings parcels to the app."""

    def carry(self, parcel: Parcel) -> bool:
        """Send it; False if no app is connected."""


class OutboxDispatcher:
    """Every parcel so far. Events are repeated; commands and clicks never are."""

    def __init__(self, carrier: Carrier, stir: Callable[[], None]) -> None:
        self.carrier = carrier
        self.parcels: list[Parcel] = []
        self.acks: list[Ack] = []
        self.redelivers_unacked = True
        self.after_seconds = 1.0
        """How long an ack may take (Slack: 3 s, then after 1 and after 5 minutes)."""
        self.holds_seconds = 60.0
        """How long an event waits for an app that is away; 0 loses it (Slack: some minutes)."""
        self._stir = stir
        self._by_envelope: dict[str, Parcel] = {}
        self._waiting: deque[Parcel] = deque()
        self._timers: dict[Parcel, asyncio.TimerHandle] = {}

    def push(
        self, kind: Kind, payload: Json, on_ack: Callable[[Json], None] | None = None
    ) -> Parcel:
        """Deliver to the app. Raises `NobodyListens` for parcels that are not kept."""
        parcel = Parcel(kind=kind, payload=payload, born=time.monotonic(), on_ack=on_ack)
        self._send(parcel)
        self.parcels.append(parcel)
        return parcel

    def again(self, parcel: Parcel, payload: Json | None = None) -> None:
        """Repeat an acknowledged event, if wanted with another payload."""
        if payload is None:
            self._send(parcel)
            return
        twin = Parcel(kind=parcel.kind, payload=payload, born=time.monotonic(), attempt=0)
        self.parcels.append(twin)
        self._send(twin)

    def acknowledge(self, envelope_id: str, payload: Json | None) -> None:
        """Note an ack. Late acks count; unknown ones are ignored."""
        parcel = self._by_envelope.get(envelope_id)
        self.acks.append(Ack(envelope_id=envelope_id, at=time.monotonic(), payload=payload))
        if parcel is not None and not parcel.is_acked:
            parcel.is_acked = True
            self._disarm(parcel)
            if payload and parcel.on_ack is not None:
                parcel.on_ack(payload)
        self._stir()

    def unacked(self) -> list[Parcel]:
        """Parcels that the app never acknowledged, including waiting ones."""
        return [parcel for parcel in self.parcels if not parcel.is_acked]

    def resume(self) -> None:
        """An app is connected: send what waited, except what waited too long."""
        waiting, self._waiting = self._waiting, deque()
        for parcel in waiting:
            if time.monotonic() - parcel.born <= self.holds_seconds:
                self._send(parcel)

    def pause(self) -> None:
        """Stop the timers; unacknowledged parcels wait for `resume`."""
        for parcel in list(self._timers):
            self._disarm(parcel)
            self._wait(parcel)

    def _send(self, parcel: Parcel) -> None:
        parcel.envelope_ids.append(str(uuid.uuid4()))
        parcel.attempt += 1
        self._by_envelope[parcel.envelope_ids[-1]] = parcel
        if self.carrier.carry(parcel):
            self._arm(parcel)
        elif parcel.kind == "events_api":
            parcel.attempt -= 1
            parcel.envelope_ids.pop()
            self._wait(parcel)
        else:
            raise NobodyListens(parcel.kind)
        self._stir()

    def _wait(self, parcel: Parcel) -> None:
        if parcel not in self._waiting and not parcel.is_acked:
            self._waiting.append(parcel)

    def _arm(self, parcel: Parcel) -> None:
        self._disarm(parcel)
        may_repeat = parcel.kind == "events_api" and not parcel.is_acked
        if may_repeat and self.redelivers_unacked and parcel.attempt < RETRIES:
            loop = asyncio.get_running_loop()
            self._timers[parcel] = loop.call_later(self.after_seconds, self._repeat, parcel)

    def _repeat(self, parcel: Parcel) -> None:
        self._timers.pop(parcel, None)
        if not parcel.is_acked:
            self._send(parcel)

    def _disarm(self, parcel: Parcel) -> None:
        timer = self._timers.pop(parcel, None)
        if timer is not None:
            timer.cancel()
