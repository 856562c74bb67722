"""Buttons of the latest message, which a user presses by typing their number or letter."""

import re
from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase

from prompt_toolkit.formatted_text import StyleAndTextTuples

from gateway.interfaces.terminal.socket_client import Choice, Shown

_STYLES = {"good": "ansigreen", "danger": "ansired"}
_NUMBERED = re.compile(
    r"^[\s>]*(?:(?:[-*+•]\s+)?\*\*[^\n]+?\*\*\s+\((\d+)\)|(?:[-*+•]\s+)?\(?#?(\d+)[.):]\s)",
    re.MULTILINE,
)
"""A thing with a number in a text: `- **call Ada** (4)`, `4. call Ada` or `- #4: call Ada`."""
_OWN = re.compile(r"[cyn]:(?:jobs|approvals:revoke|learned:restore):(\d+)")
"""The key of a button that sends a command about a thing in a list, such as `/jobs 4`."""


class Offer:
    """The buttons that can be pressed now.

    Only the newest message's buttons count. If the model asks "the first or the second?", the
    answer "1" must not press an older button.
    """

    def __init__(self) -> None:
        self.choices: tuple[Choice, ...] = ()
        self.message_id = ""
        self._marked: Mapping[str, Choice] = {}

    def take(self, shown: Shown, *, is_new: bool) -> None:
        """Note the buttons of a final message, which is new or edited."""
        if shown.choices or is_new or shown.id == self.message_id:
            self.choices, self.message_id = shown.choices, shown.id
            self._marked = mark_choices(shown)

    def drop(self, message_id: str) -> None:
        """Forget the buttons of a deleted message."""
        if message_id == self.message_id:
            self.choices, self._marked = (), {}

    def find(self, typed: str) -> Choice | None:
        """Return the button with the typed number or letter, if any."""
        return self._marked.get(typed)


def mark_choices(shown: Shown) -> Mapping[str, Choice]:
    """Return the buttons of a message by what is typed to press them.

    They are numbered, unless the text numbers things itself: then a button about one of them has
    that thing's number, and any other button a letter, so that a number means one thing only.
    """
    things = {one for found in _NUMBERED.findall(shown.text) for one in found if one}
    if not things:
        return {str(number): choice for number, choice in enumerate(shown.choices, 1)}
    own = [_find_own(choice, things) for choice in shown.choices]
    letters = iter(ascii_lowercase + ascii_uppercase)
    return {
        number if number and own.count(number) == 1 else next(letters): choice
        for number, choice in zip(own, shown.choices, strict=True)
    }


def _find_own(choice: Choice, things: set[str]) -> str:
    """Return the number of the thing that a button is about; "" for none of them."""
    found = _OWN.fullmatch(choice.key)
    return found[1] if found and found[1] in things else ""


def write_choices(marked: Mapping[str, Choice]) -> StyleAndTextTuples:
    """Format buttons on one line: `1 Allow · 2 Don't`."""
    line: StyleAndTextTuples = []
    for mark, choice in marked.items():
        if line:
            line.append(("ansibrightblack", " · "))
        line.append(("class:mark", f"{mark}\N{NO-BREAK SPACE}"))
        line.append((_STYLES.get(choice.style, ""), choice.label))
    return line
