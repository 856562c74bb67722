"""Spells commands as people have to type them: Slack keeps what begins with a slash to itself."""

import re
from collections.abc import Iterable

from adapters.abilities import SpellsCommands


class Speller:
    """Knows the names of all commands."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        words = "|".join(sorted(map(re.escape, names))) or "(?!)"
        self._command = re.compile(rf"(?<![\w/:.`])/({words})\b(?!/)")

    def spell(self, adapter: object, text: str) -> str:
        """The house's own words, as they hold on a platform; a model's are its own."""
        if "/" not in text or not isinstance(adapter, SpellsCommands):
            return text  # to ask an adapter takes longer than to look for what may be a command
        return self._command.sub(lambda found: f"{adapter.command_prefix}{found[1]}", text)
