"""Print help in colours.

This needs rich, from the extra `colours`, so the module is imported only if the output is a
terminal.
"""

import sys

from rich.console import Console
from rich.text import Text

_STYLES = (
    (r"(?m)^[A-Za-z][\w ]*(?=:)", "bold"),
    (r"(?m)^  [a-z]\S*(?=  )", "cyan"),
    (r"(?m)^    [a-z]\S*(?=  )", "cyan"),
    (r"(?<![\w-])--?[a-z][\w-]*", "green"),
    (r"(?<![\w.])[A-Z][A-Z0-9_]+\b", "yellow"),
    (r"`[^`]+`", "cyan"),
)
"""Patterns and their styles: headings, commands, options, value names, and words to type."""


def print_coloured(text: str) -> None:
    """Print help in colours; without them if `NO_COLOR` is set or the terminal has none."""
    console = Console(soft_wrap=True, highlight=False)
    if console.no_color or console.color_system is None:
        sys.stdout.write(text)
        return
    shown = Text(text)
    for pattern, style in _STYLES:
        shown.highlight_regex(pattern, style)
    console.print(shown, end="")
