"""The stand-in's commands: the calls that each needs, and its reply in the current language."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from agent_core.localization import LANGUAGES, Plural, Text, say_moment, use_language
from agent_core.models.transcript_view import Notes, find_entries
from agent_core.spoken_settings import SaidSetting, SettingName
from agent_core.transcript import ToolResultPart, flatten

_QUOTED_LIMIT = 500
_HIT = re.compile(
    r"^- (?P<moment>\d{4}-\d\d-\d\d \d\d:\d\d), (?P<who>you|person), [^\"]*: (?P<text>\".*\")$",
    re.M,
)
"""A message found by `recall`, as the tool writes it for models."""
_JOB = re.compile(
    r"^\d+\. (?P<title>\".*?\") \([^\n]*?(?:\. Next: \S+ (?P<next>\d{4}-\d\d-\d\d \d\d:\d\d)|$)",
    re.M,
)
"""A reminder, and when it comes, as the tool lists it for models."""
_NUMBER = re.compile(r"^(\d+)\. \"", re.M)
"""The number of a reminder, as the tool lists it for models."""
_CHOSE = "They chose: "
"""The beginning of the result of the tool that asks, before the label of the choice."""
_NOT_RUN = re.compile(r"^`\w+` was not run: ")
"""The beginning of a refusal that is for models."""
_OFTEN = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|hourly|jede[nrsm]?|alle|täglich|wöchentlich|\w+tags)\b",
    re.I,
)
_UNREAD_TIME = re.compile(r"`when` (?:can't be read|names)|\ban interval takes\b")
_OVER = "that time is past"
"""What the tool says of a time that it can't take."""
_INTERRUPTED = "wrote something else"
"""What the result of a tool says whose question got another message as its answer."""
_MAKER = re.compile(r"that job was created by (\".*?\"); only they")
"""Whose reminder it is, as the tool says it to models."""
_UNKNOWN_JOB = re.compile(r"^(?:no job fits|there is no job)\b")
"""How the tool's refusal of words or of a number begins that fit no reminder."""
_NO_SINGLE_JOB = re.compile(r"names no single job of: (?P<jobs>.*)$", re.S)
"""The refusal of words that fit several reminders, where nobody can be asked."""
_LISTED_JOB = re.compile(r'(?P<number>\d+)\. (?P<title>"(?:[^"\\]|\\.)*")')
_LONGEST_HIT = 200
_CREATED, _NOTHING = "Created. ", "Nothing was changed."
"""The beginnings of the results of the tool for jobs: done, and not done."""
_WHO = Text(
    "I am only Talaria's stand-in, because no language model is connected. An owner connects one on"
    " the console page, under Model, or with `talaria setup`."
)
WHO_SHORT = Text(
    "I can only do simple things so far: no language model is connected. An owner connects "
    "one on the console page, under Model, or with `talaria setup`."
)
ABILITIES = Text(
    "This works without a language model:\n- remember that … / my name is … / forget …\n- what"
    " do you know about me?\n- find … / what did I say about …?\n- remind me tomorrow at 9 to …"
    " / remind me in 20 minutes to …\n- every weekday at 8 … / on the last day of every month at"
    " 9 …\n- show my reminders / move … to 10:30 / cancel …\n- count to 20 / think for 10 seconds"
)
_THOUGHT = Text("I thought for {seconds} s, as far as a stand-in can.")
_SEVERAL = Text("“{entry}” fits several notes. Which one do you mean?")
_NO_TOOL = Text("I can't do that in this chat.")
_WROTE = Text("You wrote: “{entry}”.")
_NO_SINGLE_TIME = Text(
    "I've set no reminder, because I can't read the time in “{entry}”. Write it like “remind me"
    " tomorrow at 9:00 to stretch”, or “24 December at 18:00”."
)
_NO_TIME = Text(
    "I've set no reminder, because I can't read the time in “{entry}”. Write it like “remind me"
    " every 2 days at 8:00 to stretch”."
)
_NO_PART_OF_TIME = Text(
    "I've set no reminder, because I don't understand “{unread}” as part of the time."
    " Without it, I understand “{timing}”. Say it again in other words, or leave that"
    " part out."
)
_DAY_BEHIND = Text(
    "I've set no reminder, because “{unread}” may belong to the time, or to what I should"
    " remind you of. If it belongs to the time, write the time first: “remind me {unread}"
    " {timing} to …”."
)
_WHEN = Text("When should I remind you? For example: tomorrow at 9, or in 20 minutes.")
_NOT_KEPT = Text("I couldn't save “{entry}” in my memory.")
_KNOWN = Text("I knew that already: “{entry}”.")
_KEPT = Text("I'll remember that.")
_NOT_THERE = Text("I don't have “{entry}” in my memory.")
_NOT_FORGOTTEN = Text("I couldn't remove “{entry}” from my memory.")
_FORGOTTEN = Text("All right.")
_PLANNED = Text("I'll remind you.")
"""The receipt below says of what, and when."""
_NOT_PLANNED = Text("I haven't set a reminder.")
_PAST = Text("That time is past. Choose a later one.")
_NOT_SET_IT = Text("I haven't set the reminder “{entry}”.")
_LEFT_OUT = Text(
    "You sent another message instead of answering my question, so I haven't set the"
    " reminder “{entry}”. Say it again if you still want it."
)
_CANCEL_ALL = Plural("Delete {n} reminder?", "Delete all {n} reminders?")
_YES_ALL, _KEEP_ALL = Text("Yes, delete"), Text("No, keep")
_UNCHANGED = Text("I changed no reminder.")
_UNANSWERED = Text(
    "You sent another message instead of answering my question, so I've changed no reminder. Say it"
    " again if you still want it."
)
_NO_SUCH = Text(
    "I changed nothing, because none of your reminders fits “{entry}”. /reminders lists them."
)
_SEVERAL_JOBS = Text(
    "I changed nothing, because “{entry}” fits several of your reminders. Say it again with the"
    " number of one:"
)
_NOT_MOVED = Text(
    "I changed nothing, because I can't read the time in “{entry}”. Write it like “tomorrow at"
    " 9:00”, or “in 20 minutes”."
)
_OTHERS = Text("That reminder belongs to {name}. Only they or an owner can change it.")
_NOT_SET = Text("I couldn't change that setting to “{entry}”. /settings lists your settings.")
_HELLO, _WELCOME = Text("Hello!"), Text("You're welcome!")
_TIME = Text("It's {clock} where you are.")
_NO_JOBS = Text("You have no reminders.")
_MORE_OF_JOBS = Text("/reminders shows them with buttons to change them.")
_NOT_SEARCHED = Text("I couldn't search for “{entry}”.")
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

    names_stand_in: ClassVar[bool] = False
    """Whether the reply may say that no model is connected."""

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """List the calls; each call is tried only if the previous one failed."""
        return []

    def follow(self, done: Mapping[PlannedCall, ToolResultPart]) -> list[PlannedCall]:
        """List the calls that follow from the results so far; each of them is made."""
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
        return _KNOWN(entry=self.text) if result.text.startswith("Nothing to do") else _KEPT()


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
            return _FORGOTTEN()
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
    """Remind later; one field besides the text says when, and a rule comes with its times.

    `words` are those for a time that only a rule can say, which the tool reads as they stand.
    """

    text: str = ""
    in_minutes: int = 0
    every_minutes: int = 0
    at: str = ""
    cron: str = ""
    rule: str = ""
    times: str = ""
    words: str = ""

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """Create a job that sends the text."""
        return [PlannedCall("remind", _dump({"text": self.text, "when": self._say_when()}))]

    def _say_when(self) -> str:
        span = f"in {self.in_minutes} minutes" if self.in_minutes else ""
        often = f"every {self.every_minutes} minutes" if self.every_minutes else ""
        rule = f"{self.times} {self.rule}" if self.rule else ""
        return self.words or self.at or self.cron or rule or span or often

    def report(self, result: ToolResultPart) -> str:
        """Name the job and its next time."""
        if result.text.startswith(_CREATED):
            return _PLANNED()
        if result.is_error:
            return self._explain(_NOT_RUN.sub("", result.text))
        said = _LEFT_OUT if _INTERRUPTED in result.text else _NOT_SET_IT
        return said(entry=self.text)

    def _explain(self, reason: str) -> str:
        """Say why there is no reminder; the tool's own words about a time are for models."""
        if _UNREAD_TIME.search(reason):
            return _say_unread(self._say_when())
        reason = _PAST() if reason.startswith(_OVER) else reason
        return f"{_NOT_PLANNED()} {reason[:1].upper()}{reason[1:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowJobs(_ToolCommand):
    """List the jobs; `now` is the person's clock, if known."""

    now: datetime | None = None

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """List the jobs."""
        return [PlannedCall("manage_jobs", _dump({"action": "list"}))]

    def report(self, result: ToolResultPart) -> str:
        """Name the reminders with their next times; the tool writes the rest for models."""
        lines = [self._show(one) for one in _JOB.finditer(result.text)]
        return "\n".join([*lines, "", _MORE_OF_JOBS()]) if lines else _NO_JOBS()

    def _show(self, job: re.Match[str]) -> str:
        title = json.loads(job["title"])
        if not job["next"] or self.now is None:
            return f"- {title}"
        at = datetime.fromisoformat(job["next"]).replace(tzinfo=self.now.tzinfo)
        return f"- {say_moment(at, self.now)}: {title}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManageJob(_ToolCommand):
    """Delete, pause or resume a reminder, or move it to another time; it is named by words."""

    action: Literal["delete", "change", "pause", "resume"]
    words: str
    when: str = ""

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """Act on the reminder; a time without a word before it is a time of day."""
        given = {"action": self.action, "job": self.words}
        if self.when:
            given["when"] = f"at {self.when}" if self.when[0].isdigit() else self.when
        return [PlannedCall("manage_jobs", _dump(given))]

    def report(self, result: ToolResultPart) -> str:
        """Confirm it, or say why nothing changed; the receipt says the rest."""
        if not result.is_error:
            is_done = not result.text.startswith(_NOTHING)
            return _FORGOTTEN() if is_done else _report_unchanged(result)
        if maker := _MAKER.search(result.text):
            return _OTHERS(name=json.loads(maker[1]))
        if _UNREAD_TIME.search(result.text):
            return _NOT_MOVED(entry=self.when)
        if several := _NO_SINGLE_JOB.search(result.text):
            listed = _LISTED_JOB.finditer(several["jobs"])
            lines = [f"- {json.loads(one['title'])} ({one['number']})" for one in listed]
            return "\n".join([_SEVERAL_JOBS(entry=self.words), *lines])
        reason = _NOT_RUN.sub("", result.text)
        if _UNKNOWN_JOB.match(reason):
            return _NO_SUCH(entry=self.words)
        return f"{_UNCHANGED()} {reason[:1].upper()}{reason[1:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAll(StandInCommand):
    """Delete all reminders, once the person has seen how many there are."""

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """List the jobs."""
        return ShowJobs().list_calls(notes)

    def follow(self, done: Mapping[PlannedCall, ToolResultPart]) -> list[PlannedCall]:
        """Ask, and then delete each job that is listed."""
        listed = next((result.text for call, result in done.items() if _lists(call)), "")
        numbers = _NUMBER.findall(listed)
        if not numbers:
            return []
        asked = {"question": _CANCEL_ALL(len(numbers)), "options": [_YES_ALL(), _KEEP_ALL()]}
        ask = PlannedCall("ask", _dump(asked))
        if ask not in done or done[ask].text != f"{_CHOSE}{_YES_ALL()}":
            return [ask]
        deletes = ({"action": "delete", "job": int(number)} for number in numbers)
        return [ask, *(PlannedCall("manage_jobs", _dump(given)) for given in deletes)]

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Confirm it, and name the one whose reminders stay; the receipts say the rest."""
        if not results:
            return _NO_TOOL()
        listed, *asked = results
        if not _NUMBER.search(listed.text):
            return _NO_JOBS()
        deleted = asked[1:]
        if not deleted:
            return _report_unchanged(asked[0])
        left = (_MAKER.search(result.text) for result in deleted if result.is_error)
        makers = dict.fromkeys(json.loads(found[1]) for found in left if found)
        return "\n".join([_FORGOTTEN(), *(_OTHERS(name=name) for name in makers)])


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
class ChangeSetting(_ToolCommand):
    """Change a setting, or several; an empty value clears it."""

    name: SettingName
    value: str
    more: tuple[SaidSetting, ...] = ()

    def list_calls(self, notes: Notes) -> list[PlannedCall]:
        """Change them with the tool for settings."""
        values: dict[str, str] = {
            self.name: self.value,
            **{one.name: one.value for one in self.more},
        }
        return [PlannedCall("settings", _dump(values))]

    def report(self, result: ToolResultPart) -> str:
        """Confirm it; the receipt says the rest."""
        return _NOT_SET(entry=self.value) if result.is_error else _FORGOTTEN()


@dataclass(frozen=True, slots=True, kw_only=True)
class TellTime(StandInCommand):
    """Tell the time on the person's clock."""

    at: datetime

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Return the time."""
        return _TIME(clock=f"{self.at:%H:%M}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowHelp(StandInCommand):
    """List the abilities."""

    names_stand_in = True

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

    names_stand_in = True
    words: str

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Quote the words; the first time, introduce the stand-in."""
        quoted = self.quote()
        if not context.is_first:
            return f"{WHO_SHORT()} {_WROTE(entry=quoted)}"
        context.is_first = False
        return f"{_WHO()}\n{_WROTE(entry=quoted)}\n\n{ABILITIES()}"

    def quote(self) -> str:
        """Return the beginning of the words in one line."""
        quoted = " ".join(self.words.split())
        return quoted if len(quoted) <= _QUOTED_LIMIT else quoted[:_QUOTED_LIMIT] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Courtesy(AnythingElse):
    """A greeting or thanks, which need no model and no tool."""

    kind: Literal["hello", "thanks", "fine"]

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Answer in kind; to a first greeting, introduce the stand-in."""
        if context.is_first and self.kind == "hello":
            return AnythingElse.reply(self, results, context)
        return {"hello": _HELLO, "thanks": _WELCOME, "fine": _FORGOTTEN}[self.kind]()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTime(AnythingElse):
    """A wish for a reminder whose time can't be read, or only without the words `unread`.

    With `is_day`, these are a day that may belong to the time or to the text.
    """

    read: str = ""
    unread: str = ""
    is_day: bool = False

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Say so, and how a time is written."""
        if self.is_day:
            return _DAY_BEHIND(unread=self.unread, timing=self.read)
        if self.read:
            return _NO_PART_OF_TIME(unread=self.unread, timing=self.read)
        return _say_unread(self.unread or self.quote())


