"""Plays a turn again: the loop itself, over what is recorded; writes nothing."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from agent_core.agent.loop.contract import LoopDeps, ModelPolicy, TurnInput
from agent_core.agent.loop.guards import Budget
from agent_core.agent.loop.loop import Loop
from agent_core.agent.prompt.prompt_cache import FrozenPrompt
from agent_core.agent.replay.rebuild import RebuiltCall
from agent_core.agent.replay.records import TurnRecord
from agent_core.agent.replay.script import RecordEnds, ReplayScript
from agent_core.host import Steer
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.models.fingerprint import Fingerprints
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.transcript import Message, ToolCallPart


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRequest:
    """A request that the loop made when the turn was played again."""

    request: ModelRequest
    hash: str


async def replay(
    record: TurnRecord, calls: Sequence[RebuiltCall], prompt: FrozenPrompt
) -> list[ReplayedRequest]:
    """The requests that the loop makes of the same words, answers and results.

    It ends where the record does: one request more than there are answers is made by a turn
    that broke off. `prompt` is the turn's own, or another.
    """
    script = ReplayScript(record, calls)
    deps = LoopDeps(
        model=_Voice(script),
        policy=ModelPolicy(model="recorded", retries=0),
        toolbox=_Results(record.results),
        price=lambda model, usage: script.price(),
        now=lambda: record.turn.started_at,
        load_images=script.load_images,
        reserve=script.reserve,
    )
    loop = Loop(
        deps,
        journal=_Journal(script),
        host=_Person(script),
        budget=script.budget(),
        window=_Folds(script),
    )
    turn_input = TurnInput(
        system=prompt.system,
        tools=prompt.tools,
        messages=script.opening,
        outcomes={},
        begun=frozenset(),
        person_id=record.turn.person_id,
        owner_id=record.conversation.person_id,
        memory_owner=None,
        conversation_id=record.conversation.id,
        scope=record.conversation.scope,
        turn_id=record.turn.id,
        evidence="",
        own=script.recorded,
        prompt_hash=prompt.hash,
    )
    with suppress(RecordEnds):
        async with aclosing(loop.run(turn_input)) as events:
            async for _ in events:
                pass
    known = Fingerprints()
    return [
        ReplayedRequest(request=one, hash=known.take(record.conversation.id, prompt.hash, one).hash)
        for one in script.made
    ]


class _Voice:
    """The model, as it answered."""

    provider = "replay"

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Give the recorded answer. Raises `RecordEnds`."""
        answer = self._script.answer(request)
        yield replace(answer, usage=self._script.usage())

    async def check(self, model: str) -> None:
        """There is nothing to ask."""

    async def close(self) -> None:
        """There is nothing to let go of."""


class _Folds:
    """The room for requests: what was folded then is folded again, and nothing else."""

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """The transcript as it was sent next."""
        return self._script.fit()

    def learn(self, model: str, taken: Usage) -> None:
        """Nothing is measured."""


class _Results:
    """The tools, as they answered."""

    def __init__(self, results: Mapping[CallId, ToolResult]) -> None:
        self._results = results

    def effect(self, name: str) -> Effect:
        """Nothing is done."""
        return "read"

    def is_cheap(self, name: str) -> bool:
        """Steps are counted by the record."""
        return False

    def waits_for_person(self, name: str) -> bool:
        """Nobody is asked."""
        return False

    async def run(
        self,
        call: ToolCallPart,
        context: ToolContext,
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> ToolResult:
        """The recorded result. Raises `RecordEnds`."""
        if call.call_id not in self._results:
            raise RecordEnds
        return self._results[call.call_id]


class _Journal:
    """Counts what of the transcript has been played; writes nothing."""

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    async def record_answer(self, answer: ModelAnswer) -> None:
        """It stands in the transcript."""
        self._script.recorded += 1
        self._script.has_spoken = False

    async def record_begin(self, call: ToolCallPart) -> None:
        """Nothing begins."""

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        """It comes from the record."""

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        """It stands in the transcript."""
        self._script.recorded += len(added)

    def conclude(self, added: Sequence[Message], answers: Sequence[ModelAnswer]) -> None:
        """Nothing is settled."""


class _Person:
    """Whoever wrote meanwhile, as they wrote."""

    def __init__(self, script: ReplayScript) -> None:
        self._script = script

    def take_steers(self) -> Sequence[Steer]:
        """What they wrote next."""
        return self._script.take_steers()

    def is_draining(self) -> bool:
        """A turn is played to its end."""
        return False
