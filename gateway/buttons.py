"""Buttons that stand for a command: pressing one says the command, nothing more."""

import re

from agent_core.state.questions import Choice, Style

_KEY = re.compile(r"c:(?P<words>[a-z0-9_:-]{1,38})")


def stand_for(words: str, label: str, style: Style = "plain") -> Choice:
    """A button that says `/words`. Raises `ValueError` where the words don't fit into a key."""
    key = "c:" + words.replace(" ", ":")
    if not _KEY.fullmatch(key):
        raise ValueError(f"a button can't stand for {words!r}")
    return Choice(key=key, label=label, style=style)


def read_command(key: str) -> str | None:
    """The command that a button's key stands for; anybody may say it, so anybody may forge it."""
    found = _KEY.fullmatch(key)
    return "/" + found["words"].replace(":", " ") if found else None
