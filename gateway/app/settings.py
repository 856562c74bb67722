"""Loads all settings into one frozen value."""

import ctypes
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import tzlocal
from pydantic import Field, create_model
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from adapters import registry
from adapters.toolkit.table import Table
from agent_core.errors import name_installation
from agent_core.models.catalog import Prices, load_table, parse_price
from agent_core.models.local.servers import is_loopback
from agent_core.models.router import split_name
from agent_core.tools.workspace.named_secrets import NamedSecret
from gateway.app import settings_check
from gateway.app.backups import make_place
from gateway.app.credentials import Secrets
from gateway.app.env_file import add_saved
from gateway.app.logging import list_hidden
from gateway.app.mcp_file import list_mcp_variables
from gateway.app.named_backends import check_backends
from gateway.app.named_secrets import list_secret_variables, read_named_secrets
from gateway.app.redaction import looks_secret
from gateway.app.tables import (
    AccessSettings,
    AlertSettings,
    BackupSettings,
    ContextSettings,
    CostSettings,
    DigestSettings,
    HttpSettings,
    ImageSettings,
    JobSettings,
    LearningSettings,
    LogSettings,
    MediaSettings,
    MemorySettings,
    ModelSettings,
    PeopleSettings,
    PluginSettings,
    PromptSettings,
    RetentionSettings,
    SessionLogSettings,
    SkillSettings,
    TelemetrySettings,
    ToolSettings,
    TurnSettings,
    WebhookSettings,
)
from gateway.errors import SettingsError, suggest
from gateway.home import CONFIG_NAME, MODEL_TABLE, SKILLS, expand, open_home
from gateway.media.voices.installed import EXTRA, can_hear, can_speak

CONSOLE_PORT = 8765
"""Port of the console page if no platform is configured and no port is set."""

_LOCAL_TIMEOUT = 600.0
"""Seconds: reading the rules and tools takes a small machine two minutes, and loading one more."""
_CONNECTION = re.compile(r"(?i)_proxy$|^ssl_|^ssh_|^docker_|_ca_bundle$|^tz$|^lc_")
"""Variables that configure connections; the model's client and the backends read them later."""
_CREDENTIAL = re.compile(r"(?i)token|key|secret|pass|pwd|auth|cred|cookie|bearer|_pat$")
"""Names of variables that hold credentials. Values of other variables are not masked, because
ordinary words may equal them.
"""
_MODEL_NAMES = {
    "anthropic": ("claude-sonnet-5-5", "claude-haiku-5-5"),
    "openai": ("gpt-5-mini", ""),
    "scripted": ("stand-in", ""),
}
"""The default model and the cheap model of each provider; "" if the cheap one is the same."""


