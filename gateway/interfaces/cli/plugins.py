"""`talaria plugins`: lists plug-ins, and explains faults of the enabled ones."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gateway.home import find_home
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings

if TYPE_CHECKING:
    from gateway.app.external_plugins import Plugin

_FAILED = 1
_ORIGINS = {"installed": "installed", "home": "in the home"}


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser(
        "list", help="list plug-ins with what they add; 1 if one is broken (the default)"
    )
    parser.examples = ("talaria plugins list",)


def announce(_: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Return a line that says what the command does."""
    return f"Plug-ins that are installed, or in {find_home(environ)}:"


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """List all plug-ins, and load the enabled ones to find faults. Raises `StartError`."""
    from gateway.app.external_plugins import FOLDER, ExternalPlugins, discover

    settings = read_settings(environ)
    external = ExternalPlugins(settings)
    found = discover(settings.home)
    faults = {one: external.find_fault(one) for one in external.enabled}
    for plugin in found:
        print("\n".join(_describe(plugin, faults)))
    if not found:
        print(
            f"No plug-in is installed, and none is in {settings.home / FOLDER}."
            " docs/plugins.md explains how to add one."
        )
    elif not faults:
        print("None is loaded: plugins.enabled names those that are.")
    return _FAILED if any(faults.values()) else 0


def _describe(plugin: "Plugin", faults: "Mapping[Plugin, str]") -> Sequence[str]:
    from gateway.app.external_plugins import GROUPS

    state = "off" if plugin not in faults else "broken" if faults[plugin] else "on"
    lines = [f"{plugin.name} {plugin.version} ({_ORIGINS[plugin.origin]}): {state}"]
    lines += [f"  {GROUPS[entry.group]}: {entry.name}" for entry in plugin.entries]
    return [*lines, f"  {faults[plugin]}"] if faults.get(plugin) else lines
