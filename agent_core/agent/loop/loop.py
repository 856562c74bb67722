"""Run one turn: call the model and the tools it asks for, until there is an answer."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial

from agent_core.agent.budget import Budget
from agent_core.agent.claims.course import Course
from agent_core.agent.compaction.left_out import LeftOutPart, propose
from agent_core.agent.loop.answer_form import ask_for_form, find_misfit
from agent_core.agent.loop.contract import Claims, ContextWindow, Journal, LoadImages, Reserve
from agent_core.agent.loop.display import Display
from agent_core.agent.loop.guardrails import Guardrails
from agent_core.agent.loop.inner_calls import InnerCalls, make_unknown
from agent_core.agent.loop.messages import (
    INCOMPLETE_REASONS,
    ask_for_answer,
    ask_for_summary,
    ask_for_tools,
    describe_failure,
    has_visible_text,
    is_answer,
    join_answers,
    list_call_ids,
    make_call_ids_unique,
    state_facts,
    strip_calls,
)
from agent_core.agent.loop.model_caller import ModelCaller
from agent_core.agent.loop.outage import Outage
from agent_core.agent.loop.tool_executor import run_tools
from agent_core.agent.turn import Turn
from agent_core.errors import (
    ModelDeclined,
    ModelError,
    ModelOverflow,
    ModelRejected,
    ModelUnsupported,
    QuotaExceeded,
)
from agent_core.events import PASSED, RULE_UNMET, UNMET, Emit, Ending, Host, Steer, TurnEnded
from agent_core.ids import CallId
from agent_core.models.contract import Model, ModelAnswer, ModelRequest
from agent_core.models.fingerprints import Fingerprints
from agent_core.models.router import ModelPolicy
from agent_core.tools.client_tools import is_passed
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.delegated_tasks import Helpers
from agent_core.tools.selection.catalog import unwrap
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, Part, TextPart, ToolCallPart, user_message

_MOST_DEMANDS = 2
"""Times that a turn asks its model to call a tool that must run before the end."""
_MOST_REFUSALS = 3
"""Refusals of one request for its length, each followed by a compaction, before giving up."""


class Loop:
    """Runs one turn of a conversation; use it once."""

    def __init__(
        self,
        turn: Turn,
        *,
        model: Model,
        policy: ModelPolicy,
        toolbox: Toolbox,
        journal: Journal,
        window: ContextWindow,
        host: Host,
        budget: Budget,
        emit: Emit,
        now: Callable[[], int],
        load_images: LoadImages,
        reserve: Reserve,
        fingerprints: Fingerprints,
        faulty: set[str],
        claims: Claims,
        helpers: Callable[[], Helpers] | None = None,
    ) -> None:
        """`emit` gets the turn's events. `now` is in milliseconds since the epoch, UTC.

        All turns share `faulty`, the models whose fault was reported. `helpers` makes helpers.
        """
        self._turn = turn
        self._toolbox = toolbox
        self._journal = journal
        self._window = window
        self._host = host
        self._budget = budget
        self._emit = emit
        self._now = now
        self._helpers = helpers
        self._claims = claims
        self._messages = list(turn.messages)
        self._own = self._messages[-(turn.own_count or 1) :]
        self._next_input: list[Message] = []
        """Messages to record and to send with the next model call."""
        self._answers = [*turn.earlier_answers, *(m.text for m in self._own if is_answer(m))]
        self._display = Display(self._answers, emit)
        self._caller = ModelCaller(
            turn,
            model=model,
            policy=policy,
            mask=toolbox.mask,
            journal=journal,
            host=host,
            display=self._display,
            load_images=load_images,
            reserve=reserve,
            fingerprints=fingerprints,
            faulty=faulty,
            is_late=lambda: budget.exhausted() == "time",
        )
        patience = policy.patience
        self._outage = Outage(patience=patience, since=turn.waiting_since, clock=budget.clock)
        self._guardrails = Guardrails()
        self._call_ids: set[CallId] | None = None
        self._asked_again, self._demands = False, 0
        self._left_out: LeftOutPart | None = None

    async def run(self) -> TurnEnded:
        """Run the turn and return its ending.

        Cancellation cancels all that the turn has started, and waits for it. Raises what the
        journal and `emit` raise, and what a tool raises that has a bug.
        """
        last = self._own[-1]
        if last.role == "assistant" and last.calls:
            await self._display.recall(last.text)
            await self._run_calls(last.calls)
            if ended := self._pass_on():
                return ended
        elif is_answer(last) and not await self._continue_after(None):
            return self._conclude("answered")
        while True:
            if ended := await self._step():
                return ended

    async def _step(self) -> TurnEnded | None:
        """Make one model call and run its tool calls; return None if the turn goes on."""
        if self._host.is_draining():
            await self._record_input(())
            return TurnEnded(ending="suspended", text="")
        is_last = bool(self._guardrails.stop_reason or self._budget.exhausted())
        await self._note_news()
        await self._record_input(() if is_last else self._host.take_steers())
        if is_last:
            return await self._summarize()
        try:
            answer = await self._call_model()
        except ModelDeclined as error:
            await self._caller.report_refusal(error)
            return self._conclude("refused", detail=str(error))
        except ModelError as error:
            return await self._wait_out(error, "failed", describe_failure(error))
        except QuotaExceeded as error:
            return self._stop_for_quota(error)
        self._budget.take_step()
        if answer.stop != "tools" or not answer.message.calls:
            return await self._handle_final(answer)
        message = make_call_ids_unique(answer.message, self._all_call_ids())
        await self._record_answer(replace(answer, message=message))
        await self._display.release()
        self._display.mark_interim()
        await self._run_calls(message.calls)
        return self._pass_on()

    def _pass_on(self) -> TurnEnded | None:
        """End the turn if calls were passed on to the program; it sends their results later."""
        if not any(is_passed(part) for message in self._next_input for part in message.parts):
            return None
        said = self._messages[-1].text
        self._answers += [said] if has_visible_text(said) else []
        return self._conclude("answered", PASSED, added=self._next_input)

    async def _call_model(self, extra: Sequence[Message] = ()) -> ModelAnswer:
        """Make one model call, without the part of the transcript that the server refuses.

        A refusal of the request's form is none of a part. Raises as `_call_fitted`.
        """
        try:
            return await self._call_fitted(extra)
        except ModelUnsupported:
            raise
        except ModelDeclined as error:
            return await self._call_without_part(extra, error)
        except ModelRejected as error:
            refusal = error
        answer = await self._call_shorter(extra)
        return answer or await self._call_without_part(extra, refusal)

    async def _call_shorter(self, extra: Sequence[Message]) -> ModelAnswer | None:
        """Make a refused call once more with a shorter transcript, if it is long.

        Some servers say in words of their own that a request is too long. Returns None if the
        shorter one is refused, too.
        """
        request = await self._caller.build_request((*self._messages, *extra))
        shorter = await self._window.shorten(request, self._budget)
        if shorter is None or self._budget.exhausted() == "time":
            return None
        self._all_call_ids()  # remember the ids of calls that are no longer shown
        self._messages = list(shorter)
        await self._display.discard()
        self._caller.start_over()
        try:
            return await self._call_fitted(extra)
        except ModelRejected:
            return None

    async def _call_without_part(
        self, extra: Sequence[Message], refusal: ModelRejected
    ) -> ModelAnswer:
        """Make a refused call without the newest part, or without what is before it.

        What was left out is recorded once a request without it is accepted. Raises the refusal if
        none is, and as `_call_fitted`.
        """
        shown = self._caller.show(self._messages)
        for left_out in propose(shown, is_declined=isinstance(refusal, ModelDeclined)):
            if self._budget.exhausted() == "time":
                break
            await self._display.discard()
            self._caller.start_over()
            try:
                answer = await self._call_fitted([left_out.note, *extra])
            except ModelRejected:
                continue
            await self._journal.record_input([left_out.note], ())
            self._messages.append(left_out.note)
            self._left_out = left_out.part
            return answer
        raise refusal

    async def _call_fitted(self, extra: Sequence[Message]) -> ModelAnswer:
        """Make one model call and charge it to the budget.

        Shortens the transcript first if it is too long. `extra` messages are sent, but not
        recorded. Raises `ModelError` and `QuotaExceeded`.
        """
        refusal: ModelOverflow | None = None
        for _ in range(_MOST_REFUSALS):
            try:
                request = await self._build_request(extra, refusal)
            except ModelOverflow:
                if refusal or not self._caller.start_over():
                    raise
                continue
            try:
                return await self._send(request)
            except ModelOverflow as error:
                if self._budget.exhausted() == "time":
                    raise
                refusal = error
            await self._display.discard()
        return await self._send(await self._build_request(extra, refusal))

    async def _send(self, request: ModelRequest) -> ModelAnswer:
        """Send a request and charge its answer to the budget. Raises as `_call_fitted`."""
        self._display.guard(partial(self._claims.gate, self._course()))
        answer = await self._caller.call(request)
        self._outage.end()
        self._budget.spend(answer.usage.total_tokens, answer.micro_dollars)
        if self._caller.model == request.model and not self._caller.used_cheap_model:
            self._window.learn(request.model, answer.usage)
        if answer.stop == "overflow":
            raise ModelOverflow("The context window was full before the answer was complete.")
        return answer

    async def _build_request(
        self, extra: Sequence[Message], refusal: ModelOverflow | None
    ) -> ModelRequest:
        """Build the next request, from a shorter transcript if need be.

        `refusal` is the provider's error for the previous request; raised if nothing can be
        shortened.
        """
        request = await self._caller.build_request((*self._messages, *extra))
        fitted = await self._window.fit(request, self._budget, is_refused=refusal is not None)
        if fitted is None:
            if refusal:
                raise refusal
            return self._window.limit_output(request)
        self._all_call_ids()  # remember the ids of calls that are no longer shown
        self._messages = list(fitted)
        request = await self._caller.build_request((*self._messages, *extra))
        return self._window.limit_output(request)

    async def _handle_final(self, answer: ModelAnswer) -> TurnEnded | None:
        """End the turn with an answer that has no calls to run; return None if the turn goes on."""
        message = strip_calls(answer.message)
        if message is not answer.message:
            answer = replace(answer, message=message)
        if answer.stop == "pause":
            await self._display.release()
            self._display.mark_interim()
            if message.parts:
                await self._record_answer(answer)
            return None
        if answer.stop == "refusal":
            return self._conclude("refused", answer.refusal)
        honest = await self._check_claims(message)
        if honest is None:
            return None
        is_unmet = honest is not message
        message, answer = honest, replace(answer, message=honest)
        flaw = INCOMPLETE_REASONS.get(answer.stop, "")
        if has_visible_text(message.text):
            if await self._correct_form(answer, flaw) or await self._continue_after(answer):
                return None
            flaw = flaw or (RULE_UNMET if self._toolbox.list_missing() else "")
            self._answers.append(message.text)
            flaw = flaw or (f"left_out_{self._left_out}" if self._left_out else "")
            flaw = flaw or (UNMET if is_unmet else "")
            return self._conclude("answered", flaw, added=[message])
        if flaw or self._asked_again:
            return self._conclude("failed", flaw or "empty")
        self._asked_again = True
        self._display.mark_interim()
        self._next_input.append(ask_for_answer())
        return None

    async def _continue_after(self, answer: ModelAnswer | None) -> bool:
        """Continue after a final answer if tools are missing, or if the person wrote meanwhile.

        `answer` is None if an earlier process recorded it.
        """
        missing = self._toolbox.list_missing()
        must_stop = self._budget.exhausted() or self._demands >= _MOST_DEMANDS
        if not missing or must_stop:
            return await self._continue_with_steers(answer)
        self._demands += 1
        if answer:
            self._display.mark_interim()
            await self._record_answer(answer)
        self._next_input.append(ask_for_tools(missing))
        return True

    async def _correct_form(self, answer: ModelAnswer, flaw: str) -> bool:
        """Ask once more for an answer that does not fit the program's schema; False if it does."""
        schema = None if flaw or self._asked_again else self._turn.wishes.response_schema
        misfit = find_misfit(answer.message.text, schema)
        if not misfit:
            return False
        self._asked_again = True
        self._display.mark_interim()
        await self._record_answer(answer)
        self._next_input.append(ask_for_form(misfit))
        return True

    async def _check_claims(self, message: Message) -> Message | None:
        """Return an answer that claims nothing that did not happen; None if the model is asked.

        It is asked once for each message of the person. If it repeats itself, or can't be asked,
        the truth takes the claim's place.
        """
        course = self._course()
        held = None if self._wants_form else self._claims.judge(message.text, course)
        if held is None:
            await self._display.release()
            return message
        if course.was_asked or self._budget.exhausted():
            return _say(self._claims.correct(message.text, course))
        if has_visible_text(held.kept):
            self._answers.append(held.kept)
            await self._display.cut(held.kept)
            self._next_input.append(_say(held.kept))
        else:
            await self._display.discard()
        self._next_input.append(held.question)
        return None

    @property
    def _wants_form(self) -> bool:
        """True if a program reads the answer: its fields are values, which claim nothing."""
        return self._turn.wishes.response_schema is not None

    def _course(self) -> Course:
        return Course(deeds=self._journal.deeds, messages=self._messages)

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

    async def _summarize(self) -> TurnEnded | None:
        """Make the last call of a turn that reached a limit: text only, no tools."""
        limit, circle = self._budget.exhausted(), self._guardrails.stop_reason
        reason = "no_progress" if circle else limit
        question = ask_for_summary(limit, circle)
        try:
            answer = await self._call_model([question])
        except ModelError as error:
            return await self._wait_out(error, "exhausted", reason)
        except QuotaExceeded as error:
            return self._stop_for_quota(error)
        message = strip_calls(answer.message)
        if not self._wants_form:
            truth = self._claims.correct(message.text, self._course())
            message = message if truth == message.text else _say(truth)
        added = []
        if answer.stop != "refusal" and has_visible_text(message.text):
            self._answers.append(message.text)
            added = [question, message]
        return self._conclude("exhausted", reason, added=added)

    async def _wait_out(self, error: ModelError, ending: Ending, reason: str) -> TurnEnded | None:
        """Wait before the next try of a failed call; return the ending if there is no next try.

        The wait is on disk, so a restart continues it. It does not count against the turn's time.
        """
        planned = None
        if self._budget.exhausted() != "time":
            planned = self._outage.plan(error, self._now())
        if planned is None:
            await self._caller.report_refusal(error)
            return self._conclude(ending, reason, detail=str(error))
        await self._display.discard()
        outage, seconds = planned
        if not self._outage.is_recorded:
            await self._journal.record_outage(outage.since)
            self._outage.is_recorded = True
        await self._emit(outage)
        with self._budget.pause():
            await self._host.pause(seconds)
        self._caller.start_over()
        return None

    async def _run_calls(self, calls: Sequence[ToolCallPart]) -> None:
        """Run the calls of the last message, except those with a recorded result."""
        turn, toolbox, results = self._turn, self._toolbox, dict[CallId, ToolResult]()
        waiting: list[ToolCallPart] = []
        written = {call.call_id: call.name for call in calls}
        calls = [unwrap(call) for call in calls]
        names = [call.name for call in calls]
        await toolbox.load(names, turn.person.id, turn.conversation.person_id)
        for call in calls:
            if call.call_id in turn.results:
                results[call.call_id] = turn.results[call.call_id]
            elif call.call_id in turn.started and toolbox.effect(call.name) == "unsafe":
                results[call.call_id] = make_unknown(call.call_id, turn)
                await self._journal.record_result(call, results[call.call_id])
            else:
                waiting.append(call)
        asks_person = any(toolbox.waits_for_person(call.name) for call in waiting)
        with self._budget.pause() if asks_person else nullcontext():
            results |= await run_tools(waiting, self._run_call, self._emit)
        if all(toolbox.is_free(call.name) for call in calls):
            self._budget.refund_step()
        checked = self._guardrails.check(calls, results)
        parts: list[Part] = []
        for part in checked:
            parts += (replace(part, name=written[part.call_id]), *results[part.call_id].images)
        self._next_input.append(Message(role="tool", parts=tuple(parts)))

    async def _run_call(self, call: ToolCallPart) -> ToolResult:
        """Run one call, and record that it begins and its result."""
        toolbox, begin = self._toolbox, partial(self._journal.record_begin, call)
        context = self._context_of(call)
        inner = InnerCalls(
            toolbox=toolbox,
            journal=self._journal,
            context=context,
            pause=self._budget.pause,
            now=self._now,
        )
        context = replace(context, call_tool=inner.run)
        if not toolbox.begins_late(call.name):
            await self._journal.record_held()
        result = await toolbox.run(call, context, begin, self._wait_for_person)
        await self._journal.record_result(call, result)
        return result

    @asynccontextmanager
    async def _wait_for_person(self) -> AsyncGenerator[None, None]:
        """Surround a question; see `Pause`. Raises what the journal raises."""
        await self._journal.record_held()
        with self._budget.pause():
            yield

    def _context_of(self, call: ToolCallPart) -> ToolContext:
        context = self._turn.context.make_tool_context(
            self._turn.id,
            call.call_id,
            memory_owner=self._turn.memory_owner,
            now=self._now(),
            evidence=self._journal.evidence,
            sources=self._journal.sources,
        )
        return replace(
            context,
            own_words=self._journal.read_own_words,
            helpers=self._helpers,
            show_plan=self._host.show_plan,
            show_progress=partial(self._host.show_progress, call.call_id),
            pause=self._budget.pause,
        )

    def _all_call_ids(self) -> set[CallId]:
        """Every call id in use, including those of calls that are no longer shown."""
        if self._call_ids is None:
            known = {*self._turn.results, *self._turn.started}
            self._call_ids = list_call_ids(self._messages) | known
        return self._call_ids

    async def _record_answer(self, answer: ModelAnswer) -> None:
        await self._journal.record_answer(answer)
        self._messages.append(answer.message)

    async def _note_news(self) -> None:
        """Let the next call see what others have changed in the blocks of the agent."""
        if self._turn.read_news:
            lines = await self._turn.read_news((*self._messages, *self._next_input))
            self._next_input += [state_facts(lines)] if lines else []

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


def _say(text: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=text),))