class Settings(BaseSettings):
    """Every setting. A table of `config.toml` is a field here.

    The environment wins over the file; both are read only by `load`.
    """

    model_config = SettingsConfigDict(frozen=True, strict=True, extra="forbid")

    home: Path
    environ: dict[str, str] = Field(exclude=True, repr=False)
    """The environment that the settings were read from."""
    secrets: Secrets = Secrets()
    named_secrets: tuple[NamedSecret, ...] = Field((), exclude=True, repr=False)
    """The secrets of `secrets.toml`, which tools use by name."""
    named_values: tuple[str, ...] = Field((), exclude=True, repr=False)
    """Credentials in variables that `mcp.toml` and the options of plug-ins name."""
    given: frozenset[str] = Field(frozenset(), exclude=True, repr=False)
    """The settings that the file or the environment sets, as `table.key`; all others have defaults.
    """
    has_no_model: bool = Field(False, exclude=True, repr=False)
    """True if no key, no provider and no model is set, so that the stand-in answers."""
    model: ModelSettings = ModelSettings()
    access: AccessSettings = AccessSettings()
    turns: TurnSettings = TurnSettings()
    cost: CostSettings = CostSettings()
    memory: MemorySettings = MemorySettings()
    retention: RetentionSettings = RetentionSettings()
    jobs: JobSettings = JobSettings()
    backup: BackupSettings = BackupSettings()
    skills: SkillSettings = SkillSettings()
    learning: LearningSettings = LearningSettings()
    plugins: PluginSettings = PluginSettings()
    prompt: PromptSettings = PromptSettings()
    context: ContextSettings = ContextSettings()
    media: MediaSettings = MediaSettings()
    images: ImageSettings = ImageSettings()
    digest: DigestSettings = DigestSettings()
    tools: ToolSettings = ToolSettings()
    http: HttpSettings = HttpSettings()
    log: LogSettings = LogSettings()
    alerts: AlertSettings = AlertSettings()
    session_log: SessionLogSettings = SessionLogSettings()
    webhooks: WebhookSettings = WebhookSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    people: PeopleSettings = PeopleSettings()

    def find_table(self, name: str) -> Table:
        """Return a table of `config.toml`."""
        table: Table = getattr(self, name)
        return table

    @property
    def zone(self) -> str:
        """The IANA time zone of people who have not set one."""
        return self.people.time_zone or tzlocal.get_localzone_name()

    @property
    def is_model_local(self) -> bool:
        """True if models of the provider openai run on this machine."""
        return self.model.runs_here and is_loopback(self.secrets.openai_base_url or "")

    @property
    def local_timeout(self) -> float:
        """Seconds of silence that end a call to a server of this machine, which may be slow."""
        is_set = "model.timeout" in self.given
        return self.model.timeout if is_set else max(_LOCAL_TIMEOUT, self.model.timeout)

    @property
    def prices(self) -> Prices:
        """The prices of models: the owner's own, then those of the newest table."""
        return Prices(
            cache_ttl=self.model.cache_ttl,
            own=dict(parse_price(text) for text in self.cost.prices),
            table=load_table(self.home / MODEL_TABLE),
            here=frozenset(self._list_local()),
        )

    def _list_local(self) -> Iterator[str]:
        """Yield the models that run on this machine."""
        for provider, name in map(split_name, self.model.named if self.is_model_local else ()):
            if (provider or self.model.provider) == "openai":
                yield name

    @property
    def hidden(self) -> list[str]:
        """The texts to mask in every log, message and stored answer."""
        return [*list_hidden(self.secrets, self.named_secrets), *self.named_values]

    @property
    def skill_places(self) -> tuple[Path, list[Path], Path | None]:
        """The folders of skills: the home's, further folders, and the working folder."""
        project = Path(self.prompt.folder) if self.prompt.folder else None
        return self.home / SKILLS, [Path(one) for one in self.skills.folders], project

    @property
    def dollar_limits(self) -> tuple[str, ...]:
        """The names of the limits in dollars that are set explicitly."""
        tables = {"cost": self.cost, "turns": self.turns}
        limits = (("cost", "person_day_usd"), ("cost", "house_day_usd"), ("turns", "max_cost_usd"))
        return tuple(
            f"{table}.{name}"
            for table, name in limits
            if name in tables[table].model_fields_set and getattr(tables[table], name)
        )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: first the arguments of `load`, then the environment, then the file."""
        given = init_settings()
        file = settings_check.read_file(given["home"] / CONFIG_NAME, TABLES)
        variables = settings_check.read_environment(given["environ"], TABLES)
        return (
            init_settings,
            InitSettingsSource(settings_cls, variables),
            InitSettingsSource(settings_cls, file),
        )


_AllSettings: type[Settings] = create_model(
    "_AllSettings",
    __base__=Settings,
    **cast(Any, {name: (table, table()) for name, table in registry.list_tables().items()}),
)
"""The settings with the tables of the platforms."""
TABLES: dict[str, type[Table]] = {
    name: type(field.default)
    for name, field in _AllSettings.model_fields.items()
    if isinstance(field.default, Table) and name != "secrets"
}
"""The tables of `config.toml`, in the order of the example file."""


def environment() -> Mapping[str, str]:
    """Return the process's environment; nothing else reads it."""
    return os.environ


