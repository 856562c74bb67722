"""All that can be set, as frozen values; the only reader of the process's environment."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import cast

from gateway.config.sources import (
    HOME_VARIABLE,
    Allowed,
    Value,
    read_environment,
    read_file,
    read_secrets,
)
from gateway.config.tables import (
    AccessSettings,
    ContextSettings,
    CostSettings,
    DigestSettings,
    DiscordSettings,
    HttpSettings,
    JobSettings,
    LogSettings,
    MediaSettings,
    MemorySettings,
    ModelSettings,
    PeopleSettings,
    PromptSettings,
    RecallSettings,
    RetentionSettings,
    Secrets,
    SkillSettings,
    SlackSettings,
    Table,
    TelegramSettings,
    TurnSettings,
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


class SettingsError(Exception):
    """A setting can't be used. The text is a sentence that says where, what and what instead."""


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
    recall: RecallSettings = field(default_factory=RecallSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    jobs: JobSettings = field(default_factory=JobSettings)
    skills: SkillSettings = field(default_factory=SkillSettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    media: MediaSettings = field(default_factory=MediaSettings)
    digest: DigestSettings = field(default_factory=DigestSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    telegram: TelegramSettings = field(default_factory=TelegramSettings)
    discord: DiscordSettings = field(default_factory=DiscordSettings)
    slack: SlackSettings = field(default_factory=SlackSettings)
    log: LogSettings = field(default_factory=LogSettings)
    people: PeopleSettings = field(default_factory=PeopleSettings)


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
    _check_memory(settings.memory, secrets)
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


def _check_memory(memory: MemorySettings, secrets: Secrets) -> None:
    """A server of one's own needs an address and no key."""
    if not memory.provider:
        return
    if not (secrets.honcho_api_key or secrets.honcho_base_url):
        raise SettingsError(
            "memory.provider is honcho, but neither HONCHO_API_KEY nor HONCHO_BASE_URL is set."
        )
    if not memory.workspace:
        raise SettingsError("memory.workspace can't be empty where memory.provider is honcho.")


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
