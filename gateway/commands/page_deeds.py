"""Take back what has no command of its own in a chat: webhooks and tokens. Only `/undo` does."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.state.engine.database import Connection
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.operations import tokens, webhooks
from gateway.outbound.webhooks.rules import WebhookRules
from gateway.texts import tokens as token_texts

TOKENS, _WEBHOOKS = "tokens", "webhooks"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDeeds:
    """Reads the commands that the operations of the pages and of the API record for `/undo`."""

    webhooks: WebhookRules

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {_WEBHOOKS: self._change_webhook, TOKENS: self._revoke_token}

    async def _change_webhook(self, call: Call) -> Reply:
        """Do to a webhook what the deed says."""
        order = webhooks.read_order(call.argument)

        def effect(connection: Connection) -> Outcome:
            found, deed = webhooks.act(connection, call.person, order, self.webhooks, call.now)
            call.record(connection, f"webhook.{order.verb}", found.name)
            if deed is None:
                return found.name, ()
            call.note_deed(connection, deed.redo, deed.undo, deed.did)
            return f"{deed.did}.", ()

        return Reply(effect=effect)

    async def _revoke_token(self, call: Call) -> Reply:
        """End the token that was just made."""
        number = int(call.argument.rpartition(" ")[2])

        def effect(connection: Connection) -> Outcome:
            name = tokens.end(connection, call.person, number)
            call.record(connection, "token.revoke", name)
            call.note_deed(connection, "", "", token_texts.ENDED_FOR_GOOD(name=name))
            return token_texts.REVOKED(name=name), ()

        return Reply(effect=effect)
