"""The settings of the model providers that come with Talaria.

They stand apart from the providers, because importing those imports an SDK.
"""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSettings:
    """The settings of Anthropic's provider. Raises `ValueError` with a sentence.

    `timeout` is the seconds of silence that end a call. Without an `effort`, the API chooses.
    """

    api_key: str = field(repr=False)
    base_url: str = ANTHROPIC
    timeout: float = 120.0
    effort: Literal["", "low", "medium", "high", "xhigh", "max"] = ""
    cache_ttl: Literal["5m", "1h"] = "5m"

    def __post_init__(self) -> None:
        if not self.api_key:
            raise ValueError("The model provider anthropic needs an api_key.")
        _check_address(self.base_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings:
    """The settings of a chat-completions server. Raises `ValueError` with a sentence.

    Local servers need no `api_key`; `base_url` includes `/v1`. `timeout` is the seconds of silence
    that end a call, and `effort` is sent as `reasoning_effort`.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = OPENAI
    timeout: float = 120.0
    effort: Literal["", "none", "minimal", "low", "medium", "high", "xhigh"] = ""

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        if self.is_openai and not self.api_key:
            raise ValueError("The model provider openai needs an api_key at api.openai.com.")

    @property
    def host(self) -> str:
        """The name or number of the server."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def is_openai(self) -> bool:
        """Whether the server is OpenAI's own."""
        return self.host == urlsplit(OPENAI).hostname


def _check_address(text: str) -> None:
    try:
        parts = urlsplit(text)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_good = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise ValueError(f'The option base_url is "{text}"; it takes an http or https address.')
