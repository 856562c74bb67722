"""Outgoing webhooks: signed requests that tell other programs what happens to a person."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.outbound.webhooks.dispatcher import WebhookDeps as WebhookDeps
    from gateway.outbound.webhooks.dispatcher import WebhookDispatcher as WebhookDispatcher
    from gateway.outbound.webhooks.dispatcher import WebhookTimings as WebhookTimings
    from gateway.outbound.webhooks.events import make_test as make_test
    from gateway.outbound.webhooks.events import restart as restart
    from gateway.outbound.webhooks.events import store_news as store_news
    from gateway.outbound.webhooks.rules import WebhookRules as WebhookRules
    from gateway.outbound.webhooks.signatures import make_secret as make_secret
else:
    __getattr__ = export_lazily(__name__, __file__)
