"""The subcommands of `talaria` with their summaries; quick to import for `--help`."""

import argparse
import importlib
from collections.abc import Callable, Mapping
from typing import cast

from gateway.interfaces.parser import Parser

_GROUPS: Mapping[str, Mapping[str, str]] = {
    "Start": {
        "setup": "Connect a model and chat apps, step by step",
        "run": "Start the gateway",
        "stop": "Stop the running gateway in order",
        "service": "Keep Talaria running through systemd or launchd",
        "chat": "Chat in this terminal, or through a pipe",
        "console": "Make a one-time link to somebody's pages of the console",
    },
    "Look": {
        "status": "Say whether Talaria runs, since when, and how it is",
        "top": "Show live what the gateway does: platforms, queues and turns",
        "doctor": "Check everything, ask the services too, and apply safe fixes",
        "check": "Check the installation without changing anything",
        "logs": "Show the newest lines of the log, and follow it",
        "turns": "Inspect and replay turns, list undelivered messages",
    },
    "Change": {
        "config": "Show and change settings, with the same checks as a start",
        "people": "Manage people, their accounts and their data",
        "rooms": "List groups, and choose how each is answered",
        "memory": "Show and undo changes to memory",
        "jobs": "Manage scheduled jobs",
        "skills": "Manage skills",
        "agents": "Make, change, list and check named agents",
        "teams": "Make, change and list teams of named agents",
        "models": "List models, what was learned of them, and local ones",
        "tools": "List tools, and switch them off or on for a person",
        "approvals": "List and revoke what tools may do without a question",
        "secrets": "List the secrets that tools use by name",
        "plugins": "List plug-ins, and what is wrong with them",
    },
    "Train": {
        "batch": "Run a file of tasks, and keep what was said as training data",
    },
    "Connect": {
        "mcp": "Add MCP servers, test them, and accept their tools",
        "tokens": "Make, list and revoke tokens for people's other programs",
        "webhooks": "Send people's events to other programs, signed",
        "logins": "Show and end the logins of browsers to the console page",
        "import": "Import memory, skills and jobs of Hermes Agent or OpenClaw",
    },
    "Keep": {
        "backup": "Back up the home, even while it is in use",
        "restore": "Restore a home from a backup, or rehearse it",
        "upgrade": "Upgrade Talaria the way it was installed",
        "uninstall": "Remove the service and, if you want, the data",
        "completion": "Let your shell complete `talaria` with Tab",
        "help": "List the commands, or explain one",
        "version": "Show the version of Talaria and of Python",
    },
}
"""The summaries by group, in the order of `talaria --help`."""
SUBCOMMANDS: Mapping[str, str] = {
    word: summary for group in _GROUPS.values() for word, summary in group.items()
}
"""The summaries. `gateway.interfaces.cli` has their modules."""


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


def describe_all() -> str:
    """Return the text of `talaria --help`."""
    width = max(map(len, SUBCOMMANDS))
    lines = ["Usage: talaria COMMAND [...]", ""]
    lines += ["A self-hosted assistant for the chat apps you already use."]
    for title, group in _GROUPS.items():
        lines += ["", f"{title}:"]
        lines += [f"  {word:<{width}}  {summary}" for word, summary in group.items()]
    return "\n".join(
        [
            *lines,
            "",
            "`talaria COMMAND --help` explains a command. Exit codes: 0 done, 1 failed,",
            "2 usage or configuration error. The home directory is ~/.talaria or TALARIA_HOME.",
        ]
    )


def make_parser(name: str) -> Parser:
    """Make the parser of a subcommand. Raises `KeyError` if there is no such subcommand."""
    parser = Parser(prog=f"talaria {name}", description=f"{SUBCOMMANDS[name]}.")
    load_arguments(name)(parser)
    return parser


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
