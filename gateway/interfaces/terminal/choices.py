"""Buttons of the latest message, which a user presses by typing a number."""

from collections.abc import Sequence

from prompt_toolkit.formatted_text import StyleAndTextTuples

from gateway.interfaces.terminal.socket_client import Choice, Shown

_STYLES = {"good": "ansigreen", "danger": "ansired"}


class Offer:
    """The buttons that can be pressed now.

    Only the newest message's buttons count. If the model asks "the first or the second?", the
    answer "1" must not press an older button.
    """

    def __init__(self) -> None:
        self.choices: tuple[Choice, ...] = ()
        self.message_id = ""

    def take(self, shown: Shown, *, is_new: bool) -> None:
        """Note the buttons of a final message, which is new or edited."""
        if shown.choices or is_new or shown.id == self.message_id:
            self.choices, self.message_id = shown.choices, shown.id

    def drop(self, message_id: str) -> None:
        """Forget the buttons of a deleted message."""
        if message_id == self.message_id:
            self.choices = ()

    def find(self, typed: str) -> Choice | None:
        """Return the button with the typed number, if any."""
        numbers = {str(number): choice for number, choice in enumerate(self.choices, 1)}
        return numbers.get(typed)


def write_choices(choices: Sequence[Choice]) -> StyleAndTextTuples:
    """Format buttons on one line: `1 Allow · 2 Don't`."""
    line: StyleAndTextTuples = []
    for number, choice in enumerate(choices, 1):
        if line:
            line.append(("ansibrightblack", " · "))
        line.append(("class:mark", f"{number}\N{NO-BREAK SPACE}"))
        line.append((_STYLES.get(choice.style, ""), choice.label))
    return line
