"""All that can be set, as frozen values; the only reader of the process's environment."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeVar, cast

from agent_core.state.people import LEAST_CAP, MOST_CAP
from gateway.setting_sources import HOME_VARIABLE, read_environment, read_file, read_secrets
from gateway.setting_values import (
    Allowed,
    Value,
    complain_of_account,
    complain_of_address,
    complain_of_file,
    complain_of_language,
    complain_of_price,
    complain_of_time_zone,
)

CONFIG_NAME = "config.toml"
CONSOLE_PORT = 8765
"""Where the console page listens when no platform is configured and no port is set."""

_MODEL_NAMES = {
    "anthropic": ("claude-sonnet-5-5", "claude-haiku-5-5"),
    "openai": ("gpt-5-mini", ""),
    "scripted": ("stand-in", ""),
}
"""Of each provider: the model when none is named, and the cheap one ("": the same)."""

V = TypeVar("V", bound=Value)


class SettingsError(Exception):
    """A setting can't be used. The text is a sentence that says where, what and what instead."""


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
    """How long the two memory files of a person may become, in characters."""

    memory_limit: int = _number(2200, 200, 100_000)
    user_limit: int = _number(1375, 200, 100_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """What is done at its time. `backups` nightly copies of the database are kept, 0 for none."""

    per_person: int = _number(50, 0, 10_000)
    least_minutes: int = _number(5, 1, 1440)
    """Minutes between two runs of a job that thinks or runs a command."""
    at_once: int = _number(20, 1, 1000)
    backups: int = _number(7, 0, 1000)


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
    telegram_api_base_url: str | None = field(default=None, repr=False)
    discord_api_base_url: str | None = field(default=None, repr=False)
    discord_gateway_url: str | None = field(default=None, repr=False)
    slack_api_base_url: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = field(default=None, repr=False)
    openai_base_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set. A table of `config.toml` is a field here."""

    home: Path
    secrets: Secrets = field(default_factory=Secrets)
    model: ModelSettings = field(default_factory=ModelSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    turns: TurnSettings = field(default_factory=TurnSettings)
    cost: CostSettings = field(default_factory=CostSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    jobs: JobSettings = field(default_factory=JobSettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    media: MediaSettings = field(default_factory=MediaSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    telegram: TelegramSettings = field(default_factory=TelegramSettings)
    discord: DiscordSettings = field(default_factory=DiscordSettings)
    slack: SlackSettings = field(default_factory=SlackSettings)
    log: LogSettings = field(default_factory=LogSettings)
    people: PeopleSettings = field(default_factory=PeopleSettings)


Table = (
    ModelSettings
    | AccessSettings
    | TurnSettings
    | CostSettings
    | MemorySettings
    | RetentionSettings
    | JobSettings
    | PromptSettings
    | ContextSettings
    | MediaSettings
    | HttpSettings
    | TelegramSettings
    | DiscordSettings
    | SlackSettings
    | LogSettings
    | PeopleSettings
)

_DEFAULTS = Settings(home=Path())
TABLES: tuple[str, ...] = tuple(
    entry.name for entry in fields(Settings) if entry.name not in ("home", "secrets")
)
"""The names of the tables, in the order of the example file."""

SECRET_VARIABLES: tuple[str, ...] = tuple(entry.name.upper() for entry in fields(Secrets))
"""The variables that hold secrets and servers."""


def environment() -> Mapping[str, str]:
    """The process's environment; the only place that reads it."""
    return os.environ


def list_settings() -> Iterator[tuple[str, str, Value, Allowed]]:
    """Table, key, default and rule of every setting."""
    for table in TABLES:
        row: Table = getattr(_DEFAULTS, table)
        for entry in fields(row):
            allowed = cast(Allowed, entry.metadata.get("allowed", Allowed()))
            yield table, entry.name, cast(Value, entry.default), allowed


def load(environ: Mapping[str, str], *, home: Path | None = None) -> Settings:
    """Read the file and the environment; the environment wins. Writes nothing.

    `home` wins over `TALARIA_HOME`. Raises `SettingsError`.
    """
    rules = {(table, key): (default, allowed) for table, key, default, allowed in list_settings()}
    user_home = environ.get("HOME") or str(Path.home())
    place = _find_home(environ, home, user_home)
    try:
        found = read_file(place / CONFIG_NAME, rules, SECRET_VARIABLES)
        found |= read_environment(environ, rules)
        secrets = Secrets(**read_secrets(environ, SECRET_VARIABLES))
    except ValueError as error:
        raise SettingsError(str(error)) from error
    settings = Settings(home=place, secrets=secrets)
    for table in TABLES:
        row: Table = getattr(settings, table)
        changes = {key: value for (owner, key), value in found.items() if owner == table}
        # Names and types were held against these very fields, which mypy can't follow.
        settings = replace(settings, **{table: replace(row, **changes)})  # type: ignore[arg-type]
    _check_media(settings.media, secrets)
    return replace(
        settings,
        model=_resolve_model(settings.model, secrets),
        prompt=_resolve_prompt(settings, user_home),
        http=_resolve_http(settings.http, secrets),
    )


def _find_home(environ: Mapping[str, str], given: Path | None, user_home: str) -> Path:
    named = str(given) if given is not None else environ.get(HOME_VARIABLE, "").strip()
    home = _expand(named or "~/.talaria", user_home).absolute()
    if home.exists() and not home.is_dir():
        raise SettingsError(f"The home {home} is a file; {HOME_VARIABLE} has to name a folder.")
    return home


def _expand(path: str, user_home: str) -> Path:
    return Path(user_home + path[1:] if path == "~" or path.startswith("~/") else path)


def _resolve_model(model: ModelSettings, secrets: Secrets) -> ModelSettings:
    provider = model.provider
    if provider == "auto":
        if secrets.anthropic_api_key:
            provider = "anthropic"
        else:
            provider = "openai" if _has_openai(secrets) else "scripted"
    elif provider == "anthropic" and not secrets.anthropic_api_key:
        raise SettingsError("model.provider is anthropic, but ANTHROPIC_API_KEY is not set.")
    elif provider == "openai" and not _has_openai(secrets):
        raise SettingsError(
            "model.provider is openai, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set."
        )
    default_name, default_cheap = _MODEL_NAMES[provider]
    name = model.name or default_name
    cheap = model.cheap or default_cheap or name
    return replace(model, provider=provider, name=name, cheap=cheap)


def _has_openai(secrets: Secrets) -> bool:
    """A local server of the protocol needs an address and no key."""
    return bool(secrets.openai_api_key or secrets.openai_base_url)


def _check_media(media: MediaSettings, secrets: Secrets) -> None:
    if media.transcription == "openai" and not _has_openai(secrets):
        raise SettingsError(
            "media.transcription is openai, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set."
        )
    names_file = any("{file}" in word for word in media.transcription_command)
    if media.transcription == "command" and not names_file:
        raise SettingsError(
            "media.transcription is command, but media.transcription_command does not name one with"
            ' "{file}" in it; for instance ["whisper-cli", "--no-prints", "{file}"].'
        )


def _resolve_prompt(settings: Settings, user_home: str) -> PromptSettings:
    if not settings.prompt.folder:
        return settings.prompt
    folder = _expand(settings.prompt.folder, user_home)
    folder = folder if folder.is_absolute() else settings.home / folder
    if not folder.is_dir():
        raise SettingsError(f"prompt.folder names {folder}, which is not a folder.")
    return replace(settings.prompt, folder=str(folder))


def _resolve_http(http: HttpSettings, secrets: Secrets) -> HttpSettings:
    tokens = (secrets.telegram_bot_token, secrets.discord_bot_token, secrets.slack_bot_token)
    if http.port or any(tokens):
        return http
    return replace(http, port=CONSOLE_PORT)
