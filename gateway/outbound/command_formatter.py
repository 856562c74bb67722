"""Commands in a text, as each platform writes them."""

import re
from collections.abc import Callable, Iterable

from adapters.abilities import SpellsCommands

_PROMPT_COMMAND = r"[a-z][a-z0-9_]*__[a-z0-9_]+"
"""A prompt of an MCP server, such as `web__review`: only the servers know them all."""


class CommandFormatter:
    """Writes commands in a text as each platform writes them."""

    def __init__(self, list_names: Callable[[], Iterable[str]]) -> None:
        """`list_names` lists the commands at the moment: those of skills come and go."""
        self._list_names = list_names

    def format_commands(self, adapter: object, text: str) -> str:
        """Format a text of the gateway for a platform; a model's text stays as it is."""
        if "/" not in text or not isinstance(adapter, SpellsCommands):
            return text  # the check of the adapter takes longer than that of the text
        names = sorted(map(re.escape, self._list_names()), reverse=True)
        words = "|".join([_PROMPT_COMMAND, *names])
        command = re.compile(rf"(?<![\w/:.`])/({words})\b(?!/)")
        return command.sub(lambda found: f"{adapter.command_prefix}{found[1]}", text)
