"""Find the variables that a bash command exports by name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_core.tools.policy import programs
from agent_core.tools.policy.shell import SimpleCommand, parse_script

_NAME = re.compile(r"([A-Za-z_]\w*)(?:\+?=.*)?", re.ASCII | re.DOTALL)
_SOURCES = frozenset(("source", ".", "eval", "set"))
"""Builtins after which unknown variables may be exported."""
_MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Exports:
    """The exported variables of a command.

    `plain` are names that no program obeys. Later programs obey the `strange` ones: they would run
    what a value names. With `has_others`, the command may export variables that it does not name.
    """

    plain: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    has_others: bool = False


def list_exports(text: str) -> Exports:
    """Return what a command exports, from bash's grammar. Never raises."""
    script = parse_script(text)
    words = [word for command in script.commands for word in _list_words(command)]
    names = [found[1] for word in words if word and (found := _NAME.fullmatch(word))]
    known = list(dict.fromkeys(names))[:_MOST]
    is_sourced = any(
        command.words and command.words[0].value in _SOURCES for command in script.commands
    )
    return Exports(
        plain=tuple(name for name in known if not programs.is_strange(name)),
        strange=tuple(name for name in known if programs.is_strange(name)),
        has_others=script.is_unclear or is_sourced or len(names) < len(words),
    )


def _list_words(command: SimpleCommand) -> Iterator[str]:
    """Yield the operands of a builtin that exports; one without a certain name is empty."""
    if not command.words or command.words[0].value not in ("export", "declare", "typeset"):
        return
    options = [word.value or "" for word in command.words[1:] if word.source.startswith("-")]
    if command.words[0].value != "export" and not any("x" in option for option in options):
        return
    for word in command.words[1:]:
        if not word.source.startswith("-"):
            yield word.source if _NAME.fullmatch(word.source) else ""
