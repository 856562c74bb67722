"""Sentences about outgoing webhooks."""

from collections.abc import Mapping

from agent_core.localization import Plural, Text
from agent_core.state.webhooks.deliveries import DeliveryState
from agent_core.state.webhooks.webhooks import WebhookEventKind, WebhookState

WEBHOOKS = Text("Webhooks")
ABOUT = Text(
    "A webhook tells another program what happens here: it sends a signed POST for each"
    " event. A POST names your requests, changes and questions by their numbers, and"
    " contains none of your words."
)
NONE = Text("No webhooks yet. Add the address of a program that takes POST requests.")
ADD = Text("Add a webhook")
NAME, ADDRESS, EVENTS = Text("Name"), Text("Address"), Text("Events")
HINT_ADDRESS = Text(
    "The address must begin with https:// and be on the public internet, unless an owner"
    " allows its host."
)
KINDS: Mapping[WebhookEventKind, Text] = {
    "turn.started": Text("a request has started"),
    "turn.ended": Text("a request has ended"),
    "memory.changed": Text("memory has changed"),
    "question.asked": Text("a question was asked"),
}
TEST_EVENT = Text("a test event")
NO_KINDS = Text("Choose at least one event.")
SECRET_OF = Text("The signing secret for “{name}”. Copy it now: you won't see it again.")
OLD_UNTIL = Text("Events are signed with the former secret, too, until")
STATES: Mapping[WebhookState, Text] = {
    "active": Text("active"),
    "paused": Text("paused"),
    "dead": Text("stopped"),
}
WAITING = Plural("{n:,} event is waiting to be sent", "{n:,} events are waiting to be sent")
FAILURES = Plural("The last attempt failed", "The last {n:,} attempts failed")
DELIVERIES = Text("Last events")
NOTHING_SENT = Text("Nothing has been sent yet.")
SENT_STATES: Mapping[DeliveryState, Text] = {
    "waiting": Text("waits"),
    "sent": Text("sent"),
    "failed": Text("given up"),
}
ATTEMPTS = Plural("{n:,} attempt", "{n:,} attempts")
TEST, AGAIN = Text("Send a test event"), Text("Send again")
REMOVE, RESTORE = Text("Remove"), Text("Bring it back")
REMOVED = Text("Removed")
ABOUT_REMOVED = Text(
    "You can bring back the last five that you removed. Such a webhook then sends only what"
    " happens from that moment on."
)
CHANGE = Text("Change")
CHANGED = Text("The webhook “{name}” has been changed.")
ROTATE = Text("Replace the secret")
ABOUT_ROTATE = Text(
    "The present secret stays valid for 24 hours, so that you can give the new one to the program."
    " This can't be undone."
)
DONE = {
    "add": Text("Webhook “{name}” added"),
    "pause": Text("Webhook “{name}” paused"),
    "resume": Text("Webhook “{name}” active again"),
    "change": Text("Webhook “{name}” changed"),
    "remove": Text("Webhook “{name}” removed"),
    "restore": Text("Webhook “{name}” brought back"),
}
"""Lines that name what was done, for `/undo`."""
NEW_SECRET = Text("a new secret for the webhook “{name}”: the old one must not become valid again")
UNKNOWN = Text("There is no webhook {number}.")
NOT_REMOVED = Text(
    "There is no removed webhook {number}. Only the last five webhooks that you removed can"
    " come back."
)
NOT_ACTIVE = Text("The webhook “{name}” is not active; resume it, then test it.")
ALREADY: Mapping[WebhookState, Text] = {
    "active": Text("The webhook “{name}” is active already."),
    "paused": Text("The webhook “{name}” is paused already."),
    "dead": Text("The webhook “{name}” is stopped already."),
}
NO_EVENTS = Text("There are no events {name}. These exist: {names}.")
NO_DELIVERY = Text("There is no delivery {number} of this webhook.")
WRONG_NAME = Text(
    "The name of a webhook has at most 32 letters, digits, spaces, dots, dashes and underscores."
    " It begins with a letter or digit."
)
TOO_MANY = Plural(
    "There is {n:,} webhook, and no more are allowed.",
    "There are {n:,} webhooks, and no more are allowed.",
)
NOT_HTTPS = Text(
    "The address can't be used: it must begin with https://, unless an owner lists its host in"
    " webhooks.allow_hosts."
)
BAD_ADDRESS = Text("The address can't be used: {reason}.")
NO_UNDO = Text("An event that was sent can't be taken back.")
ACTION = Text("{action}: {name}")
DETAILS = Text("Details: {reason}.")


DEAD_WEBHOOK = Text(
    "I've stopped sending events to your webhook **{name}**. To send them again, run"
    " `talaria webhooks resume {number}`. Details: “{reason}.”"
)
