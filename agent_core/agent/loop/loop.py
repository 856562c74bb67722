"""Run one turn: call the model and the tools it asks for, until there is an answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial

from agent_core.agent.budget import Budget
from agent_core.agent.loop.contract import ContextWindow, Journal, LoopDeps, TurnInput
from agent_core.agent.loop.guardrails import Guardrails
from agent_core.agent.loop.inner_calls import allow_code, make_unknown
from agent_core.agent.loop.messages import (
    INCOMPLETE_REASONS,
    Display,
    ask_for_answer,
    ask_for_summary,
    describe_failure,
    has_visible_text,
    is_answer,
    join_answers,
    list_call_ids,
    make_call_ids_unique,
    strip_calls,
)
from agent_core.agent.loop.model_caller import ModelCaller, Outage, TextDiscarded
from agent_core.agent.loop.tool_executor import run_tools
from agent_core.errors import ModelError, ModelOverflow, QuotaExceeded
from agent_core.events import Ending, Event, Host, ModelFault, Steer, TurnEnded
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.selection.catalog import unwrap
from agent_core.transcript import Message, Part, ToolCallPart, repair_message, user_message

_MOST_REFUSALS = 3
"""Refusals of one request for its length, each followed by a compaction, before giving up."""


class Loop:
    """Runs one turn of a conversation; use it once."""

    def __init__(
        self,
        deps: LoopDeps,
        *,
        journal: Journal,
        host: Host,
        budget: Budget,
        window: ContextWindow,
    ) -> None:
        self._deps = deps
        self._journal = journal
        self._host = host
        self._budget = budget
        self._window = window
        self._caller = ModelCaller(deps, is_late=lambda: budget.exhausted() == "time")
        patience = deps.policy.patience
        self._outage = Outage(patience=patience, since=None, clock=budget.clock)
        self._guardrails = Guardrails()
        self._messages: list[Message] = []
        self._next_input: list[Message] = []
        """Messages to record and to send with the next model call."""
        self._answers: list[str] = []
        self._display = Display(())
        self._call_ids: set[CallId] | None = None
        self._answer: ModelAnswer | None = None
        self._asked_again = False

    async def run(self, turn: TurnInput) -> AsyncGenerator[Event, None]:
        """Run the turn. The last event is `TurnEnded`, unless the run is cancelled.

        Raises what the journal raises, and what a tool raises that has a bug.
        """
        self._messages = list(turn.messages)
        self._outage.since = turn.waiting_since
        own = self._messages[-turn.own_count :] if turn.own_count else self._messages[-1:]
        recorded = (message.text for message in own if is_answer(message))
        self._answers = [*turn.earlier_answers, *recorded]
        self._display = Display(self._answers)
        ended: TurnEnded | None = None
        last = own[-1]
        if last.role == "assistant" and last.calls:
            for shown in self._display.recall(last.text):
                yield shown
            async with aclosing(self._run_calls(turn, last.calls)) as events:
                async for event in events:
                    yield event
        elif is_answer(last) and not await self._continue_with_steers(None):
            ended = self._conclude("answered")
        while ended is None:
            async with aclosing(self._step(turn)) as events:
                async for event in events:
                    if isinstance(event, TurnEnded):
                        ended = event
                    else:
                        yield event
        yield ended

    async def _step(self, turn: TurnInput) -> AsyncGenerator[Event, None]:
        """Make one model call and run its tool calls; yield `TurnEnded` if the turn is over."""
        if self._host.is_draining():
            await self._record_input(())
            yield TurnEnded(ending="suspended", text="")
            return
        is_last = bool(self._guardrails.stop_reason or self._budget.exhausted())
        await self._record_input(() if is_last else self._host.take_steers())
        if is_last:
            async with aclosing(self._summarize(turn)) as events:
                async for event in events:
                    yield event
            return
        try:
            async with aclosing(self._call_model(turn)) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            async with aclosing(self._wait_out(error, "failed", describe_failure(error))) as events:
                async for event in events:
                    yield event
            return
        except QuotaExceeded as error:
            yield self._stop_for_quota(error)
            return
        self._budget.take_step()
        answer = self._take_answer()
        if answer.stop == "tools" and answer.message.calls:
            message = make_call_ids_unique(answer.message, self._all_call_ids(turn))
            await self._record_answer(replace(answer, message=message))
            self._display.mark_interim()
            async with aclosing(self._run_calls(turn, message.calls)) as events:
                async for event in events:
                    yield event
        else:
            ended = await self._handle_final(answer)
            if ended:
                yield ended

    async def _call_model(
        self, turn: TurnInput, extra: Sequence[Message] = ()
    ) -> AsyncGenerator[Event, None]:
        """Make one model call and leave its answer in `_answer`.

        Shortens the transcript first if it is too long. `extra` messages are sent, but not
        recorded. Raises `ModelError` and `QuotaExceeded`.
        """
        refusal: ModelOverflow | None = None
        for is_last_try in (*[False] * _MOST_REFUSALS, True):
            try:
                request = await self._build_request(turn, extra, refusal)
            except ModelOverflow:
                if refusal or is_last_try or not self._caller.start_over():
                    raise
                continue
            try:
                async with aclosing(self._stream(turn, request)) as events:
                    async for event in events:
                        yield event
                return
            except ModelOverflow as error:
                if is_last_try or self._budget.exhausted() == "time":
                    raise
                refusal = error
            for event in self._display.discard():
                yield event

    async def _stream(self, turn: TurnInput, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """Send a request and show its answer while it arrives. Raises as `_call_model`."""
        async with aclosing(self._caller.call(turn, request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextDelta):
                    for event in self._display.append(piece.text) if piece.text else ():
                        yield event
                elif isinstance(piece, TextDiscarded):
                    for event in self._display.discard():
                        yield event
                elif isinstance(piece, ModelFault):
                    await self._host.note_fault(piece)
                else:
                    message = repair_message(piece.message)
                    is_whole = message is piece.message
                    self._answer = piece if is_whole else replace(piece, message=message)
                    self._journal.note_answer(self._answer)
        answer = self._answer
        assert answer is not None  # noqa: S101 - a call gives an answer or raises
        if self._caller.model == request.model and not self._caller.used_cheap_model:
            self._window.learn(request.model, answer.usage)
        if answer.stop == "overflow":
            self._take_answer()
            raise ModelOverflow("The context window was full before the answer was complete.")

    async def _build_request(
        self, turn: TurnInput, extra: Sequence[Message], refusal: ModelOverflow | None
    ) -> ModelRequest:
        """Build the next request, from a shorter transcript if need be.

        `refusal` is the provider's error for the previous request; raised if nothing can be
        shortened.
        """
        request = await self._caller.build_request(turn, (*self._messages, *extra))
        fitted = await self._window.fit(request, self._budget, is_refused=refusal is not None)
        if fitted is None:
            if refusal:
                raise refusal
            return self._window.limit_output(request)
        self._all_call_ids(turn)  # remember the ids of calls that are no longer shown
        self._messages = list(fitted)
        request = await self._caller.build_request(turn, (*self._messages, *extra))
        return self._window.limit_output(request)

    def _take_answer(self) -> ModelAnswer:
        """Take the answer of the last call, and charge it to the budget."""
        answer, self._answer = self._answer, None
        self._outage.end()
        assert answer is not None  # noqa: S101 - a call gives an answer or raises
        price = self._deps.price(answer.model, answer.usage)
        self._budget.spend(answer.usage.total_tokens, price)
        return answer

    async def _handle_final(self, answer: ModelAnswer) -> TurnEnded | None:
        """End the turn with an answer that has no calls to run; return None if the turn goes on."""
        message = strip_calls(answer.message)
        if message is not answer.message:
            answer = replace(answer, message=message)
        if answer.stop == "pause":
            self._display.mark_interim()
            if message.parts:
                await self._record_answer(answer)
            return None
        if answer.stop == "refusal":
            return self._conclude("refused", answer.refusal)
        flaw = INCOMPLETE_REASONS.get(answer.stop, "")
        if has_visible_text(message.text):
            if await self._continue_with_steers(answer):
                return None
            self._answers.append(message.text)
            return self._conclude("answered", flaw, added=[message])
        if flaw or self._asked_again:
            return self._conclude("failed", flaw or "empty")
        self._asked_again = True
        self._display.mark_interim()
        self._next_input.append(ask_for_answer())
        return None

    async def _continue_with_steers(self, answer: ModelAnswer | None) -> bool:
        """Continue after a final answer if the person wrote meanwhile.

        `answer` is None if an earlier process recorded it. A turn that must stop takes no steers:
        those messages start a turn of their own.
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

    async def _summarize(self, turn: TurnInput) -> AsyncGenerator[Event, None]:
        """Make the last call of a turn that reached a limit: text only, no tools."""
        limit, circle = self._budget.exhausted(), self._guardrails.stop_reason
        reason = "no_progress" if circle else limit
        question = ask_for_summary(limit, circle)
        try:
            async with aclosing(self._call_model(turn, [question])) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            async with aclosing(self._wait_out(error, "exhausted", reason)) as events:
                async for event in events:
                    yield event
            return
        except QuotaExceeded as error:
            yield self._stop_for_quota(error)
            return
        answer = self._take_answer()
        message = strip_calls(answer.message)
        added = []
        if answer.stop != "refusal" and has_visible_text(message.text):
            self._answers.append(message.text)
            added = [question, message]
        yield self._conclude("exhausted", reason, added=added)

    async def _wait_out(
        self, error: ModelError, ending: Ending, reason: str
    ) -> AsyncGenerator[Event, None]:
        """Wait before the next try of a failed call; yield `TurnEnded` if there is no next try.

        The wait is on disk, so a restart continues it. It does not count against the turn's time.
        """
        planned = None
        if self._budget.exhausted() != "time":
            planned = self._outage.plan(error, self._deps.now())
        if planned is None:
            yield self._conclude(ending, reason, detail=str(error))
            return
        for event in self._display.discard():
            yield event
        outage, seconds = planned
        if not self._outage.is_recorded:
            await self._journal.record_outage(outage.since)
            self._outage.is_recorded = True
        yield outage
        with self._budget.pause():
            await self._host.pause(seconds)
        self._caller.start_over()

    async def _run_calls(
        self, turn: TurnInput, calls: Sequence[ToolCallPart]
    ) -> AsyncGenerator[Event, None]:
        """Run the calls of the last message, except those with a recorded result."""
        toolbox, results = self._deps.toolbox, dict[CallId, ToolResult]()
        waiting: list[ToolCallPart] = []
        written = {call.call_id: call.name for call in calls}
        calls = [unwrap(call) for call in calls]
        await toolbox.load([call.name for call in calls], turn.person_id, turn.owner_id)
        for call in calls:
            if call.call_id in turn.results:
                results[call.call_id] = turn.results[call.call_id]
            elif call.call_id in turn.started and toolbox.effect(call.name) == "unsafe":
                results[call.call_id] = make_unknown(call.call_id, turn)
                await self._journal.record_result(call, results[call.call_id])
            else:
                waiting.append(call)

        async def run_one(call: ToolCallPart) -> ToolResult:
            begin = partial(self._journal.record_begin, call)
            made = allow_code(self._context_of(turn, call), self._deps, self._journal, self._budget)
            if not toolbox.begins_late(call.name):
                await self._journal.record_held()
            result = await toolbox.run(call, made, begin, self._wait_for_person)
            await self._journal.record_result(call, result)
            return result

        asks_person = any(toolbox.waits_for_person(call.name) for call in waiting)
        with self._budget.pause() if asks_person else nullcontext():
            async with aclosing(run_tools(waiting, run_one, results)) as events:
                async for event in events:
                    yield event
        if all(toolbox.is_free(call.name) for call in calls):
            self._budget.refund_step()
        checked = self._guardrails.check(calls, results)
        parts: list[Part] = []
        for part in checked:
            parts += (replace(part, name=written[part.call_id]), *results[part.call_id].images)
        self._next_input.append(Message(role="tool", parts=tuple(parts)))

    @asynccontextmanager
    async def _wait_for_person(self) -> AsyncGenerator[None, None]:
        """Surround a question; see `Pause`. Raises what the journal raises."""
        await self._journal.record_held()
        with self._budget.pause():
            yield

    def _context_of(self, turn: TurnInput, call: ToolCallPart) -> ToolContext:
        return ToolContext(
            person_id=turn.person_id,
            owner_id=turn.owner_id,
            memory_owner=turn.memory_owner,
            conversation_id=turn.conversation_id,
            scope=turn.scope,
            turn_id=turn.turn_id,
            call_id=call.call_id,
            now=self._deps.now(),
            evidence=self._journal.evidence,
            sources=self._journal.sources,
            helpers=self._deps.helpers,
            show_plan=self._host.show_plan,
            show_progress=partial(self._host.show_progress, call.call_id),
            pause=self._budget.pause,
        )

    def _all_call_ids(self, turn: TurnInput) -> set[CallId]:
        """Every call id in use, including those of calls that are no longer shown."""
        if self._call_ids is None:
            self._call_ids = list_call_ids(self._messages) | {*turn.results, *turn.started}
        return self._call_ids

    async def _record_answer(self, answer: ModelAnswer) -> None:
        await self._journal.record_answer(answer)
        self._messages.append(answer.message)

    async def _record_input(self, steers: Sequence[Steer]) -> None:
        said = [user_message(steer.text, facts=steer.facts, parts=steer.parts) for steer in steers]
        if added := [*self._next_input, *said]:
            await self._journal.record_input(added, steers)
            self._messages += added
            self._next_input = []

    def _conclude(
        self, ending: Ending, reason: str = "", *, added: Sequence[Message] = (), detail: str = ""
    ) -> TurnEnded:
        """End the turn; `added` are the messages that its finalization still has to record."""
        self._journal.conclude(added)
        return TurnEnded(
            ending=ending,
            text=join_answers(self._answers),
            reason=reason,
            detail=detail,
            used_cheap_model=ending == "answered" and self._caller.used_cheap_model,
        )

    def _stop_for_quota(self, error: QuotaExceeded) -> TurnEnded:
        ended = self._conclude("exhausted", "ceiling", detail=str(error))
        return replace(ended, quota=error.quota)
