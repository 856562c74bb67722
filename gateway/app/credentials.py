"""Credentials and addresses that only the environment sets."""

from collections.abc import Iterable
from typing import Any

from adapters.toolkit.table import Table
from gateway.app.setting_types import Credential, HttpAddress, WebSocketAddress

_TURNS_ON = "_bot_token"


class Secrets(Table, title="Environment"):
    """Credentials, and the servers that receive them; from the environment and `.env`.

    None of them appears in a `repr`. An address may contain a password, so it is a secret, too.
    """

    telegram_bot_token: Credential | None = None
    """Turns Telegram on. From @BotFather."""
    discord_bot_token: Credential | None = None
    """Turns Discord on. From the Developer Portal, Bot."""
    slack_bot_token: Credential | None = None
    """Turns Slack on. `xoxb-...`, from Install App."""
    slack_app_token: Credential | None = None
    """Needed for Slack's sockets. `xapp-...` with the scope `connections:write`."""
    slack_signing_secret: Credential | None = None
    """Needed instead with `slack.mode = "http"`."""
    anthropic_api_key: Credential | None = None
    """The key for Claude."""
    openai_api_key: Credential | None = None
    """The key for OpenAI, or for an OpenAI-compatible server."""
    github_token: Credential | None = None
    """GitHub notifications in owners' digests. A classic token with the scope `notifications`."""
    honcho_api_key: Credential | None = None
    """The key for Honcho, with `memory.provider = "honcho"`."""
    daytona_api_key: Credential | None = None
    """The key for Daytona, for the backend `daytona`."""
    modal_token_id: Credential | None = None
    """The token for Modal, for the backend `modal`: its first part, `ak-...`."""
    modal_token_secret: Credential | None = None
    """The token for Modal: its second part, `as-...`."""
    brave_api_key: Credential | None = None
    """The key for Brave's search, with `tools.search = "brave"`."""
    tavily_api_key: Credential | None = None
    """The key for Tavily's search, with `tools.search = "tavily"`."""
    aws_access_key_id: Credential | None = None
    """The id of the key for `backup.s3`."""
    aws_secret_access_key: Credential | None = None
    """The key for `backup.s3`."""
    backup_passphrase: str | None = None
    """Encrypts every backup; a restore needs it. Keep it somewhere else, too."""
    telegram_api_base_url: HttpAddress | None = None
    """Another Bot API server: the part before `/bot<token>`."""
    discord_api_base_url: HttpAddress | None = None
    """Another address for Discord's REST API; ends in `/api/v10`."""
    discord_gateway_url: WebSocketAddress | None = None
    """Another address for Discord's websocket."""
    slack_api_base_url: HttpAddress | None = None
    """Another address for Slack's API; ends in `/api/`."""
    anthropic_base_url: HttpAddress | None = None
    """Another server with Anthropic's API."""
    openai_base_url: HttpAddress | None = None
    """Another server with OpenAI's API."""
    daytona_api_url: HttpAddress | None = None
    """A Daytona server of your own; ends in `/api`."""
    honcho_base_url: HttpAddress | None = None
    """A Honcho server of your own, which may need no key."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return no value, so that a `repr` shows none."""
        return ()

    @property
    def platforms(self) -> tuple[str, ...]:
        """The chat platforms that a bot's token turns on."""
        names = [name for name in type(self).model_fields if name.endswith(_TURNS_ON)]
        return tuple(name.removesuffix(_TURNS_ON) for name in names if getattr(self, name))
