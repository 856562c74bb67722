"""Credentials and addresses that only the environment sets."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import Field, create_model

from adapters.registry import list_declared
from adapters.toolkit.table import Table
from gateway.app.setting_types import Credential, HttpAddress, WebSocketAddress


class Secrets(Table, title="Environment"):
    """Credentials, and the servers that receive them; from the environment and `.env`.

    None of them appears in a `repr`. An address may contain a password, so it is a secret, too.
    """

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
        """The chat platforms that a variable turns on."""
        declared = list_declared().values()
        return tuple(one.name for one in declared if self.find(one.variables[0].name))

    def find(self, variable: str) -> str | None:
        """Return the value of a variable; None if it is not set."""
        found: str | None = getattr(self, variable.lower())
        return found


_KINDS: Mapping[str, Any] = {
    "credential": Credential | None,
    "http": HttpAddress | None,
    "websocket": WebSocketAddress | None,
}
AllSecrets: type[Secrets] = create_model(
    "AllSecrets",
    __base__=Secrets,
    **cast(
        Any,
        {
            one.name.lower(): (_KINDS[one.kind], Field(None, description=one.about))
            for platform in list_declared().values()
            for one in platform.variables
        },
    ),
)
"""The secrets with the variables that the platforms declare."""
