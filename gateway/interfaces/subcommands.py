"""The subcommands of `talaria` with their summaries; quick to import for `--help`."""

import argparse
import importlib
from collections.abc import Callable, Mapping
from typing import cast

from gateway.interfaces.parser import Parser

SUBCOMMANDS: Mapping[str, str] = {
    "setup": "Connect a model and chat apps, step by step",
    "run": "Start the gateway",
    "service": "Keep Talaria running through systemd or launchd",
    "chat": "Chat in this terminal, or through a pipe",
    "check": "Check the installation without changing anything",
    "doctor": "Check everything, ask the services too, and apply safe fixes",
    "logs": "Show the newest lines of the log, and follow it",
    "top": "Show live what the gateway does: platforms, queues and turns",
    "people": "Manage people, their accounts and their data",
    "turns": "Inspect and replay turns, list undelivered messages",
    "jobs": "Manage scheduled jobs",
    "models": "List models, what was learned of them, and local ones",
    "skills": "Manage skills",
    "plugins": "List plug-ins, and what is wrong with them",
    "tools": "List tools, and switch them off or on for a person",
    "approvals": "List and revoke what tools may do without a question",
    "agents": "Create, list and check named agents",
    "secrets": "List the secrets that tools use by name",
    "mcp": "Add MCP servers, test them, and accept their tools",
    "tokens": "Make, list and revoke tokens for people's other programs",
    "webhooks": "Send people's events to other programs, signed",
    "memory": "Show and undo changes to memory",
    "console": "Make a one-time link to somebody's pages of the console",
    "logins": "Show and end the logins of browsers to the console page",
    "backup": "Back up the home, even while it is in use",
    "restore": "Restore a home from a backup, or rehearse it",
    "import": "Import memory, skills and jobs of Hermes Agent or OpenClaw",
    "completion": "Print a script that completes `talaria` in your shell",
    "version": "Show the version of Talaria and of Python",
}
"""The summaries in the order of `talaria --help`. `gateway.interfaces.cli` has their modules."""


_MODULES = {"import": "imports"}
"""Modules whose names differ from their subcommands, because those are Python keywords."""


Run = Callable[[argparse.Namespace, Mapping[str, str]], int]
"""Runs a subcommand with an environment, and returns an exit code: 0 done, 1 failed, 2 misused."""
Announce = Callable[[argparse.Namespace, Mapping[str, str]], str]
"""Returns a line that says what a subcommand does, before the slow import of its code.

Raises what the subcommand's `Run` raises.
"""


def name_module(name: str) -> str:
    """Return the full name of the module of a subcommand."""
    return f"gateway.interfaces.cli.{_MODULES.get(name, name)}"


def load_arguments(name: str) -> Callable[[Parser], None]:
    """Import the function that adds a subcommand's arguments.

    Raises `KeyError` if there is no such subcommand.
    """
    return cast("Callable[[Parser], None]", _load(name, "configure", "arguments"))


def find_announcement(name: str) -> Announce | None:
    """Return a subcommand's announcement; None if it has none, because it is quick to import."""
    module = importlib.import_module(load_arguments(name).__module__)
    return cast("Announce | None", getattr(module, "announce", None))


def load_run(name: str) -> Run:
    """Import a subcommand with everything that it needs.

    Raises `KeyError` if there is no such subcommand.
    """
    return cast(Run, _load(name, "run", "command"))


def _load(name: str, function: str, part: str) -> object:
    """Import a function from a subcommand's module, or from the named part of its package."""
    SUBCOMMANDS[name]
    module = importlib.import_module(name_module(name))
    if not hasattr(module, function):
        module = importlib.import_module(f"{module.__name__}.{part}")
    return getattr(module, function)