@dataclass(frozen=True, slots=True, kw_only=True)
class AskWhen(StandInCommand):
    """A wish for a reminder that names no time; the next message may name it."""

    text: str

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Ask for the time."""
        return _WHEN()

    @staticmethod
    def is_asked_by(answer: str) -> bool:
        """Return whether an answer ends with the question for the time, in any language."""
        for tag in LANGUAGES:
            with use_language(tag):
                if answer.endswith(_WHEN()):
                    return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveIt(StandInCommand):
    """The wish for a reminder is taken back when its time is asked for."""

    def reply(self, results: Sequence[ToolResultPart], context: ReplyContext) -> str:
        """Say that there is no reminder."""
        return _NOT_PLANNED()


def _say_unread(entry: str) -> str:
    """Say that the time in some words can't be read, with an example of one that can."""
    return (_NO_TIME if _OFTEN.search(entry) else _NO_SINGLE_TIME)(entry=entry)


def _memory(**arguments: str) -> PlannedCall:
    return PlannedCall("memory", _dump(arguments))


def _report_unchanged(asked: ToolResultPart) -> str:
    """Say that no reminder changed, after a no or after a message that answers nothing."""
    return _UNANSWERED() if _INTERRUPTED in asked.text else _UNCHANGED()


def _lists(call: PlannedCall) -> bool:
    return call in ShowJobs().list_calls({})


def _dump(arguments: Mapping[str, object]) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
