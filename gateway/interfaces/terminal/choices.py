"""The buttons of what was shown last, as numbers that can be typed."""

from collections.abc import Sequence

from rich.text import Text

from gateway.interfaces.terminal.socket_client import Choice, Shown

_STYLES = {"good": "green", "danger": "red"}


class Offer:
    """What a number stands for now.

    It stands for a button only while the message that has it is the newest one: when the
    model asks "the first or the second?", an older button must not be pressed by the answer.
    """

    def __init__(self) -> None:
        self.choices: tuple[Choice, ...] = ()
        self.message_id = ""

    def take(self, shown: Shown, *, is_new: bool) -> None:
        """Something final was shown; it is new, or what became of an earlier message."""
        if shown.choices or is_new or shown.id == self.message_id:
            self.choices, self.message_id = shown.choices, shown.id

    def drop(self, message_id: str) -> None:
        """A message was taken away, and its buttons with it."""
        if message_id == self.message_id:
            self.choices = ()

    def find(self, typed: str) -> Choice | None:
        """The button whose number was typed, and nothing else."""
        numbers = {str(number): choice for number, choice in enumerate(self.choices, 1)}
        return numbers.get(typed)


def write_choices(choices: Sequence[Choice]) -> Text:
    """The buttons in a line: `1 Allow · 2 Don't`."""
    line = Text()
    for number, choice in enumerate(choices, 1):
        line.append(" · " if line else "", style="bright_black")
        line.append(f"{number}\N{NO-BREAK SPACE}", style="bold cyan")
        line.append(choice.label, style=_STYLES.get(choice.style, ""))
    return line
