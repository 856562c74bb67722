"""Replay a turn: run the loop over its record, without any effect."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, replace

from agent_core.agent.budget import Budget
from agent_core.agent.claims.check import Held
from agent_core.agent.claims.course import Course
from agent_core.agent.claims.gate import Gate
from agent_core.agent.loop.loop import Loop
from agent_core.agent.prompt.prompt_cache import FrozenPrompt
from agent_core.agent.prompt.visibility import PromptContext
from agent_core.agent.replay.rebuild import RebuiltCall
from agent_core.agent.replay.records import TurnRecord
from agent_core.agent.replay.script import RecordEnds, ReplayScript
from agent_core.agent.turn import Turn
from agent_core.events import Event, ModelFault, Steer
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.models.fingerprints import Fingerprints
from agent_core.models.router import ModelPolicy
from agent_core.state.people.people import Person
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.own_words.contract import NO_WORDS, OwnWords
from agent_core.tools.policy.approval_requests import ApprovalRequest
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import STAND_IN, Message, ToolCallPart, is_stood_in


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRequest:
    """A request that the loop made during a replay."""

    request: ModelRequest
    hash: str


async def replay(
    record: TurnRecord, calls: Sequence[RebuiltCall], prompt: FrozenPrompt
) -> list[ReplayedRequest]:
    """Run the loop over a turn's record, and return the requests that it makes.

    Ends where the record does; a turn that broke off makes one request more than it has answers.
    `prompt` is the turn's own, or another one.
    """
    script = ReplayScript(record, calls)
    loop = Loop(
        _make_turn(record, prompt, script),
        model=_RecordedModel(script, provider=_find_provider(calls)),
        policy=ModelPolicy(model="recorded"),
        toolbox=_RecordedTools(record.results),
        journal=_RecordJournal(script),
        window=_RecordedWindow(script),
        host=_RecordedHost(script),
        budget=script.budget(),
        emit=_show_nothing,
        now=lambda: record.turn.started_at,
        load_images=script.load_images,
        reserve=script.reserve,
        fingerprints=Fingerprints(),
        faulty=set(),
        claims=_RecordedClaims(script),
    )
    with suppress(RecordEnds):
        await loop.run()
    known = Fingerprints()
    return [
        ReplayedRequest(request=one, hash=known.take(record.conversation.id, prompt.hash, one).hash)
        for one in script.replayed
    ]


def _make_turn(record: TurnRecord, prompt: FrozenPrompt, script: ReplayScript) -> Turn:
    """Make the turn of a record; its person may be deleted, so only their id is read."""
    person = Person(id=record.turn.person_id, slug="", name="", role="member", time_zone=None)
    return Turn(
        id=record.turn.id,
        context=PromptContext(
            conversation=record.conversation,
            person=person,
            room=None,
            platform=record.turn.place.chat.platform,
        ),
        memory_owner=None,
        prompt=prompt,
        messages=script.opening,
        own_count=script.recorded,
    )


def _find_provider(calls: Sequence[RebuiltCall]) -> str:
    """Return the stand-in's provider if a call read what only the stand-in reads."""
    read = (one for call in calls if call.sent for one in call.sent.messages)
    return STAND_IN if any(is_stood_in(one) for one in read) else "replay"


async def _show_nothing(event: Event) -> None:
    """Take an event: nobody watches a replay."""


class _RecordedModel:
    """Returns the recorded answers."""

    def __init__(self, script: ReplayScript, *, provider: str) -> None:
        self._script = script
        self.provider = provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Return the recorded answer. Raises `RecordEnds`."""
        answer = self._script.answer(request)
        yield replace(answer, usage=self._script.usage())

    async def check(self, model: str) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


class _RecordedWindow:
    """Applies the recorded compactions."""

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """Return the messages that were sent next."""
        return self._script.fit()

    async def shorten(self, request: ModelRequest, budget: Budget) -> tuple[Message, ...] | None:
        """Return None: a recorded model refuses nothing."""
        return None

    def limit_output(self, request: ModelRequest) -> ModelRequest:
        """Return the request unchanged: its output limit has no effect in a replay."""
        return request

    def learn(self, model: str, taken: Usage) -> None:
        """Do nothing."""


class _RecordedTools(Toolbox):
    """Returns the recorded results."""

    def __init__(self, results: Mapping[CallId, ToolResult]) -> None:
        super().__init__(())
        self._results = results

    async def run(
        self,
        call: ToolCallPart,
        context: ToolContext,
        begin: Callable[[ApprovalRequest | None], Awaitable[bool]] | None = None,
        pause: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> ToolResult:
        """Return the recorded result. Raises `RecordEnds`."""
        if call.call_id not in self._results:
            raise RecordEnds
        return self._results[call.call_id]


class _RecordJournal:
    """Counts the replayed messages; writes nothing."""

    sources = ()
    evidence = ""
    deeds = ()

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    def read_own_words(self) -> OwnWords:
        """Return no words: a replay changes nothing."""
        return NO_WORDS

    def note_answer(self, answer: ModelAnswer) -> None:
        """Do nothing."""

    async def record_answer(self, answer: ModelAnswer) -> None:
        """Count the answer."""
        self._script.recorded += 1
        self._script.has_spoken = False

    async def record_held(self) -> None:
        """Do nothing."""

    async def record_begin(
        self, call: ToolCallPart, request: ApprovalRequest | None = None
    ) -> bool:
        """Do nothing."""
        return True

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        """Do nothing."""

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        """Count the messages."""
        self._script.recorded += len(added)

    async def record_outage(self, since: int) -> None:
        """Do nothing."""

    def conclude(self, added: Sequence[Message]) -> None:
        """Do nothing."""


class _RecordedClaims:
    """Repeats the recorded questions about claims, whatever would be judged a claim today."""

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    def judge(self, text: str, course: Course) -> Held | None:
        """Return the question that the record has after this answer, if any."""
        question = self._script.find_question()
        return Held(kept=text, question=question) if question else None

    def correct(self, text: str, course: Course) -> str:
        """Return the answer unchanged: the record has it as the person read it."""
        return text

    def gate(self, course: Course) -> Gate:
        """Hold nothing back: nobody watches a replay."""
        return Gate(None)


class _RecordedHost:
    """Returns the recorded steers."""

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    def take_steers(self) -> Sequence[Steer]:
        """Return the recorded steers."""
        return self._script.take_steers()

    def is_draining(self) -> bool:
        """Return False: a replay runs to its end."""
        return False

    async def pause(self, seconds: float) -> None:
        """Do nothing: a recorded model always answers."""

    async def note_fault(self, fault: ModelFault) -> None:
        """Do nothing: a recorded model always answers."""

    def show_loading(self) -> None:
        """Do nothing: a recorded model always answers."""

    def show_helpers(self, call_id: CallId, done: int, total: int) -> None:
        """Do nothing: nobody watches a replay."""

    def show_progress(self, call_id: CallId, note: str) -> None:
        """Do nothing: nobody watches a replay."""

    def show_plan(self, number: int, total: int, title: str) -> None:
        """Do nothing: nobody watches a replay."""