def load(
    environ: Mapping[str, str], *, home: Path | None = None, without: Collection[str] = ()
) -> Settings:
    """Read the files and the environment; the environment wins.

    Finishes an interrupted restore, and writes nothing else. Takes variables that are empty or not
    set from the home's `.env`, except for those in `without`, which nothing sets. `home` wins over
    `TALARIA_HOME`. If `environ` is the process's own, removes its credentials. Raises
    `SettingsError`, and `StoreError` if a restore can't be finished.
    """
    user_home = environ.get("HOME") or str(Path.home())
    place = open_home(environ, home)
    saved = add_saved(environ, place)
    given = {name: value for name, value in saved.items() if name not in without}
    secrets = settings_check.read_secrets(given)
    named = read_named_secrets(place, given)
    settings = _AllSettings(home=place, environ=given, secrets=secrets, named_secrets=named)
    named_there = list_secret_variables(place) | _list_named_variables(settings)
    variables = {name for name in named_there if not _CONNECTION.search(name)}
    if environ is os.environ:
        _wipe_variables((*settings_check.SECRET_VARIABLES, *variables))
    _check_media(settings.media, secrets)
    if settings.images.model and not _has_openai(secrets):
        raise SettingsError(
            "images.model is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is."
        )
    _check_memory(settings.memory, secrets)
    _check_search(settings.tools, secrets)
    check_backends(settings.tools, secrets)
    make_place(settings.backup, secrets, place)
    _check_mounts(settings)
    model = _resolve_model(settings, secrets)
    asked = (settings.model.provider, settings.model.name)
    return settings.model_copy(
        update={
            "model": model,
            "has_no_model": asked == ("auto", "") and model.provider == "scripted",
            "prompt": _resolve_prompt(settings, user_home),
            "http": _resolve_http(settings.http, secrets),
            "given": frozenset(
                f"{name}.{key}"
                for name in TABLES
                for key in settings.find_table(name).model_fields_set
            ),
            "named_values": tuple(
                settings.environ[name]
                for name in sorted(variables & settings.environ.keys())
                if _CREDENTIAL.search(name) or looks_secret(settings.environ[name])
            ),
        }
    )


def _list_named_variables(settings: Settings) -> set[str]:
    """Return the variables that `mcp.toml` and the options of plug-ins name."""
    values = (option.partition("=")[2].strip() for option in settings.plugins.options)
    return {value[1:] for value in values if value.startswith("$")} | list_mcp_variables(
        settings.home
    )


def _wipe_variables(names: Iterable[str]) -> None:
    """Remove variables from the process's environment, and overwrite them in its memory.

    `/proc/PID/environ` shows the memory in which a process received its variables. Removing a
    variable alone would leave its value there.
    """
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    for name in names:
        if name in os.environ:
            place = libc.getenv(name.encode())
            ctypes.memset(place, 0, len(os.environb[name.encode()]))
            del os.environ[name]


def find_source(settings: Settings, table: str, key: str) -> str:
    """Return the variable that sets a value, or the name of the file; "" for a default."""
    variable = settings_check.name_variable(table, key)
    if variable in settings.environ:
        return variable
    return CONFIG_NAME if f"{table}.{key}" in settings.given else ""


def list_unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """List a warning for each `TALARIA_` variable that sets nothing, with the nearest name."""
    return settings_check.list_unknown_variables(environ, TABLES)


def _resolve_model(settings: Settings, secrets: Secrets) -> ModelSettings:
    model, provider = settings.model, settings.model.provider
    if provider == "auto":
        if secrets.anthropic_api_key:
            provider = "anthropic"
        else:
            provider = "openai" if _has_openai(secrets) else "scripted"
    if provider not in _MODEL_NAMES and not settings.plugins.enabled:
        hint = suggest(provider, ("auto", *_MODEL_NAMES))
        raise SettingsError(
            f'model.provider is "{provider}", which is neither a provider of Talaria nor one of an'
            f" enabled plug-in; {hint}"
        )
    default_name, default_cheap = _MODEL_NAMES.get(provider, ("", ""))
    name = model.name or default_name
    if not name:
        raise SettingsError(f"model.provider is {provider}, a plug-in; set model.name, too.")
    cheap = model.cheap or default_cheap or name
    resolved = model.model_copy(update={"provider": provider, "name": name, "cheap": cheap})
    for needed in resolved.providers:
        _check_key(needed, resolved, secrets)
    return resolved


