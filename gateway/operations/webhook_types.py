"""Requests and answers of the operations on outgoing webhooks. Quick to import."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

WebhookVerb = Literal["pause", "resume", "change", "remove", "restore"]
_NUMBER = "Give the number of a webhook."


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWebhook:
    """Asks for a webhook of a person by their folder; without `kinds`, it gets every event.

    A repeat with the same `key` adds nothing.
    """

    person: str
    name: str
    url: str
    kinds: tuple[str, ...] = ()
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWebhooks:
    """Asks for the webhooks of everybody, or of one person."""

    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PickWebhook:
    """Names a webhook by its number, and maybe its person."""

    number: int = field(metadata={"refusal": _NUMBER})
    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendTest(PickWebhook):
    """Asks for a test event; a repeat with the same `key` sends nothing."""

    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeWebhook(PickWebhook):
    """Asks to go on; with `skip`, the waiting events are dropped."""

    skip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeWebhook(PickWebhook):
    """Asks to change a webhook. None, or no kinds, leaves a part as it is."""

    name: str | None = None
    url: str | None = None
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookOrder:
    """Says what to do to a webhook; `values` are those that a change sets."""

    verb: WebhookVerb
    number: int
    values: Mapping[str, Any] = field(default_factory=dict)
    skip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDeliveries(PickWebhook):
    """Asks for the newest deliveries, with ids below `before`."""

    limit: int
    before: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendAgain(PickWebhook):
    """Names a delivery that is sent again."""

    delivery: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookLine:
    """A webhook without its secret; `folder` is its person's, `waiting` counts events."""

    number: int
    name: str
    url: str
    kinds: tuple[str, ...]
    state: str
    reason: str
    failures: int
    created_at: int
    folder: str
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookList:
    """The webhooks, by person."""

    webhooks: tuple[WebhookLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedWebhook:
    """A new webhook; only this answer contains its secret."""

    number: int
    name: str
    url: str
    kinds: tuple[str, ...]
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedWebhook:
    """The webhook that was changed."""

    number: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedWebhook(ChangedWebhook):
    """The new secret, which only this answer contains; the old one signs, too, until then."""

    secret: str
    old_until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLine:
    """An event on its way. Times are milliseconds UTC; `status` is the last HTTP status."""

    id: int
    event_id: str
    kind: str
    payload: str
    state: str
    attempts: int
    due_at: int
    status: int | None
    reason: str
    created_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryList:
    """The deliveries, newest first."""

    deliveries: tuple[DeliveryLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentTest:
    """The delivery of a test event; None if it was sent before."""

    delivery: DeliveryLine | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentAgain:
    """The number of the delivery that is sent again."""

    delivery: int
