"""Keeps what a watcher shows in step with what of the answer still stands."""

from collections.abc import Sequence

from agent_core.events import TextGrew, TextReset


def join_answers(answers: Sequence[str]) -> str:
    """Answers of one turn as one text."""
    return "\n\n".join(answers)


class Display:
    """What a watcher sees of one turn: the answers given so far, then the text of now."""

    def __init__(self, answers: Sequence[str]) -> None:
        """`answers` are those of an earlier process, which nobody has been shown yet."""
        self._kept = "".join(f"{answer}\n\n" for answer in answers)
        self._lead = self._kept
        """Text that has to come before the next text."""
        self._is_stale = False
        """What is on display has to go before the next text."""
        self._is_empty = True
        self._has_text = False
        """The present call has put text on display."""

    def grow(self, delta: str) -> Sequence[TextReset | TextGrew]:
        """More text of the present call."""
        self._has_text, self._is_empty = True, False
        if not (self._is_stale or self._lead):
            return (TextGrew(delta=delta),)
        events: list[TextReset | TextGrew] = [TextReset()] if self._is_stale else []
        if self._lead:
            events.append(TextGrew(delta=self._lead))
        events.append(TextGrew(delta=delta))
        self._is_stale, self._lead = False, ""
        return events

    def wipe(self) -> Sequence[TextReset]:
        """The text of the present call is void: it goes now."""
        if not self._has_text:
            return ()
        self._has_text, self._is_empty, self._lead = False, True, self._kept
        return (TextReset(),)

    def outdate(self) -> None:
        """The text of the present call was interim: it goes when the next text comes."""
        if self._has_text:
            self._has_text, self._is_stale, self._lead = False, True, self._kept

    def keep(self, answer: str) -> None:
        """The text of the present call is an answer, and there is more to come after it."""
        self._kept += f"{answer}\n\n"
        if self._has_text:
            self._lead = "\n\n"
        else:  # it came whole at the end of its stream and was never on display
            self._lead, self._is_stale = self._kept, not self._is_empty
        self._has_text = False
