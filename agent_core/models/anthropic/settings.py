"""The settings of Anthropic's provider, read without its SDK."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_core.models.anthropic.translate import PROVIDER
from agent_core.models.options import read_address, read_choice, read_seconds, refuse_unknown

ADDRESS = "https://api.anthropic.com"
_OPTIONS = ("api_key", "base_url", "timeout", "effort", "cache_ttl")
_EFFORTS = ("", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicSettings:
    """The provider's options, checked; `timeout` is in seconds."""

    api_key: str = field(repr=False)
    base_url: str
    timeout: float
    effort: str
    cache_ttl: str


def read_settings(options: Mapping[str, str]) -> AnthropicSettings:
    """Check the options; see `create`. Raises `ValueError` with a sentence."""
    refuse_unknown(options, _OPTIONS, PROVIDER)
    if not options.get("api_key"):
        raise ValueError("The model provider anthropic needs an api_key.")
    return AnthropicSettings(
        api_key=options["api_key"],
        base_url=read_address(options, "base_url", ADDRESS),
        timeout=read_seconds(options, "timeout", 120.0),
        effort=read_choice(options, "effort", _EFFORTS),
        cache_ttl=read_choice(options, "cache_ttl", ("5m", "1h")),
    )
