"""Runs one turn: calls the model and the tools it asks for, until there is an answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import replace
from functools import partial

from agent_core.agent.loop.contract import Journal, LoopDeps, TurnInput
from agent_core.agent.loop.guards import Budget, Guardrails
from agent_core.agent.loop.messages import (
    INCOMPLETE_REASONS,
    UNKNOWN_OUTCOME,
    Display,
    ask_for_answer,
    ask_for_summary,
    describe_failure,
    describe_quota,
    has_visible_text,
    is_answer,
    join_answers,
    list_call_ids,
    make_call_ids_unique,
    strip_calls,
)
from agent_core.agent.loop.model_caller import ModelCaller, TextDiscarded
from agent_core.agent.loop.ports import ContextWindow, UnboundedWindow
from agent_core.agent.loop.tool_executor import run_tools
from agent_core.errors import ModelError, ModelOverflow, QuotaExceeded
from agent_core.events import Ending, Event, TurnEnded
from agent_core.host import Host, Steer
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.transcript import Message, ToolCallPart, ToolResultPart, mend, user_message

_MOST_REFUSALS = 3
"""Of one call for its length, after each of which the talk is made shorter."""


class Loop:
    """One turn of one conversation."""

    def __init__(
        self,
        deps: LoopDeps,
        *,
        journal: Journal,
        host: Host,
        budget: Budget,
        window: ContextWindow | None = None,
    ) -> None:
        """Without a `window` no request is measured."""
        self._deps = deps
        self._window: ContextWindow = window or UnboundedWindow()
        self._toolbox = deps.toolbox
        self._journal = journal
        self._host = host
        self._budget = budget
        self._caller = ModelCaller(deps, is_late=lambda: budget.exhausted() == "time")
        self._guardrails = Guardrails()
        self._messages: list[Message] = []
        self._unrecorded: list[Message] = []
        """What has to be recorded, and said, before the next model call."""
        self._unpaid: list[ModelAnswer] = []
        self._answers: list[str] = []
        self._display = Display(())
        self._call_ids: set[CallId] | None = None
        self._answer: ModelAnswer | None = None
        self._circle = ""
        self._has_nudged = False

    async def run(self, turn_input: TurnInput) -> AsyncGenerator[Event, None]:
        """Run the turn; the last event is `TurnEnded`, unless the run is cancelled.

        Runs once. Raises what the journal raises, and what a tool raises that has a bug.
        """
        self._messages = list(turn_input.messages)
        own = self._messages[-turn_input.own :] if turn_input.own else self._messages[-1:]
        answers = (message.text for message in own if is_answer(message))
        self._answers = [*turn_input.answers, *answers]
        self._display = Display(self._answers)
        last = own[-1]
        ended: TurnEnded | None = None
        if last.role == "assistant" and last.calls:
            async with aclosing(self._act(turn_input, last.calls)) as events:
                async for event in events:
                    yield event
        elif is_answer(last) and not await self._take_steers_after(None):
            ended = self._conclude("answered")
        while ended is None:
            async with aclosing(self._step(turn_input)) as steps:
                async for event in steps:
                    if isinstance(event, TurnEnded):
                        ended = event
                    else:
                        yield event
        yield ended

    async def _step(self, turn_input: TurnInput) -> AsyncGenerator[Event, None]:
        """One model call and what it asks for. Gives a `TurnEnded` if it was the last step."""
        if self._host.is_draining():
            yield TurnEnded(ending="suspended", text="")
            return
        is_over = bool(self._circle or self._budget.exhausted())
        await self._record_input(() if is_over else self._host.take_steers())
        if is_over:
            async with aclosing(self._sum_up(turn_input)) as events:
                async for event in events:
                    yield event
            return
        self._budget.take_step()
        try:
            async with aclosing(self._stream(turn_input)) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            yield self._fail(error)
            return
        except QuotaExceeded as reached:
            yield self._shut(reached)
            return
        answer = self._take_answer()
        if answer.stop == "tools" and answer.message.calls:
            answer = self._name_calls_apart(turn_input, answer)
            await self._record_answer(answer)
            self._display.outdate()
            async with aclosing(self._act(turn_input, answer.message.calls)) as events:
                async for event in events:
                    yield event
        else:
            ended = await self._weigh(answer)
            if ended:
                yield ended

    async def _stream(
        self, turn_input: TurnInput, extra: Sequence[Message] = ()
    ) -> AsyncGenerator[Event, None]:
        """Make one model call; the whole answer is left in `_answer`. A talk that is too long
        for it is made shorter first. `extra` is put behind it, and not recorded.

        Raises `ModelError` and `QuotaExceeded`.
        """
        refusal: ModelOverflow | None = None
        for is_last in (*[False] * _MOST_REFUSALS, True):
            request = await self._draft(turn_input, extra, refusal)
            try:
                async with aclosing(self._call(turn_input, request)) as events:
                    async for event in events:
                        yield event
                return
            except ModelOverflow as error:
                if is_last or self._budget.exhausted() == "time":
                    raise
                refusal = error
            for event in self._display.wipe():
                yield event

    async def _call(
        self, turn_input: TurnInput, request: ModelRequest
    ) -> AsyncGenerator[Event, None]:
        async with aclosing(self._caller.call(turn_input, request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextDelta):
                    for event in self._display.grow(piece.text) if piece.text else ():
                        yield event
                elif isinstance(piece, TextDiscarded):
                    for event in self._display.wipe():
                        yield event
                else:
                    self._answer = _reword(piece, mend(piece.message))
        answer = self._answer
        assert answer is not None  # noqa: S101 - a call gives one or raises
        if self._caller.model == request.model and not self._caller.used_cheap_model:
            self._window.learn(request.model, answer.usage)
        if answer.stop == "overflow":
            self._unpaid.append(self._take_answer())
            raise ModelOverflow("The model's window was full before its answer was whole.")

    async def _draft(
        self, turn_input: TurnInput, extra: Sequence[Message], refusal: ModelOverflow | None
    ) -> ModelRequest:
        """The next request, of a transcript that is made shorter where it has to be.

        `refusal` is how the last one was found too long; raised where that can't be helped.
        """
        request = await self._caller.draft(turn_input, (*self._messages, *extra))
        fitted = await self._window.fit(request, self._budget, is_refused=refusal is not None)
        if fitted is None:
            if refusal:
                raise refusal
            return request
        self._remember_call_ids(turn_input)
        self._messages = list(fitted)
        return await self._caller.draft(turn_input, (*self._messages, *extra))

    def _take_answer(self) -> ModelAnswer:
        answer, self._answer = self._answer, None
        assert answer is not None  # noqa: S101 - a stream gives one or raises
        usage = answer.usage
        tokens = (
            usage.input_tokens
            + usage.cache_read_tokens
            + usage.cache_write_tokens
            + usage.output_tokens
        )
        self._budget.spend(tokens, self._deps.price(answer.model, usage))
        return answer

    async def _weigh(self, answer: ModelAnswer) -> TurnEnded | None:
        """What an answer without calls to run comes to: an ending, or None to go on."""
        message = strip_calls(answer.message)
        answer = _reword(answer, message)
        if answer.stop == "pause":
            self._display.outdate()
            if message.parts:
                await self._record_answer(answer)
            else:
                self._unpaid.append(answer)
            return None
        if answer.stop == "refusal":
            self._unpaid.append(answer)
            return self._conclude("refused", answer.refusal)
        flaw = INCOMPLETE_REASONS.get(answer.stop, "")
        if has_visible_text(message.text):
            if await self._take_steers_after(answer):
                return None
            self._answers.append(message.text)
            self._unpaid.append(answer)
            return self._conclude("answered", flaw, added=[message])
        self._unpaid.append(answer)
        if flaw or self._has_nudged:
            return self._conclude("failed", flaw or "empty")
        self._has_nudged = True
        self._display.outdate()
        self._unrecorded.append(ask_for_answer())
        return None

    async def _take_steers_after(self, answer: ModelAnswer | None) -> bool:
        """Go on after a final answer if the person wrote meanwhile; None if it is recorded.

        Not when the turn could not go on: what was written is then a turn of its own.
        """
        if self._host.is_draining() or self._budget.exhausted():
            return False
        steers = self._host.take_steers()
        if not steers:
            return False
        if answer:
            self._answers.append(answer.message.text)
            self._display.keep(answer.message.text)
            await self._record_answer(answer)
        await self._record_input(steers)
        return True

    async def _sum_up(self, turn_input: TurnInput) -> AsyncGenerator[Event, None]:
        """The last call of a turn that reached a limit: its words, no more tools."""
        limit = self._budget.exhausted()
        reason = "no_progress" if self._circle else limit
        question = ask_for_summary(limit, self._circle)
        try:
            async with aclosing(self._stream(turn_input, [question])) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            yield self._conclude("exhausted", reason, detail=str(error))
            return
        except QuotaExceeded as reached:
            yield self._shut(reached)
            return
        answer = self._take_answer()
        self._unpaid.append(answer)
        message = strip_calls(answer.message)
        added = []
        if answer.stop != "refusal" and has_visible_text(message.text):
            self._answers.append(message.text)
            added = [question, message]
        yield self._conclude("exhausted", reason, added=added)

    async def _act(
        self, turn_input: TurnInput, calls: Sequence[ToolCallPart]
    ) -> AsyncGenerator[Event, None]:
        """Run the calls of the last message, except those that an earlier process settled."""
        results: dict[CallId, ToolResult] = {}
        waiting: list[ToolCallPart] = []
        for call in calls:
            call_id = call.call_id
            if call_id in turn_input.outcomes:
                results[call_id] = turn_input.outcomes[call_id]
            elif call_id in turn_input.begun and self._toolbox.effect(call.name) == "unsafe":
                results[call_id] = ToolResult(text=UNKNOWN_OUTCOME, is_error=True)
                await self._journal.record_result(call, results[call_id])
            else:
                waiting.append(call)

        async def perform(call: ToolCallPart) -> ToolResult:
            begin = partial(self._journal.record_begin, call)
            result = await self._toolbox.run(call, self._context_of(turn_input, call), begin)
            await self._journal.record_result(call, result)
            return result

        waits = any(self._toolbox.waits_for_person(call.name) for call in waiting)
        with self._budget.pause() if waits else nullcontext():
            async with aclosing(run_tools(waiting, perform, results)) as events:
                async for event in events:
                    yield event
        if all(self._toolbox.is_cheap(call.name) for call in calls):
            self._budget.refund_step()
        parts = tuple(self._judge(calls, results))
        self._unrecorded.append(Message(role="tool", parts=parts))

    def _judge(
        self, calls: Sequence[ToolCallPart], results: dict[CallId, ToolResult]
    ) -> list[ToolResultPart]:
        """The results in call order, with a warning where a call goes in circles.

        The same call twice in one answer counts once: the model could not know better yet.
        """
        parts: list[ToolResultPart] = []
        judged: set[tuple[str, str]] = set()
        for call in calls:
            result = results[call.call_id]
            text = result.text
            if (call.name, call.arguments) not in judged:
                judged.add((call.name, call.arguments))
                verdict = self._guardrails.judge(call, result)
                if verdict.kind == "stop":
                    self._circle = verdict.sentence
                elif verdict.kind == "warn":
                    text = f"{text}\n\n{verdict.sentence}"
            parts.append(
                ToolResultPart(
                    call_id=call.call_id, name=call.name, text=text, is_error=result.is_error
                )
            )
        return parts

    def _context_of(self, turn_input: TurnInput, call: ToolCallPart) -> ToolContext:
        return ToolContext(
            person_id=turn_input.person_id,
            owner_id=turn_input.owner_id,
            memory_owner=turn_input.memory_owner,
            conversation_id=turn_input.conversation_id,
            scope=turn_input.scope,
            turn_id=turn_input.turn_id,
            call_id=call.call_id,
            now=self._deps.now(),
            evidence=turn_input.evidence,
        )

    def _name_calls_apart(self, turn_input: TurnInput, answer: ModelAnswer) -> ModelAnswer:
        taken = self._remember_call_ids(turn_input)
        return replace(answer, message=make_call_ids_unique(answer.message, taken))

    def _remember_call_ids(self, turn_input: TurnInput) -> set[CallId]:
        """All ids that are taken, also of calls that are not shown any more."""
        if self._call_ids is None:
            self._call_ids = list_call_ids(self._messages)
            self._call_ids.update(turn_input.outcomes, turn_input.begun)
        return self._call_ids

    async def _record_answer(self, answer: ModelAnswer) -> None:
        await self._journal.record_answer(answer)
        self._messages.append(answer.message)

    async def _record_input(self, steers: Sequence[Steer]) -> None:
        words = [user_message(steer.text, facts=steer.facts, parts=steer.parts) for steer in steers]
        added = [*self._unrecorded, *words]
        if added:
            await self._journal.record_input(added, steers)
            self._messages += added
            self._unrecorded = []

    def _conclude(
        self, ending: Ending, reason: str = "", *, added: Sequence[Message] = (), detail: str = ""
    ) -> TurnEnded:
        self._journal.conclude(added, self._unpaid)
        text = join_answers(self._answers)
        used_cheap_model = ending == "answered" and self._caller.used_cheap_model
        return TurnEnded(
            ending=ending,
            text=text,
            reason=reason,
            detail=detail,
            used_cheap_model=used_cheap_model,
        )

    def _fail(self, error: ModelError) -> TurnEnded:
        return self._conclude("failed", describe_failure(error), detail=str(error))

    def _shut(self, reached: QuotaExceeded) -> TurnEnded:
        """The end of a turn that a ceiling of the day has no room for any more."""
        ended = self._conclude("exhausted", "ceiling", detail=str(reached))
        return replace(ended, quota=describe_quota(reached))


def _reword(answer: ModelAnswer, message: Message) -> ModelAnswer:
    """The answer with this message; mostly it has it already."""
    return answer if message is answer.message else replace(answer, message=message)
