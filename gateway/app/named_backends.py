"""Backends with names of the owner's: `[tools]` as each of them has it."""

from typing import get_args

from pydantic import ValidationError

from agent_core.execution.hosted.prices import estimate_daytona, estimate_modal
from gateway.app.credentials import Secrets
from gateway.app.settings_check import explain
from gateway.app.tables import ToolSettings
from gateway.app.tool_rules import BackendName, NamedBackend
from gateway.errors import SettingsError

MEGABYTE = 1_000_000
_LIMITS = ("command_seconds", "cpu_minutes", "file_mb", "memory_mb", "processes", "workspace_mb")
"""The settings that every kind has."""


def find_backend(table: ToolSettings, name: str) -> NamedBackend:
    """Return the backend of a name; a kind is one without settings of its own.

    Raises `SettingsError` if there is none.
    """
    found = {one.name: one for one in table.named_backends}
    if name in found:
        return found[name]
    kind = next((one for one in get_args(BackendName) if one == name), None)
    if kind is None:
        known = ", ".join((*get_args(BackendName), *found))
        raise SettingsError(f"There is no backend {name}; there are {known}.")
    return NamedBackend(name=name, kind=kind)


def list_used(table: ToolSettings) -> frozenset[str]:
    """List the backends that somebody, a job or a skill may use."""
    open_ones = [one.name for one in table.named_backends if one.people]
    return frozenset((table.backend, *dict(table.backends).values(), *open_ones)) - {""}


def check_backends(table: ToolSettings, secrets: Secrets) -> None:
    """Check all backends that are named or used.

    Raises `SettingsError` if one lacks what its kind needs, and for a name that none has.
    """
    chosen = dict(table.backends)
    used = [name for name in (table.backend, *chosen.values()) if name]
    for name in dict.fromkeys((*used, *(one.name for one in table.named_backends))):
        backend = find_backend(table, name)
        _check_needs(apply(table, backend), backend, secrets)
    for person in table.network_people:
        name = chosen.get(person, table.backend)
        if name and find_backend(table, name).kind != "local":
            raise SettingsError(
                f"tools.network_people works only with the local backend, and {person} has"
                f" {name}; take it out."
            )


def _check_needs(table: ToolSettings, backend: NamedBackend, secrets: Secrets) -> None:
    needed = {
        "docker": ("tools.docker_image", table.docker_image),
        "ssh": ("tools.ssh_host", table.ssh_host),
        "daytona": ("DAYTONA_API_KEY", secrets.daytona_api_key),
        "modal": (
            "MODAL_TOKEN_SECRET" if secrets.modal_token_id else "MODAL_TOKEN_ID",
            secrets.modal_token_id and secrets.modal_token_secret,
        ),
    }
    setting, value = needed.get(backend.kind, ("", "not needed"))
    if not value and backend.name == backend.kind:
        raise SettingsError(f"A backend is {backend.name}, but {setting} is not set.")
    if not value:
        own = setting.removeprefix(f"tools.{backend.kind}_")
        raise SettingsError(f"The backend {backend.name} is {backend.kind}, but {own} is not set.")
    has_size = table.daytona_cpus or table.daytona_gpu or table.daytona_memory_mb
    if backend.kind == "daytona" and has_size and not table.daytona_image:
        raise SettingsError(
            f"The backend {backend.name} has a size, which Daytona gives only to sandboxes of an"
            " image; set its image, too."
        )


def apply(table: ToolSettings, backend: NamedBackend) -> ToolSettings:
    """Return `[tools]` with the settings of a backend in place of the common ones.

    Raises `SettingsError` for a setting that its kind does not have, and for a wrong value.
    """
    if not backend.options:
        return table
    row, written = {}, {}
    for option, value in backend.options:
        names = _find_settings(backend, option)
        row.update(dict.fromkeys(names, _unfold(value, names[0])))
        written.update(dict.fromkeys(names, option))
    try:
        checked = ToolSettings.model_validate(row, strict=False)
    except ValidationError as error:
        sentence = explain(
            lambda key: f"{written[key]} of the backend {backend.name}", error, ToolSettings, row
        )
        raise SettingsError(f"tools.named_backends: {sentence}") from error
    return table.model_copy(update={name: getattr(checked, name) for name in row})


def find_most_seconds(table: ToolSettings) -> int:
    """Return the longest time of a command in any backend; each backend enforces its own."""
    tables = [table, *(apply(table, one) for one in table.named_backends)]
    return max(one.command_seconds for one in tables)


def list_options(kind: BackendName) -> tuple[str, ...]:
    """List the settings that a backend of a kind may have of its own."""
    start = f"{kind}_"
    own = [name.removeprefix(start) for name in ToolSettings.model_fields if name.startswith(start)]
    return tuple(sorted({*own, *_LIMITS}))


def _find_settings(backend: NamedBackend, option: str) -> list[str]:
    """Return the settings of `[tools]` that an option stands for.

    The memory of a sandbox is also the most that a command in it may use.
    """
    names = [f"{backend.kind}_{option}", *([option] if option in _LIMITS else [])]
    found = [name for name in names if name in ToolSettings.model_fields]
    if not found:
        known = ", ".join(list_options(backend.kind))
        raise SettingsError(
            f"tools.named_backends: {backend.name} has {option}, which the kind {backend.kind} does"
            f" not know; it has {known}."
        )
    return found


def _unfold(value: object, name: str) -> object:
    """Make a list of a single text where a list is meant, as in a variable."""
    is_list = isinstance(ToolSettings.model_fields[name].default, tuple)
    return (value,) if is_list and isinstance(value, str) else value


def describe_cost(table: ToolSettings, backend: NamedBackend) -> str:
    """Describe what an hour costs; `table` is `[tools]` as the backend has it."""
    if backend.usd_per_hour is not None:
        return f"${backend.usd_per_hour:.2f} an hour, as you say"
    if backend.kind == "modal":
        usd = estimate_modal(table.modal_cpus, table.modal_memory_mb * MEGABYTE, table.modal_gpu)
    elif backend.kind == "daytona":
        memory = table.daytona_memory_mb * MEGABYTE
        usd = estimate_daytona(table.daytona_cpus, memory, table.daytona_gpu)
    else:
        return "no more than the machine itself"
    if usd is None:
        return "an unknown price; usd_per_hour in its table says it"
    return f"about ${usd:.2f} an hour for each person whose sandbox is awake, by list prices"
