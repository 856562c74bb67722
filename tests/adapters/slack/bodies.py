"""Slack payloads, and how they are parsed."""

from typing import Any

from adapters.messages import Inbound, InboundMessage
from adapters.slack.events import BotIdentity, Person, SlackEvent, pack, sort_event
from adapters.slack.receive import receive

ME = BotIdentity(user_id="U0BOT", bot_id="B0BOT", team_id="T1")
AGENT = BotIdentity(user_id="U0BOT", bot_id="B0BOT", team_id="T1", is_agent=True)
TS, LATER = "1763000000.000100", "1763000060.000200"
ANNA = Person(name="Anna Lee", username="anna", language="de-DE")

Threads = frozenset[tuple[str, str]]


def message(text: str = "Hi", channel: str = "D1", **fields: Any) -> dict[str, Any]:
    """An event of a person's message."""
    known = {"type": "message", "user": "U1", "text": text, "ts": TS, "channel": channel}
    return event(known | fields)


def event(about: dict[str, Any], event_id: str = "Ev1") -> dict[str, Any]:
    """An event in its envelope."""
    return {"type": "event_callback", "team_id": "T1", "event_id": event_id, "event": about}


def sort(body: dict[str, Any], me: BotIdentity = ME, ours: Threads = frozenset()) -> SlackEvent:
    """Return the stored event of a payload."""
    found = sort_event({"team_id": "T1"} | body, me, ours)
    assert found is not None
    return found


def read(
    body: dict[str, Any], me: BotIdentity = ME, ours: Threads = frozenset(), **facts: Any
) -> Inbound | None:
    """Return a payload as parsed with Anna's name known."""
    known = {"U1": ANNA}
    return receive(pack(sort(body, me, ours), me, known.get, {"at": 1_763_000_000_000} | facts))


def read_message(
    body: dict[str, Any], me: BotIdentity = ME, ours: Threads = frozenset(), **facts: Any
) -> InboundMessage:
    """Return the message in a payload."""
    found = read(body, me, ours, **facts)
    assert isinstance(found, InboundMessage)
    return found
