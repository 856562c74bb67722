"""Sentences about outgoing webhooks."""

from collections.abc import Mapping

from agent_core.localization import Plural, Text
from agent_core.state.webhooks.deliveries import DeliveryState
from agent_core.state.webhooks.webhooks import WebhookEventKind, WebhookState

WEBHOOKS = Text("Webhooks")
ABOUT = Text(
    "A webhook tells another program what happens to you: each event is a signed POST request. It"
    " names turns, changes and questions by number, and holds no words."
)
NONE = Text("No webhooks yet. Add the address of a program that takes POST requests.")
ADD = Text("Add a webhook")
NAME, ADDRESS, EVENTS = Text("Name"), Text("Address"), Text("Events")
HINT_ADDRESS = Text("It begins with https://, and is public unless an owner allows its host.")
KINDS: Mapping[WebhookEventKind, Text] = {
    "turn.started": Text("a turn has started"),
    "turn.ended": Text("a turn has ended"),
    "memory.changed": Text("memory has changed"),
    "question.asked": Text("a question was asked"),
}
NO_KINDS = Text("Choose at least one event.")
SECRET_OF = Text("The signing secret of {name}. Copy it now: it is not shown again.")
OLD_UNTIL = Text("The former secret also signs until")
STATES: Mapping[WebhookState, Text] = {
    "active": Text("active"),
    "paused": Text("paused"),
    "dead": Text("ended"),
}
WAITING = Plural("{n:,} event waits", "{n:,} events wait")
FAILURES = Plural("{n:,} failed request in a row", "{n:,} failed requests in a row")
DELIVERIES = Text("Last events")
NOTHING_SENT = Text("Nothing was sent yet.")
SENT_STATES: Mapping[DeliveryState, Text] = {
    "waiting": Text("waits"),
    "sent": Text("sent"),
    "failed": Text("given up"),
}
ATTEMPTS = Plural("{n:,} attempt", "{n:,} attempts")
TEST, AGAIN = Text("Send a test event"), Text("Send again")
REMOVE, RESTORE = Text("Remove"), Text("Restore")
REMOVED = Text("Removed")
ABOUT_REMOVED = Text("The last five can come back. They send what happens from then on.")
CHANGE = Text("Change")
CHANGED = Text("{name} is changed.")
ROTATE = Text("Replace the secret")
ABOUT_ROTATE = Text(
    "The present secret stays valid for 24 hours, so that you can give the new one to the program."
    " This can't be undone."
)
NO_UNDO = Text("An event that was sent can't be taken back.")
ACTION = Text("{action}: {name}")
DETAILS = Text("Details in English: {reason}.")


DEAD_WEBHOOK = Text(
    "Your webhook **{name}** gets no more events. New ones wait until"
    " `talaria webhooks resume {number}`. Details in English: “{reason}.”"
)
