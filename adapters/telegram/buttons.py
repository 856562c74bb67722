"""Lays buttons out in rows, and tells our keys from other people's; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.messages import Button, ButtonStyle

MOST_BUTTONS = 100
"""Buttons below one message (Telegram's clients and servers show no more)."""

_MARK = "t:"
"""What our keys begin with: a chat may still show buttons of another program's messages."""
_STYLES: dict[ButtonStyle, str | None] = {"plain": None, "good": "success", "danger": "danger"}
_ROW_LETTERS = 30
"""Letters of all labels in one row that a phone shows in full."""
_ROW_BUTTONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One button as Telegram takes it. `data` is at most 64 bytes (InlineKeyboardButton)."""

    label: str
    data: str
    style: str | None


Keyboard = tuple[tuple[Key, ...], ...]
"""Rows of buttons."""


def lay_out(buttons: Sequence[Button]) -> Keyboard:
    """Rows in which every label can be read: short ones share a row."""
    rows: list[list[Key]] = []
    letters = 0
    for button in buttons:
        letters += len(button.label)
        if not rows or len(rows[-1]) == _ROW_BUTTONS or letters > _ROW_LETTERS:
            rows.append([])
            letters = len(button.label)
        rows[-1].append(
            Key(label=button.label, data=_MARK + button.key, style=_STYLES[button.style])
        )
    return tuple(tuple(row) for row in rows)


def read_key(data: str) -> str | None:
    """The key of a button of ours, None for anything else."""
    return data.removeprefix(_MARK) if data.startswith(_MARK) else None
