"""Changes settings by name, after trying all of them with the new value."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from agent_core.spoken_settings import SettingName
from gateway.app.config_file import change_config
from gateway.app.settings import TABLES, Settings, load
from gateway.app.settings_check import SECRET_VARIABLES, name_variable, read_environment
from gateway.errors import Mistaken, SettingsError, find_nearest
from gateway.home import CONFIG_NAME, find_home, make_home


def set_value(environ: Mapping[str, str], name: str, text: str) -> None:
    """Set `table.key` in `config.toml` to the value that a text spells.

    Raises `Mistaken` if there is no such setting, and `SettingsError` if Talaria would not start
    with the value. Then nothing is written.
    """
    table, key = split_name(name)
    variable = name_variable(table, key)
    given = {variable: text}
    try:
        value = read_environment(given, TABLES)[table][key]
        load({**environ, **given})
    except SettingsError as error:
        raise SettingsError(str(error).replace(f"The variable {variable}", name)) from error
    home = find_home(environ)
    make_home(home)
    change_config(home / CONFIG_NAME, {table: {key: value}})


def unset(environ: Mapping[str, str], name: str) -> None:
    """Remove `table.key` from `config.toml`, so that its default counts again.

    Raises `Mistaken` if there is no such setting, and `SettingsError`.
    """
    table, key = split_name(name)
    path = find_home(environ) / CONFIG_NAME
    if path.exists():
        change_config(path, {table: {key: None}})


def split_name(name: str) -> tuple[str, str]:
    """Return the table and the key of a setting. Raises `Mistaken` with the nearest name."""
    known = [f"{table}.{key}" for table in TABLES for key in TABLES[table].model_fields]
    if name in known:
        table, _, key = name.partition(".")
        return table, key
    if name.upper() in SECRET_VARIABLES:
        raise Mistaken(f"{name.upper()} is a secret: `talaria setup` asks for it and checks it.")
    near = find_nearest(name, known)
    if not near and name.rpartition(".")[2] in get_args(SettingName):
        raise Mistaken(f"{name} is each person's own setting: they send /settings to Talaria.")
    hint = f"did you mean {near}?" if near else "docs/configuration.md lists all."
    raise Mistaken(f"There is no setting {name}; {hint}")


def list_set(settings: Settings) -> Iterator[tuple[str, Any, str]]:
    """Yield each setting that is set: its name, its value, and where that stands."""
    for name in sorted(settings.given):
        table, _, key = name.partition(".")
        variable = name_variable(table, key)
        where = variable if variable in settings.environ else CONFIG_NAME
        yield name, getattr(getattr(settings, table), key), where
