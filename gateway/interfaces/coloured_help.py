"""Help in colours on a terminal; rich is an extra, and only a terminal imports it."""

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
"""What has which style: headings, commands, options, names of values, and words to type."""


def print_coloured(text: str) -> None:
    """Print a help in colours, or as it is with `NO_COLOR` or on a terminal that has none."""
    console = Console(soft_wrap=True, highlight=False)
    if console.no_color or console.color_system is None:
        sys.stdout.write(text)
        return
    shown = Text(text)
    for pattern, style in _STYLES:
        shown.highlight_regex(pattern, style)
    console.print(shown, end="")
