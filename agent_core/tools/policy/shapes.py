"""The shape of an action: the pattern that a person allows when they allow several calls."""

import json
import posixpath
import shlex
from itertools import pairwise

from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.paths import ANYWHERE, OUTSIDE, SYSTEM, WORKSPACE
from agent_core.tools.policy.programs import MAILERS, REMOTE_SHELLS
from agent_core.tools.policy.requests import reveal
from agent_core.tools.policy.transfers import host_of

_COMMANDS = frozenset(("run", "send", "install"))
_FILES = frozenset(("read", "write", "delete"))
_PLACES = frozenset((WORKSPACE, SYSTEM, OUTSIDE))
_SUBCOMMANDS = frozenset(
    (
        *("git", "pip", "pip3", "pipx", "npm", "pnpm", "yarn", "bun", "apt", "apt-get", "apk"),
        *("cargo", "gem", "go", "composer", "uv", "poetry", "gh", "docker", "podman", "kubectl"),
        *("aws", "gcloud", "az", "conda", "mamba", "brew", "snap", "helm", "systemctl"),
    )
)
_SERVER = "mcp:"
_HIDDEN_IN_COMMAND = frozenset("$`*?[]{}~<>|&;\n…")


def shape_of(tool: str, action: Action) -> str:
    """Return the shape of an action as JSON: the tool, kind, program, options, host or folder.

    Returns "" if the action has no shape, because its extent is unknown.
    """
    if action.place == ANYWHERE or not action.target or _is_asked_each_time(action):
        return ""
    named = action.target + action.place
    if not named.isprintable() or reveal(named) != named:
        return ""  # a person could not see the extent of the approval
    if (action.kind in _COMMANDS and action.place in _PLACES) or _is_command(tool, action):
        words = _command_words(action)
        return _dump(tool, action, *words) if words else ""
    if action.kind == "fetch":
        host = host_of(action.target)
        return _dump(tool, action, host) if host else ""
    if action.kind in _FILES and action.place in _PLACES:
        folder = posixpath.dirname(action.target)
        if folder in ("", "/") or set(action.target) & _HIDDEN_IN_COMMAND:
            return ""
        return _dump(tool, action, folder)
    if action.place.startswith(_SERVER):
        return _dump(tool, action)  # the name of a server's tool is its whole shape
    return _dump(tool, action, action.target)


def _is_asked_each_time(action: Action) -> bool:
    """Return whether only a rule of the owner can allow more than one such call.

    This is true for using a secret, a payment, a mail, and a deletion outside the workspace.
    """
    if action.kind in _COMMANDS:
        words = _command_words(action)
        return bool(words) and (words[0] in MAILERS or words[:2] == ["git", "send-email"])
    is_far = action.place in (SYSTEM, OUTSIDE)
    return action.kind in ("use", "spend") or (action.kind == "delete" and is_far)


def read_shape(shape: str) -> tuple[str, str]:
    """Return the name of the tool whose calls have a shape, and their place."""
    tool, _, place, *_ = json.loads(shape)
    return tool, place


def describe_shape(shape: str) -> str:
    """Describe a shape for a person; the description is shown as code."""
    tool, kind, place, *words = json.loads(shape)
    where = "" if place in _PLACES else f" → {place}"
    return f"{tool}: {kind} {' '.join(words)}{where}"


def _is_command(tool: str, action: Action) -> bool:
    return action.kind == "send" and tool in ("terminal", "process")


def _command_words(action: Action) -> list[str]:
    """The program, its subcommand, and its options; [] if the command is unclear."""
    if set(action.target) & _HIDDEN_IN_COMMAND:
        return []
    try:
        words = shlex.split(action.target)
    except ValueError:
        return []
    if not words or "/" in words[0]:
        return []
    options = sorted({word for word in words[1:] if word.startswith("-")})
    if action.kind == "install":
        # The installed packages are the risk, so a shape covers only these packages.
        options += sorted(word for word in words[1:] if not word.startswith("-"))
        return [words[0], *options]
    subcommand = words[1] if words[0] in _SUBCOMMANDS and words[1:] else ""
    if subcommand.startswith("-"):
        return []  # only the program can tell an option's value from its subcommand
    if words[0] in REMOTE_SHELLS:
        # Their options can name other hosts and programs, so a shape covers only these values.
        options = [word for before, word in pairwise(words) if "-" in (before[:1], word[:1])]
    return [words[0], *([subcommand] if subcommand else []), *options]


def _dump(tool: str, action: Action, *words: str) -> str:
    return json.dumps([tool, action.kind, action.place, *words], ensure_ascii=False)
