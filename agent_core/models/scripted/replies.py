"""Write the stand-in's replies; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.models.scripted.commands import (
    Chat,
    Command,
    Count,
    Forget,
    Remember,
    Search,
    ShowHelp,
    ShowJobs,
    ShowMemory,
    Think,
)
from agent_core.models.scripted.memory_view import find_entries
from agent_core.models.scripted.reminders import Remind
from agent_core.transcript import ToolResultPart

_QUOTED_LIMIT = 500
_WHO = (
    "I am only Talaria's stand-in: no language model is connected, as no key is set. Set"
    " ANTHROPIC_API_KEY, or OPENAI_API_KEY or OPENAI_BASE_URL, and start again."
)
WHO_SHORT = "I am only the stand-in (no language model is connected)."
ABILITIES = (
    "What I can do without one:\n"
    "- remember that … / my name is … / forget …\n"
    "- what do you know about me?\n"
    "- find … / what did I say about …?\n"
    "- remind me tomorrow at 9 to … / remind me in 20 minutes to …\n"
    "- every weekday at 8 … / on the last day of every month at 9 … / show my reminders\n"
    "- count to 20 / think for 10 seconds"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of the answer, and the seconds to wait before it."""

    text: str
    wait: float = 0.0


@dataclass(slots=True, kw_only=True)
class ReplyWriter:
    """Writes the reply to a command and its results.

    `before` and `now` are the notes at the turn's start and at present; `is_first` is true until
    the abilities were listed.
    """

    before: dict[str, list[str]]
    now: dict[str, list[str]]
    is_first: bool
    delay: float

    def reply(self, command: Command, results: Sequence[ToolResultPart]) -> list[Piece]:
        """The reply to one command, with the results of its calls."""
        match command:
            case Count():
                first, *others = range(1, command.to + 1)
                return [
                    Piece(text=f"{first}"),
                    *(Piece(text=f" {number}", wait=self.delay) for number in others),
                ]
            case Think():
                text = f"I thought for {command.seconds:g} seconds, as far as a stand-in can."
                return [Piece(text=text, wait=command.seconds)]
            case Remember() | Forget() | Search() | Remind() | ShowJobs():
                return [Piece(text=self._report(command, results))]
        return [Piece(text=self._reply_to(command))]

    def _reply_to(self, command: Chat | ShowHelp | ShowMemory) -> str:
        match command:
            case Chat():
                return self._introduce(command.words)
            case ShowHelp():
                self.is_first = False
                return f"{_WHO}\n\n{ABILITIES}"
        return _list_notes(self.now)

    def _report(
        self,
        command: Remember | Forget | Search | Remind | ShowJobs,
        results: Sequence[ToolResultPart],
    ) -> str:
        if isinstance(command, Forget):
            fitting = find_entries(command.words, self.before)
            if len(fitting) > 1:
                listed = "\n".join(f"- {entry}" for _, entry in fitting)
                return f"Several things fit “{command.words}”; name one of them:\n{listed}"
        if not results:
            return "I would need a tool for that which I don't have here."
        last = results[-1]
        match command:
            case Remember():
                return _report_remembered(command, last)
            case Forget():
                return _report_forgotten(command, last)
            case Remind() | ShowJobs():
                return last.text
        return _report_found(command, last)

    def _introduce(self, words: str) -> str:
        quoted = " ".join(words.split())
        if len(quoted) > _QUOTED_LIMIT:
            quoted = quoted[:_QUOTED_LIMIT] + "…"
        if not self.is_first:
            return f"{WHO_SHORT} You wrote: “{quoted}”."
        self.is_first = False
        return f"{_WHO}\nYou wrote: “{quoted}”.\n\n{ABILITIES}"


def _report_remembered(command: Remember, result: ToolResultPart) -> str:
    if result.is_error:
        return f"I could not keep “{command.text}”. {result.text}"
    if result.text.startswith("Nothing to do"):
        return f"I knew that already: “{command.text}”."
    return f"I'll remember: “{command.text}”."


def _report_forgotten(command: Forget, result: ToolResultPart) -> str:
    if result.is_error:
        return f"I don't have “{command.words}” in my memory. {result.text}"
    return f"Forgotten: “{command.words}”."


def _report_found(command: Search, result: ToolResultPart) -> str:
    head, _, lines = result.text.partition("\n")
    if result.is_error:
        return f"I could not search for “{command.query}”. {result.text}"
    if not lines:
        return f"I looked for “{command.query}”. {head}"
    listed = "\n".join(f"- {line}" for line in lines.splitlines() if line.strip())
    return f"This is what I found about “{command.query}”:\n{listed}"


def _list_notes(notes: dict[str, list[str]]) -> str:
    if not any(notes.values()):
        return "I don't remember anything about you yet. Try: remember that I like green tea."
    lines = []
    for target, title in (("user", "About you:"), ("memory", "What I keep in mind:")):
        if notes[target]:
            lines += [title, *(f"- {entry}" for entry in notes[target])]
    return "\n".join(lines)
