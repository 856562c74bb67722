"""The subcommands of `talaria`, with their summaries; light enough for `--help`."""

import argparse
import gc
import importlib
from collections.abc import Mapping
from typing import Protocol, cast

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
    "models": "List models with their prices, and update the prices",
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
"""In the order of `talaria --help`; `gateway.interfaces.cli` has a module for each."""


_MODULES = {"import": "imports"}
"""Modules with other names than their subcommands, because the name is a word of Python."""


class Subcommand(Protocol):
    """The interface of a module in `gateway.interfaces.cli`."""

    def configure(self, parser: Parser) -> None:
        """Add the subcommand's own arguments and examples."""

    def run(self, arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
        """Run the subcommand and return its exit code: 0 done, 1 failed, 2 usage error."""


def name_module(name: str) -> str:
    """Return the full name of the module of a subcommand."""
    return f"gateway.interfaces.cli.{_MODULES.get(name, name)}"


def load(name: str) -> Subcommand:
    """Import the module of a subcommand. Raises `KeyError` for a name that is none."""
    SUBCOMMANDS[name]
    # Imports create a million objects, and all of them stay. Collecting garbage meanwhile
    # takes an eighth of the time.
    gc.disable()
    try:
        return cast(Subcommand, importlib.import_module(name_module(name)))
    finally:
        gc.enable()
