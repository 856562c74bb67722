"""`talaria config`: shows and changes settings, after checking all of them together."""

import argparse
import json
from collections.abc import Mapping

from gateway.home import CONFIG_NAME, find_home
from gateway.interfaces.client import is_served
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings


def configure(parser: Parser) -> None:
    """Add the verbs; without one, the settings are listed."""
    parser.examples = (
        "talaria config",
        "talaria config get model.name",
        "talaria config set turns.per_person 2",
        "talaria config unset turns.per_person",
    )
    parser.epilog = (
        "A setting is named by its table and key, as in docs/configuration.md. Keys and tokens are"
        " set by `talaria setup`."
    )
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the settings that are set, and where (the default)")
    get = verbs.add_parser(
        "get", help="show what a setting is now", examples=["talaria config get model.name"]
    )
    change = verbs.add_parser(
        "set",
        help="set it in config.toml, if Talaria would start with it",
        examples=["talaria config set people.time_zone Europe/Vienna"],
    )
    unset = verbs.add_parser(
        "unset",
        help="remove it from config.toml, so that its default counts",
        examples=["talaria config unset model.name"],
    )
    for one in (get, change, unset):
        one.add_argument("name", metavar="NAME", help="the setting, such as model.name")
    change.add_argument("value", metavar="VALUE", help="the value; commas separate those of a list")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Show or change settings. Raises `Mistaken` and `SettingsError`."""
    from gateway.app import config_changes

    given = dict(environ)  # reading the settings wipes the process's own keys
    if arguments.verb == "list":
        _list(given)
    elif arguments.verb == "get":
        table, key = config_changes.split_name(arguments.name)
        print(_spell(getattr(getattr(read_settings(given), table), key)))
    else:
        _change(arguments, given)
    return 0


def _list(environ: Mapping[str, str]) -> None:
    from gateway.app.config_changes import list_set

    settings = read_settings(environ)
    rows = [(f"{name} = {_spell(value)}", where) for name, value, where in list_set(settings)]
    print(f"Settings of {settings.home}:")
    width = max((len(text) for text, _ in rows), default=0)
    for text, where in rows:
        print(f"  {text:<{width}}  ({where})")
    if not rows:
        print("  none is set, so each has its default.")


def _change(arguments: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from gateway.app import config_changes
    from gateway.app.settings_check import name_variable

    name, home = arguments.name, find_home(environ)
    if arguments.verb == "set":
        config_changes.set_value(environ, name, arguments.value)
    else:
        config_changes.unset(environ, name)
    table, key = config_changes.split_name(name)
    value = _spell(getattr(getattr(read_settings(environ), table), key))
    print(
        f"{name} is {value}. It stands in {home / CONFIG_NAME}."
        if arguments.verb == "set"
        else f"{name} is {value} again, its default."
    )
    if (variable := name_variable(table, key)) in environ:
        print(f"The environment sets {variable}, which takes precedence. Remove it there.")
    if is_served(home):
        print("Talaria runs with the old value. Restart it to use the new one.")


def _spell(value: object) -> str:
    """Spell a value as `config.toml` does."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
