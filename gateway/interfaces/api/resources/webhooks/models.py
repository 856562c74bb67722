"""The bodies of webhooks and deliveries. Times are milliseconds since the epoch, UTC."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agent_core.state.webhooks.webhooks import EVENT_KINDS

_Kind = Annotated[str, Field(max_length=100)]
_KINDS = f"Some of {', '.join(EVENT_KINDS)}; none for all."


class NewWebhook(BaseModel):
    """A webhook to add. Without `kinds`, it gets every kind of event."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=32)]
    url: Annotated[str, Field(min_length=1, max_length=2000)]
    kinds: Annotated[list[_Kind], Field(max_length=10, description=_KINDS)] = []


class WebhookChange(BaseModel):
    """A change to a webhook; omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=32)] | None = None
    url: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    kinds: Annotated[list[_Kind], Field(min_length=1, max_length=10, description=_KINDS)] | None = (
        None
    )


class WebhookModel(BaseModel):
    """A webhook; `reason` says why it is paused or dead. `failures` counts failures in a row."""

    id: int
    name: str
    url: str
    kinds: list[str]
    state: str
    reason: str
    failures: int
    created_at: int


class WebhookList(BaseModel):
    """The webhooks of the person."""

    webhooks: list[WebhookModel]


class AddedWebhook(WebhookModel):
    """A new webhook with its secret, which only this answer contains."""

    secret: str


class RotatedWebhook(AddedWebhook):
    """A webhook with its new secret. Until `old_until`, the old secret signs, too."""

    old_until: int


class DeliveryModel(BaseModel):
    """An event for a webhook; `event_id` is the `webhook-id` of each attempt."""

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


class DeliveryList(BaseModel):
    """The newest deliveries of a webhook. `next` is the `before` of the next page."""

    deliveries: list[DeliveryModel]
    next: int | None
