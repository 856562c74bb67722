"""Finds an operation by the name that it has on the control socket."""

from collections.abc import Mapping
from importlib import import_module

from gateway.operations.contract import Operation

_MODULES: Mapping[str, str] = {
    "accounts": "accounts",
    "agents": "agents",
    "approvals": "approvals",
    "backup": "backups",
    "curator": "curator",
    "fitness": "fitness",
    "imports": "imports",
    "jobs": "jobs",
    "jobs.preview": "job_previews",
    "logins": "logins",
    "mcp": "mcp",
    "memory": "memory",
    "models": "models",
    "people": "people",
    "privacy.import": "moves",
    "privacy": "privacy",
    "rooms": "rooms",
    "settings": "settings",
    "skills": "skills",
    "tokens": "tokens",
    "tools": "tools",
    "turns": "turns",
    "webhooks": "webhooks",
}
"""The module of each group, by the part before the dot or by the full name.

A module is imported when one of its operations is performed, so that a list of people doesn't wait
for the agent.
"""


def find_operation(name: str) -> Operation | None:
    """Return an operation by its name on the control socket, or None if there is none."""
    module = _MODULES.get(name) or _MODULES.get(name.partition(".")[0])
    if module is None:
        return None
    table: Mapping[str, Operation] = import_module(f"gateway.operations.{module}").OPERATIONS
    return table.get(name)
