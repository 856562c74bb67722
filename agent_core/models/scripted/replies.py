"""Write the stand-in's replies, in the current language."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.localization import Text
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
from agent_core.transcript import ToolResultPart, flatten

_QUOTED_LIMIT = 500
_HIT = re.compile(
    r"^- (?P<moment>\d{4}-\d\d-\d\d \d\d:\d\d), (?P<who>you|person), [^\"]*: (?P<text>\".*\")$",
    re.M,
)
"""A message found by `recall`, as the tool writes it for models."""
_LONGEST_HIT = 200
_CREATED = re.compile(r"Created\. (?P<number>\d+)\. .* Next: (?P<moment>[^()]+\([^)]+\))\.", re.S)
"""The result of the tool for jobs, with the job's number and its next time."""
_WHO = Text(
    "I am only Talaria's stand-in: no language model is connected, as no key is set. Set"
    " ANTHROPIC_API_KEY, or OPENAI_API_KEY or OPENAI_BASE_URL, and start again."
)
WHO_SHORT = Text("I am only the stand-in (no language model is connected).")
ABILITIES = Text(
    "What I can do without one:\n"
    "- remember that … / my name is … / forget …\n"
    "- what do you know about me?\n"
    "- find … / what did I say about …?\n"
    "- remind me tomorrow at 9 to … / remind me in 20 minutes to …\n"
    "- every weekday at 8 … / on the last day of every month at 9 …\n"
    "- show my reminders\n"
    "- count to 20 / think for 10 seconds"
)
_THOUGHT = Text("I thought for {seconds} seconds, as far as a stand-in can.")
_SEVERAL = Text("Several things fit “{entry}”; name one of them:")
_NO_TOOL = Text("I would need a tool for that which I don't have here.")
_WROTE = Text("You wrote: “{entry}”.")
_NOT_KEPT = Text("I could not keep “{entry}”.")
_KNOWN = Text("I knew that already: “{entry}”.")
_KEPT = Text("I'll remember: “{entry}”.")
_NOT_THERE = Text("I don't have “{entry}” in my memory.")
_NOT_FORGOTTEN = Text("I could not forget “{entry}”.")
_FORGOTTEN = Text("Forgotten: “{entry}”.")
_PLANNED = Text(
    "I'll remind you: “{entry}”. Next time: {moment}. It's job {number}; /jobs lists them all."
)
_NOT_PLANNED = Text("I didn't create that reminder.")
_NOT_SEARCHED = Text("I could not search for “{entry}”.")
_NOT_FOUND = Text("I looked for “{entry}” and found nothing.")
_FOUND = Text("This is what I found about “{entry}”:")
_YOU_SAID, _I_SAID = Text("{moment}, you: “{entry}”"), Text("{moment}, me: “{entry}”")
_NO_NOTES = Text("I don't remember anything about you yet. Try: remember that I like green tea.")
_TITLES = {"user": Text("About you:"), "memory": Text("What I keep in mind:")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of the answer, and the seconds to wait before the piece."""

    text: str
    wait: float = 0.0


@dataclass(slots=True, kw_only=True)
class ReplyWriter:
    """Writes the reply to a command and its results.

    `before` and `now` are the notes at the turn's start and at present. `is_first` is true until
    the stand-in has listed its abilities.
    """

    before: dict[str, list[str]]
    now: dict[str, list[str]]
    is_first: bool
    delay: float

    def reply(self, command: Command, results: Sequence[ToolResultPart]) -> list[Piece]:
        """Return the reply to one command, with the results of its calls."""
        match command:
            case Count():
                first, *others = range(1, command.to + 1)
                return [
                    Piece(text=f"{first}"),
                    *(Piece(text=f" {number}", wait=self.delay) for number in others),
                ]
            case Think():
                text = _THOUGHT(seconds=f"{command.seconds:g}")
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
                return f"{_WHO()}\n\n{ABILITIES()}"
        return _list_notes(self.now)

    def _report(
        self,
        command: Remember | Forget | Search | Remind | ShowJobs,
        results: Sequence[ToolResultPart],
    ) -> str:
        if isinstance(command, Forget):
            fitting = find_entries(command.words, self.before)
            return _report_forgotten(command, [entry for _, entry in fitting], results)
        if not results:
            return _NO_TOOL()
        last = results[-1]
        match command:
            case Remember():
                return _report_remembered(command, last)
            case Remind():
                return _report_planned(command, last)
            case ShowJobs():
                return last.text
        return _report_found(command, last)

    def _introduce(self, words: str) -> str:
        quoted = " ".join(words.split())
        if len(quoted) > _QUOTED_LIMIT:
            quoted = quoted[:_QUOTED_LIMIT] + "…"
        if not self.is_first:
            return f"{WHO_SHORT()} {_WROTE(entry=quoted)}"
        self.is_first = False
        return f"{_WHO()}\n{_WROTE(entry=quoted)}\n\n{ABILITIES()}"


def _report_remembered(command: Remember, result: ToolResultPart) -> str:
    if result.is_error:
        return f"{_NOT_KEPT(entry=command.text)} {result.text}"
    if result.text.startswith("Nothing to do"):
        return _KNOWN(entry=command.text)
    return _KEPT(entry=command.text)


def _report_forgotten(
    command: Forget, fitting: Sequence[str], results: Sequence[ToolResultPart]
) -> str:
    """Report with the entries that fit the words; of several, none was deleted."""
    if len(fitting) > 1:
        listed = "\n".join(f"- {entry}" for entry in fitting)
        return f"{_SEVERAL(entry=command.words)}\n{listed}"
    if not results:
        return _NO_TOOL()
    if not results[-1].is_error:
        return _FORGOTTEN(entry=command.words)
    if not fitting:
        return _NOT_THERE(entry=command.words)
    return f"{_NOT_FORGOTTEN(entry=command.words)} {results[-1].text}"


def _report_planned(command: Remind, result: ToolResultPart) -> str:
    if found := _CREATED.match(result.text):
        return _PLANNED(entry=command.text, **found.groupdict())
    return f"{_NOT_PLANNED()} {result.text}" if result.is_error else _NOT_PLANNED()


def _report_found(command: Search, result: ToolResultPart) -> str:
    if result.is_error:
        return f"{_NOT_SEARCHED(entry=command.query)} {result.text}"
    hits = [*_HIT.finditer(result.text)]
    if not hits:
        return _NOT_FOUND(entry=command.query)
    lines = [
        (_YOU_SAID if hit["who"] == "person" else _I_SAID)(
            moment=hit["moment"], entry=flatten(json.loads(hit["text"]), _LONGEST_HIT)
        )
        for hit in hits
    ]
    return "\n".join([_FOUND(entry=command.query), *(f"- {line}" for line in lines)])


def _list_notes(notes: dict[str, list[str]]) -> str:
    if not any(notes.values()):
        return _NO_NOTES()
    lines = []
    for target, title in _TITLES.items():
        if notes[target]:
            lines += [title(), *(f"- {entry}" for entry in notes[target])]
    return "\n".join(lines)
