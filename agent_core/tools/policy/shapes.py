"""The shape of an action: what a person allows when they allow more than one call.

The words that describe a shape are the shape itself, so an approval covers what its words say.
"""

import json
import shlex
from collections.abc import Mapping
from urllib.parse import urlsplit

from agent_core.tools.policy.approval_requests import reveal
from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.paths import ANYWHERE, LISTED, OUTSIDE, SYSTEM, WORKSPACE
from agent_core.tools.policy.plain_words import leave_open
from agent_core.tools.policy.programs import MAILERS
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


def shape_of(tool: str, action: Action, *, is_guarded: bool = False) -> str:
    """Return the shape of an action as JSON: the tool, the kind, the place, and what is covered.

    Returns "" if the action has no shape, because its extent is unknown. With `is_guarded`, the
    person is asked because of untrusted words: then a command's shape leaves no word open.
    """
    if not action.target or tool in _UNTOLD:
        return ""
    named = action.target + action.place + action.within
    if not named.isprintable() or reveal(named) != named:
        return ""  # a person could not see the extent of the approval
    if action.kind in ("use", "spend") or (action.kind == "delete" and action.place != WORKSPACE):
        return ""  # only a rule of the owner can allow more than one such call
    if action.place.startswith(_SERVER) and tool != _TERMINAL:
        return _dump(tool, action)  # the name of a server's tool is its whole shape
    covered = _find_covered(tool, action, is_guarded=is_guarded)
    return _dump(tool, action, covered) if covered else ""


def _find_covered(tool: str, action: Action, *, is_guarded: bool) -> _Covered:
    """Return the part of a shape that tells what is covered besides the place."""
    if tool == _TERMINAL and action.kind in _COMMANDS:
        return _cover_command(action, is_guarded=is_guarded)
    if action.place == ANYWHERE:
        return None
    if action.kind == "fetch" and action.is_outward:
        return _cover_text(action) if tool == _TERMINAL else _cover_address(action.target)
    if action.kind in _FILES and action.place in _PLACES:
        if set(action.target) & (_UNKNOWN | _OPERATORS):
            return None
        path: dict[str, str | list[str]] = {"words": [shlex.quote(action.target)]}
        if not action.within:
            return path
        return None if set(action.within) & _UNKNOWN else {**path, "text": action.within}
    if action.kind == "send":  # the action names who gets it, and not the text
        return None if is_guarded else {"words": [f"{action.target} <any text>"]}
    return action.target


def _cover_command(action: Action, *, is_guarded: bool) -> _Covered:
    """Return the words of a command; for one among others, the whole text in which it stands.

    Pipes, redirections, variables and folders can change what the same words do. A command that may
    reach anybody has a shape only if its usage is known, and never after untrusted words. One that
    a list of hosts bounds has its whole text as its shape.
    """
    whole = action.within or action.target
    if action.place == LISTED:
        return {"text": whole}
    if set(action.target) & (_UNKNOWN | _OPERATORS) or set(whole) & _UNKNOWN:
        return None
    try:
        words, text = shlex.split(action.target), shlex.split(whole)
    except ValueError:
        return None
    if not words or "/" in words[0] or words[0] in MAILERS or "send-email" in words:
        return None
    known = leave_open(words, is_outward=action.is_outward) if words == text else None
    if action.place == ANYWHERE and (known is None or is_guarded):
        return None
    if words != text:
        return {"text": whole}
    shown = words if known is None or is_guarded else known
    return {"words": [one if "<" in one else shlex.quote(one) for one in shown]}


def _cover_text(action: Action) -> _Covered:
    """Return the whole text of a command that fetches: its options and its words tell something."""
    whole = action.within or action.target
    return None if set(whole) & _UNKNOWN else {"text": whole}


def _cover_address(url: str) -> _Covered:
    """Return the scheme, the host and the port of an address.

    An odd address covers only itself, and so does one with a query, which may be a form.
    """
    host = host_of(url)
    scheme = f"{url.partition('://')[0].lower()}://" if "://" in url else ""
    is_odd = not host or set(url) & set("\\?;")
    if is_odd or "@" in urlsplit(url if scheme else f"http://{url}").netloc:
        return url
    return {"words": [f"<any address without a query at {scheme}{host}>"]}


def read_shape(shape: str) -> tuple[str, str]:
    """Return the name of the tool whose calls have a shape, and their place."""
    tool, _, place, *_ = json.loads(shape)
    return tool, place


def is_exact(shape: str) -> bool:
    """Return whether a shape covers the words of one command, and nothing that differs."""
    _, kind, _, *covered = json.loads(shape)
    if not covered or not isinstance(covered[0], dict):
        return False
    is_bound = kind in _COMMANDS or "text" in covered[0]
    return is_bound and "<any " not in _describe(covered[0])


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
    return " with ".join(
        " ".join(one) if isinstance(one, list) else one for one in covered.values()
    )


def _dump(tool: str, action: Action, *covered: _Covered) -> str:
    return json.dumps([tool, action.kind, action.place, *covered], ensure_ascii=False)
