"""The tables of `config.toml` and the secrets of the environment, as frozen values."""

from dataclasses import dataclass, field
from typing import TypeVar

from agent_core.state.people.people import LEAST_CAP, MOST_CAP
from gateway.config.sources import (
    Allowed,
    Value,
    complain_of_account,
    complain_of_address,
    complain_of_file,
    complain_of_language,
    complain_of_price,
    complain_of_server,
    complain_of_time_zone,
)

V = TypeVar("V", bound=Value)


def _one_of(default: str, *choices: str) -> str:
    return _text(default, Allowed(choices=choices))


def _text(default: str, allowed: Allowed) -> str:
    return field(default=default, metadata={"allowed": allowed})


def _number(default: V, least: float, most: float) -> V:
    return field(default=default, metadata={"allowed": Allowed(least=least, most=most)})


def _texts(default: tuple[str, ...], allowed: Allowed) -> tuple[str, ...]:
    return field(default=default, metadata={"allowed": allowed})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Who thinks. After `load`, `provider`, `name` and `cheap` are resolved."""

    provider: str = _one_of("auto", "auto", "anthropic", "openai", "scripted")
    name: str = ""
    fallback: str = ""
    """A model of the same provider, asked when `name` stays unavailable; "" for none."""
    cheap: str = ""
    """The model for background work."""
    max_output_tokens: int = _number(8000, 256, 128_000)
    timeout: float = _number(120.0, 1, 3600)
    """Seconds of silence after which a call is given up."""
    retries: int = _number(4, 0, 10)
    cache_ttl: str = _one_of("5m", "5m", "1h")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """Who may talk without being approved first."""

    allow: tuple[str, ...] = _texts((), Allowed(complain=complain_of_account))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """How much may run, and how long a turn may become. Money is in US dollars, 0 for no limit."""

    at_once: int = _number(400, 1, 10_000)
    per_person: int = _number(3, 1, 100)
    max_steps: int = _number(40, 1, 1000)
    max_tokens: int = _number(400_000, 1000, 100_000_000)
    max_cost_usd: float = _number(1.0, 0, 10_000)
    max_seconds: int = _number(900, 5, 86_400)
    drain_seconds: int = _number(15, 0, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSettings:
    """What may be spent in a day, 0 for no ceiling, and prices of models that have none here.

    Dollars count calls to models with a price, tokens those to models without one.
    """

    person_day_usd: float = _number(5.0, 0, 100_000)
    person_day_tokens: int = _number(5_000_000, 0, 1_000_000_000)
    house_day_usd: float = _number(50.0, 0, 1_000_000)
    house_day_tokens: int = _number(50_000_000, 0, 1_000_000_000)
    cheap_from_percent: int = _number(80, 1, 100)
    prices: tuple[str, ...] = _texts((), Allowed(complain=complain_of_price))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """How long the two memory files of a person may become, in characters, and who else remembers.

    `provider` is an outside memory, "" for none; `workspace` is where in it people are kept, and
    `provider_tokens` is how much of what it makes of a person a turn may show.
    """

    memory_limit: int = _number(2200, 200, 100_000)
    user_limit: int = _number(1375, 200, 100_000)
    provider: str = _one_of("", "", "honcho")
    workspace: str = "talaria"
    provider_tokens: int = _number(400, 50, 4000)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """What helps to find what was said. `embeddings` is a model on this machine, "" for none."""

    embeddings: str = _one_of("", "", "minilm")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """What is done at its time. `backups` nightly copies of the database are kept, 0 for none."""

    per_person: int = _number(50, 0, 10_000)
    least_minutes: int = _number(5, 1, 1440)
    """Minutes between two runs of a job that thinks or runs a command."""
    at_once: int = _number(20, 1, 1000)
    backups: int = _number(7, 0, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSettings:
    """After how many days without use a skill is stale, and put away; 0 is never."""

    stale_days: int = _number(30, 0, 36_500)
    archive_days: int = _number(0, 0, 36_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """For how many days what is done and over is kept; 0 for ever."""

    inbox_days: int = _number(30, 0, 36_500)
    outbox_days: int = _number(30, 0, 36_500)
    steps_days: int = _number(90, 0, 36_500)
    usage_days: int = _number(400, 0, 36_500)
    files_days: int = _number(30, 0, 36_500)
    messages_days: int = _number(0, 0, 36_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings:
    """What joins the prompt from a working folder. The limit is in characters a file."""

    folder: str = ""
    context_files: tuple[str, ...] = _texts(
        ("AGENTS.md", "CLAUDE.md", ".cursorrules"), Allowed(complain=complain_of_file)
    )
    context_limit: int = _number(20_000, 0, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """How much of a talk a call may hold, in tokens of input; what is longer is folded.

    `window_tokens` is what the models of this house read, 0 for what is known of each.
    """

    cap_tokens: int = _number(120_000, LEAST_CAP, MOST_CAP)
    threshold_percent: int = _number(80, 30, 95)
    window_tokens: int = _number(0, 0, MOST_CAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaSettings:
    """What is taken of attachments, and who listens to voice notes. MB are a million bytes."""

    transcription: str = _one_of("", "", "openai", "command")
    transcription_model: str = "whisper-1"
    transcription_command: tuple[str, ...] = ()
    transcription_seconds: int = _number(60, 1, 3600)
    image_mb: float = _number(3.9, 0.1, 7.8)
    file_mb: float = _number(10.0, 0.1, 50)
    document_characters: int = _number(60_000, 1000, 400_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestSettings:
    """Where jobs gather from: which GitHub, and whether this machine's own network, too."""

    github_url: str = _text("https://api.github.com", Allowed(complain=complain_of_server))
    allow_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The HTTP server. After `load`, port 0 means that there is none."""

    port: int = _number(0, 0, 65_535)
    bind: str = _text("127.0.0.1", Allowed(complain=complain_of_address))


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings:
    """How Telegram is written to and read from; times in seconds."""

    messages_per_second: float = _number(30.0, 0, 1000)
    edit_interval: float = _number(1.0, 0, 60)
    poll_timeout: int = _number(30, 0, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSettings:
    """How Discord is written to and what it is asked for; times in seconds."""

    messages_per_second: float = _number(40.0, 0, 1000)
    edit_interval: float = _number(1.2, 0, 60)
    thread_per_mention: bool = False
    message_content: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    """How Slack comes to us and is written to; times in seconds."""

    mode: str = _one_of("socket", "socket", "http")
    http_bind: str = _text("127.0.0.1", Allowed(complain=complain_of_address))
    http_port: int = _number(3000, 1, 65_535)
    sockets: int = _number(2, 1, 10)
    messages_per_second: float = _number(10.0, 0, 1000)
    edit_interval: float = _number(1.5, 0, 60)
    streaming: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """What is logged, and whether into `logs/` too."""

    level: str = _one_of("info", "debug", "info", "warning", "error")
    file: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSettings:
    """What holds for people who have set nothing themselves."""

    time_zone: str = _text("", Allowed(complain=complain_of_time_zone))
    language: str = _text("", Allowed(complain=complain_of_language))


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Tokens, keys and the servers they are shown to, from the environment only.

    None of them is ever in a `repr`. An address may hold a password, so it is a secret too.
    """

    telegram_bot_token: str | None = field(default=None, repr=False)
    discord_bot_token: str | None = field(default=None, repr=False)
    slack_bot_token: str | None = field(default=None, repr=False)
    slack_app_token: str | None = field(default=None, repr=False)
    slack_signing_secret: str | None = field(default=None, repr=False)
    anthropic_api_key: str | None = field(default=None, repr=False)
    openai_api_key: str | None = field(default=None, repr=False)
    github_token: str | None = field(default=None, repr=False)
    honcho_api_key: str | None = field(default=None, repr=False)
    telegram_api_base_url: str | None = field(default=None, repr=False)
    discord_api_base_url: str | None = field(default=None, repr=False)
    discord_gateway_url: str | None = field(default=None, repr=False)
    slack_api_base_url: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = field(default=None, repr=False)
    openai_base_url: str | None = field(default=None, repr=False)
    honcho_base_url: str | None = field(default=None, repr=False)


Table = (
    ModelSettings
    | AccessSettings
    | TurnSettings
    | CostSettings
    | MemorySettings
    | RecallSettings
    | RetentionSettings
    | JobSettings
    | SkillSettings
    | PromptSettings
    | ContextSettings
    | MediaSettings
    | DigestSettings
    | HttpSettings
    | TelegramSettings
    | DiscordSettings
    | SlackSettings
    | LogSettings
    | PeopleSettings
)
