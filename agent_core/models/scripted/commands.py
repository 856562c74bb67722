"""The stand-in's commands: the calls that each needs, and its reply in the current language."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from agent_core.localization import Text
from agent_core.models.transcript_view import Notes, find_entries
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


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call that a command needs; arguments as JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of the answer, and the seconds to wait before the piece."""

    text: str
    wait: float = 0.0


@dataclass(slots=True, kw_only=True)
class ReplyContext:
    """The state of a conversation that a reply may name, besides the results of its calls.

    `before` and `now` are the notes at the turn's start and at present. `is_first` is true until
    the stand-in has listed its abilities. `delay` is the pause between counted numbers, in seconds.
    """

    before: Notes
    now: Notes
    is_first: bool
    delay: float


class StandInCommand(ABC):
    """A command that the stand-in understands: its calls, and the reply to their results."""

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """List the calls; each call is tried only if the previous one failed."""
        return []

    @abstractmethod
    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Return the reply, with the results of the calls."""

    def play(self, results: Sequence[ToolResultPart], context: ReplyContext) -> list[Piece]:
        """Return the reply in pieces."""
        return [Piece(text=self.reply(results, context))]


class _ToolCommand(StandInCommand):
    """A command that needs a tool, and reports the result of its last call."""

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Report the last result, if the tool is there."""
        return self.report(results[-1]) if results else _NO_TOOL()

    @abstractmethod
    def report(self, result: ToolResultPart) -> str:
        """Report a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember(_ToolCommand):
    """Save a fact."""

    target: Literal["memory", "user"]
    text: str

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """Add the fact."""
        return [_memory(action="add", target=self.target, text=self.text)]

    def report(self, result: ToolResultPart) -> str:
        """Return what the memory did with the fact."""
        if result.is_error:
            return f"{_NOT_KEPT(entry=self.text)} {result.text}"
        return (_KNOWN if result.text.startswith("Nothing to do") else _KEPT)(entry=self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget(StandInCommand):
    """Delete the entry that contains this text; of several, none."""

    words: str

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """Remove the one entry that fits; if none is seen, try both lists."""
        fitting = find_entries(self.words, notes)
        if not fitting:
            fitting = [("memory", self.words), ("user", self.words)]
        elif len(fitting) > 1:
            return []
        return [_memory(action="remove", target=target, old=entry) for target, entry in fitting]

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Return what is forgotten, or the entries to choose from."""
        fitting = find_entries(self.words, context.before)
        if len(fitting) > 1:
            return "\n".join([_SEVERAL(entry=self.words), *(f"- {entry}" for _, entry in fitting)])
        if not results:
            return _NO_TOOL()
        if not results[-1].is_error:
            return _FORGOTTEN(entry=self.words)
        if not fitting:
            return _NOT_THERE(entry=self.words)
        return f"{_NOT_FORGOTTEN(entry=self.words)} {results[-1].text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(_ToolCommand):
    """Search the conversation."""

    query: str

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """Search with the tool for past messages."""
        return [PlannedCall("recall", _dump({"query": self.query}))]

    def report(self, result: ToolResultPart) -> str:
        """List the messages that were found."""
        if result.is_error:
            return f"{_NOT_SEARCHED(entry=self.query)} {result.text}"
        lines = [
            (_YOU_SAID if hit["who"] == "person" else _I_SAID)(
                moment=hit["moment"], entry=flatten(json.loads(hit["text"]), _LONGEST_HIT)
            )
            for hit in _HIT.finditer(result.text)
        ]
        if not lines:
            return _NOT_FOUND(entry=self.query)
        return "\n".join([_FOUND(entry=self.query), *(f"- {line}" for line in lines)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Remind(_ToolCommand):
    """Remind later; the field that is set besides the text is an argument of the tool for jobs."""

    text: str = ""
    in_minutes: int = 0
    every_minutes: int = 0
    at: str = ""
    cron: str = ""

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """Create a job that sends the text."""
        given = {name: value for name, value in asdict(self).items() if value}
        return [PlannedCall("schedule", _dump({"action": "create", "kind": "message"} | given))]

    def report(self, result: ToolResultPart) -> str:
        """Name the job and its next time."""
        if found := _CREATED.match(result.text):
            return _PLANNED(entry=self.text, **found.groupdict())
        return f"{_NOT_PLANNED()} {result.text}" if result.is_error else _NOT_PLANNED()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowJobs(_ToolCommand):
    """List the jobs."""

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """List the jobs."""
        return [PlannedCall("schedule", _dump({"action": "list"}))]

    def report(self, result: ToolResultPart) -> str:
        """Return the list as the tool writes it."""
        return result.text


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowMemory(StandInCommand):
    """List the memory."""

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """List the entries as they are now."""
        lines = []
        for target, title in _TITLES.items():
            if context.now[target]:
                lines += [title(), *(f"- {entry}" for entry in context.now[target])]
        return "\n".join(lines) or _NO_NOTES()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowHelp(StandInCommand):
    """List the abilities."""

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Introduce the stand-in."""
        context.is_first = False
        return f"{_WHO()}\n\n{ABILITIES()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(StandInCommand):
    """Count from one to a number."""

    to: int

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Return the numbers."""
        return " ".join(map(str, range(1, self.to + 1)))

    def play(self, results: Sequence[ToolResultPart], context: ReplyContext) -> list[Piece]:
        """Return the numbers with pauses between them."""
        first, *others = self.reply(results, context).split()
        return [Piece(text=first), *(Piece(text=f" {one}", wait=context.delay) for one in others)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Think(StandInCommand):
    """Wait before answering, in seconds."""

    seconds: float

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Say how long it took."""
        return _THOUGHT(seconds=f"{self.seconds:g}")

    def play(self, results: Sequence[ToolResultPart], context: ReplyContext) -> list[Piece]:
        """Return the reply after the wait."""
        return [Piece(text=self.reply(results, context), wait=self.seconds)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnythingElse(StandInCommand):
    """Anything else, which only a language model can answer."""

    words: str

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Quote the words; the first time, introduce the stand-in."""
        quoted = " ".join(self.words.split())
        if len(quoted) > _QUOTED_LIMIT:
            quoted = quoted[:_QUOTED_LIMIT] + "…"
        if not context.is_first:
            return f"{WHO_SHORT()} {_WROTE(entry=quoted)}"
        context.is_first = False
        return f"{_WHO()}\n{_WROTE(entry=quoted)}\n\n{ABILITIES()}"


def _memory(**arguments: str) -> PlannedCall:
    return PlannedCall("memory", _dump(arguments))


def _dump(arguments: Mapping[str, str | int]) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