def _check_key(provider: str, model: ModelSettings, secrets: Secrets) -> None:
    """Raise `SettingsError` if a provider that the models need has no key."""
    users = [name for name in model.named if split_name(name)[0] == provider]
    subject = f"{users[0]} is configured as a model" if users else f"model.provider is {provider}"
    if provider == "anthropic" and not secrets.anthropic_api_key:
        raise SettingsError(f"{subject}, but ANTHROPIC_API_KEY is not set.")
    if provider == "openai" and not _has_openai(secrets):
        raise SettingsError(f"{subject}, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set.")


def _has_openai(secrets: Secrets) -> bool:
    """Return whether a key or an address is set; a local server needs only an address."""
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

    for setting, chosen, is_there in (
        ("transcription", media.transcription, can_hear),
        ("speech", media.speech, can_speak),
    ):
        if chosen == "local" and not is_there():
            raise SettingsError(
                f"media.{setting} is local, but the extra {EXTRA} is not installed; run"
                f" {name_installation(EXTRA)} first."
            )
    if media.speech == "command" and not media.speech_command:
        raise SettingsError(
            "media.speech is command, but media.speech_command names none; for instance"
            ' ["espeak-ng", "-v", "{language}", "--stdin", "--stdout"].'
        )


def _check_memory(memory: MemorySettings, secrets: Secrets) -> None:
    """Refuse a memory provider without its key or address; a server of your own needs no key."""
    if not memory.provider:
        return
    if memory.provider != "honcho":
        return  # a plug-in, which the start looks for
    if not (secrets.honcho_api_key or secrets.honcho_base_url):
        raise SettingsError(
            "memory.provider is honcho, but neither HONCHO_API_KEY nor HONCHO_BASE_URL is set."
        )
    if not memory.workspace:
        raise SettingsError("memory.workspace can't be empty where memory.provider is honcho.")


def _check_mounts(settings: Settings) -> None:
    """Refuse mounts that show Talaria's own files, or the machine's controls, to commands."""
    home = settings.home.resolve()
    for mount in settings.tools.docker_mounts:
        shown = Path(mount.partition(":")[0]).resolve()
        if home.is_relative_to(shown) or shown.is_relative_to(home):
            reason = "Talaria's own files are there"
        elif any(shown.is_relative_to(place) for place in ("/proc", "/sys", "/dev", "/run")):
            reason = "it controls this machine"
        else:
            continue
        raise SettingsError(f"tools.docker_mounts can't show {shown} to commands: {reason}.")


def _check_search(tools: ToolSettings, secrets: Secrets) -> None:
    needed = {
        "searxng": ("tools.searxng_url", tools.searxng_url),
        "brave": ("BRAVE_API_KEY", secrets.brave_api_key),
        "tavily": ("TAVILY_API_KEY", secrets.tavily_api_key),
    }
    name, value = needed.get(tools.search, ("", "not needed"))
    if not value:
        raise SettingsError(f"tools.search is {tools.search}, but {name} is not set.")


def _resolve_prompt(settings: Settings, user_home: str) -> PromptSettings:
    if not settings.prompt.folder:
        return settings.prompt
    try:
        folder = expand(settings.prompt.folder, user_home)
    except ValueError as error:
        raise SettingsError(f"prompt.folder can't be used: {error}.") from error
    folder = folder if folder.is_absolute() else settings.home / folder
    if not folder.is_dir():
        raise SettingsError(f"prompt.folder names {folder}, which is not a folder.")
    return settings.prompt.model_copy(update={"folder": str(folder)})


def _resolve_http(http: HttpSettings, secrets: Secrets) -> HttpSettings:
    is_called = any(registry.list_declared()[name].needs_address for name in secrets.platforms)
    if http.port or (secrets.platforms and not is_called):
        return http
    return http.model_copy(update={"port": CONSOLE_PORT})
