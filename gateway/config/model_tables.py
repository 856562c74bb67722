"""The tables of the models and of their cost."""

from typing import Literal

from pydantic import Field

from agent_core.models.router import split_name
from gateway.config.tables import Table
from gateway.config.types import Prices, Text, Texts


class ModelSettings(Table, title="The model that answers"):
    """The models and their providers. After `load`, `provider`, `name` and `cheap` are resolved."""

    provider: Text = "auto"
    """The provider of every model whose name does not begin with one: `anthropic`, `openai`,
    `scripted`, or one of a plug-in. `auto` picks by the key that is set: Anthropic first, then
    OpenAI, then the scripted stand-in.
    """
    name: Text = ""
    """The model, as the provider spells it. A name may start with its provider, as in
    `anthropic:claude-sonnet-5-5` or `openai:gpt-5-mini`. Empty means `claude-sonnet-5-5`,
    `gpt-5-mini` or the stand-in.
    """
    fallbacks: Texts = ()
    """Models that answer while the first model can't, in this order. They may have other providers.
    """
    choices: Texts = ()
    """Further models that people may choose with `/model`, for themselves and for their jobs."""
    cheap: Text = ""
    """The model for background work. Empty means `claude-haiku-5-5`, or the same as `name`."""
    max_output_tokens: int = Field(8000, ge=256, le=128_000)
    """Longest answer of one call, in tokens."""
    timeout: float = Field(120.0, ge=1, le=3600)
    """Seconds without any data after which a call fails."""
    patience: int = Field(1800, ge=0, le=86_400)
    """Seconds that a message in a chat waits if no model answers."""
    job_patience: int = Field(86_400, ge=0, le=604_800)
    """Seconds that a job waits if no model answers."""
    cache_ttl: Literal["5m", "1h"] = "5m"
    """How long the provider keeps the cached prompt. `1h` costs more to write."""

    @property
    def named(self) -> tuple[str, ...]:
        """The names of all configured models, beginning with the main model."""
        return tuple(dict.fromkeys((self.name, *self.fallbacks, *self.choices, self.cheap)))

    @property
    def providers(self) -> tuple[str, ...]:
        """The providers of the configured models."""
        found = (split_name(name)[0] or self.provider for name in self.named)
        return tuple(dict.fromkeys((self.provider, *found)))


class CostSettings(Table, title="Daily limits and prices"):
    """Daily quotas. Limits in dollars count calls to models with a price; limits in tokens count
    calls to other models.
    """

    person_day_usd: float = Field(5.0, ge=0, le=100_000)
    """Most US dollars per person and day. 0 for no limit."""
    person_day_tokens: int = Field(5_000_000, ge=0, le=1_000_000_000)
    """Most tokens per person and day, for models without a price. 0 for no limit."""
    house_day_usd: float = Field(50.0, ge=0, le=1_000_000)
    """Most US dollars of everyone together per day. 0 for no limit."""
    house_day_tokens: int = Field(50_000_000, ge=0, le=1_000_000_000)
    """Most tokens of everyone together per day, for models without a price. 0 for no limit."""
    cheap_from_percent: int = Field(80, ge=1, le=100)
    """Percent of a daily limit from which the cheap model answers and background work stops."""
    prices: Prices = ()
    """Prices of models, in US dollars per million tokens, with the date of the look-up: `gpt-5-mini
    in=0.25 out=2.00 cached=0.025 date=2026-11-01`.
    """
