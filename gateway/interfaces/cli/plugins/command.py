"""`talaria plugins`: lists plug-ins, and explains faults of the enabled ones."""

import argparse
from collections.abc import Mapping, Sequence

from gateway.app.external_plugins import FOLDER, GROUPS, ExternalPlugins, Plugin, discover
from gateway.interfaces.waiting import read_settings

_FAILED = 1
_ORIGINS = {"installed": "installed", "home": "in the home"}


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """List all plug-ins, and load the enabled ones to find faults. Raises `StartError`."""
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


def _describe(plugin: Plugin, faults: Mapping[Plugin, str]) -> Sequence[str]:
    state = "off" if plugin not in faults else "broken" if faults[plugin] else "on"
    lines = [f"{plugin.name} {plugin.version} ({_ORIGINS[plugin.origin]}): {state}"]
    lines += [f"  {GROUPS[entry.group]}: {entry.name}" for entry in plugin.entries]
    return [*lines, f"  {faults[plugin]}"] if faults.get(plugin) else lines
