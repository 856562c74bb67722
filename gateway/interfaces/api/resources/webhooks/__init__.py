"""The resource of outgoing webhooks."""

from gateway.interfaces.api.resources.webhooks.routes import (
    add_webhook_changes as add_webhook_changes,
)
from gateway.interfaces.api.resources.webhooks.routes import add_webhooks as add_webhooks
