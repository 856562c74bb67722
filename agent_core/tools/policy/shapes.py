"""The shape of an action: what a person allows when they allow more than one call.

The words that describe a shape are the shape itself, so an approval covers what its words say.
"""

import json
import shlex
from collections.abc import Mapping
from urllib.parse import urlsplit

from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.paths import ANYWHERE, OUTSIDE, SYSTEM, WORKSPACE
from agent_core.tools.policy.plain_words import leave_open, mark_file
from agent_core.tools.policy.programs import MAILERS
from agent_core.tools.policy.requests import reveal
from agent_core.tools.policy.transfers import host_of

_Covered = str | Mapping[str, str | list[str]] | None
"""What a shape covers besides its place: a target, the words of a command, or a whole text."""
_COMMANDS = frozenset(("run", "send", "install"))
_FILES = frozenset(("read", "write", "delete"))
_PLACES = frozenset((WORKSPACE, SYSTEM, OUTSIDE))
_TERMINAL = "terminal"
_UNTOLD = frozenset(("process", "write_file", "patch"))
"""Tools whose actions name what is reached, but not the text that goes there."""
_SERVER = "mcp:"
_UNKNOWN = frozenset("$`*?[]{}~…")
"""Characters that may stand for text which only bash knows."""
_OPERATORS = frozenset("<>|&;")


def shape_of(tool: str, action: Action) -> str:
    """Return the shape of an action as JSON: the tool, the kind, the place, and what is covered.

    Returns "" if the action has no shape, because its extent is unknown.
    """
    if action.place == ANYWHERE or not action.target or tool in _UNTOLD:
        return ""
    named = action.target + action.place + action.within
    if not named.isprintable() or reveal(named) != named:
        return ""  # a person could not see the extent of the approval
    if action.kind in ("use", "spend") or (action.kind == "delete" and action.place != WORKSPACE):
        return ""  # only a rule of the owner can allow more than one such call
    if action.place.startswith(_SERVER) and tool != _TERMINAL:
        return _dump(tool, action)  # the name of a server's tool is its whole shape
    covered = _find_covered(tool, action)
    return _dump(tool, action, covered) if covered else ""


def _find_covered(tool: str, action: Action) -> _Covered:
    """Return the part of a shape that tells what is covered besides the place."""
    if tool == _TERMINAL and action.kind in _COMMANDS:
        return _cover_command(action)
    if action.kind == "fetch" and action.is_outward:
        return _cover_address(action.target)
    if action.kind in _FILES and action.place in _PLACES:
        if set(action.target) & (_UNKNOWN | _OPERATORS):
            return None
        is_open = action.place == WORKSPACE and action.kind != "delete"
        return {"words": [mark_file(action.target) if is_open else shlex.quote(action.target)]}
    return action.target


def _cover_command(action: Action) -> _Covered:
    """Return the words of a command; for one among others, the whole text in which it stands.

    Pipes, redirections, variables and folders can change what the same words do.
    """
    whole = action.within or action.target
    if set(action.target) & (_UNKNOWN | _OPERATORS) or set(whole) & _UNKNOWN:
        return None
    try:
        words, text = shlex.split(action.target), shlex.split(whole)
    except ValueError:
        return None
    if not words or "/" in words[0] or words[0] in MAILERS or "send-email" in words:
        return None
    if words != text:
        return {"text": whole}
    shown = leave_open(words, is_outward=action.is_outward)
    return {"words": [one if "<" in one else shlex.quote(one) for one in shown]}


def _cover_address(url: str) -> _Covered:
    """Return the scheme, the host and the port of an address; an odd address covers only itself."""
    host = host_of(url)
    scheme = f"{url.partition('://')[0].lower()}://" if "://" in url else ""
    if not host or "\\" in url or "@" in urlsplit(url if scheme else f"http://{url}").netloc:
        return url
    return {"words": [f"<any address at {scheme}{host}>"]}


def read_shape(shape: str) -> tuple[str, str]:
    """Return the name of the tool whose calls have a shape, and their place."""
    tool, _, place, *_ = json.loads(shape)
    return tool, place


def is_exact(shape: str) -> bool:
    """Return whether a shape covers the words of one command, and nothing that differs."""
    _, _, _, *covered = json.loads(shape)
    return bool(covered) and isinstance(covered[0], dict) and "<any " not in _describe(covered[0])


def describe_shape(shape: str) -> str:
    """Describe a shape for a person; the description is shown as code."""
    tool, kind, place, *covered = json.loads(shape)
    if place.startswith(_SERVER) and not covered:
        return f"{tool}: {kind} <with anything> → {place}"
    where = "" if place in _PLACES else f" → {place}"
    return f"{tool}: {kind} {' '.join(map(_describe, covered))}{where}"


def _describe(covered: str | dict[str, str | list[str]]) -> str:
    """Describe what is covered."""
    if isinstance(covered, str):
        return covered
    words = covered.get("words")
    return " ".join(words) if words is not None else str(covered["text"])


def _dump(tool: str, action: Action, *covered: _Covered) -> str:
    return json.dumps([tool, action.kind, action.place, *covered], ensure_ascii=False)
