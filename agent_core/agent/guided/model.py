"""A model in guided mode: it decides and talks; code calls the tools and says what was done."""

import json
import re
from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Literal

from agent_core.agent.guided.calls import find_moment, plan_call, plan_plain_reminder
from agent_core.agent.guided.decisions import (
    CHAT,
    MANAGE_JOBS,
    REMIND,
    Decision,
    label_entry,
    label_job,
    list_intents,
    read_decision,
)
from agent_core.agent.guided.named_times import (
    correct_time,
    is_clear,
    list_clocks,
    list_spans,
    names_time,
)
from agent_core.agent.guided.prompt import (
    VERSION,
    compose_answer,
    compose_decision,
    compose_helper,
    compose_start,
)
from agent_core.agent.guided.replies import (
    Refusal,
    ask_which,
    confirm_time,
    describe_step,
    list_jobs,
    name_failure,
    reply,
)
from agent_core.agent.guided.supervision import (
    compose_choice,
    compose_sum,
    list_choices,
    plan_question,
)
from agent_core.agent.guided.transcript import (
    LIST_JOBS,
    MESSAGE_AGENT,
    PROVIDER,
    GuidedTurn,
    Step,
    read_team_order,
    read_turn,
    show_jobs,
)
from agent_core.agent.guided.vetoes import (
    list_doubts,
    list_vetoed,
    may_be_reminder,
)
from agent_core.agent.guided.wishes import SAID, find_note, make_note, note_wish, split_wishes
from agent_core.agent.named.supervisor_order import read_order
from agent_core.errors import ModelInterrupted
from agent_core.ids import CallId
from agent_core.models.contract import (
    HasProfiles,
    LoadsModels,
    Model,
    ModelAnswer,
    ModelRequest,
    TextDelta,
    Usage,
)
from agent_core.models.local.servers import read_billions
from agent_core.models.router import split_name
from agent_core.models.shapes import make_shape, read_shape
from agent_core.shared_words import share_word
from agent_core.tools.selection.catalog import SEARCH_TOOL
from agent_core.transcript import Message, Part, RawPart, TextPart, ToolCallPart

GuidedSetting = Literal["auto", "tools", "guided"]
_FEW = 4.0
"""Billions of parameters below which a model is guided until a test shows that it calls tools well.

Of the models measured, those of 1.5 billion said that things were done which nobody did.
"""
_OF_PEOPLE = {REMIND, MANAGE_JOBS, "settings", "ask"}
"""Tools of a person's own turns; a helper, such as a member of a team, has none of them."""
_MOST_OPTIONS = 5
_LABEL = 60
_LONGEST_TEXT = 200
_CLOCK_LENGTH = len("09:00")
_SHAPE = "guided"
_DECISION = re.compile(r"""[`\w\s:.]*\{\s*["'“]?do["'”]?\s*:""", re.IGNORECASE)
"""How a decision begins in words: in a fence or not, and with or without quotation marks."""

_NOTHING = Usage()

Stream = AsyncGenerator[TextDelta | ModelAnswer, None]


class GuidedModel:
    """The `Model` of turns. Models that call tools well are passed through.

    Everything that a step depends on is in the transcript: the list of jobs and the decisions are
    recorded in it. So equal requests lead to equal steps, and an old turn can be replayed.
    """

    def __init__(self, model: Model, setting: GuidedSetting = "auto") -> None:
        """With the setting `auto`, the profile of a model decides."""
        self._model = model
        self._setting = setting

    @property
    def provider(self) -> str:
        """The provider of the model itself."""
        return self._model.provider

    def is_guided(self, model: str) -> bool:
        """Return whether a model works in guided mode."""
        if self._setting != "auto":
            return self._setting == "guided"
        known = self._model.profile(model) if isinstance(self._model, HasProfiles) else None
        if known is not None and known.mode:
            return known.mode == "guided"
        billions = read_billions(split_name(model)[1])
        return billions is not None and billions < _FEW

    def stream(self, request: ModelRequest) -> Stream:
        """Make the call, or the next step of a guided turn; see the contract."""
        is_plain = request.response_schema or request.tool_choice or request.has_client_tools
        turn = None
        if not is_plain and request.tools and self.is_guided(request.model):
            turn = read_turn(request)
        return self._step(request, turn) if turn else self._model.stream(request)

    async def check(self, model: str) -> None:
        """Verify key and model; see the contract."""
        await self._model.check(model)

    async def close(self) -> None:
        """Close connections."""
        await self._model.close()

    def is_loaded(self, model: str) -> bool:
        """Return whether a model has answered already; see the contract."""
        return not isinstance(self._model, LoadsModels) or self._model.is_loaded(model)

    async def keep_warm(self, first: ModelRequest | None) -> None:
        """Keep a model warm; see the contract."""
        if isinstance(self._model, LoadsModels):
            is_guided = first is not None and self.is_guided(first.model)
            await self._model.keep_warm(compose_start(first) if first and is_guided else first)

    def forget(self) -> None:
        """Forget the newest conversation; see the contract."""
        if isinstance(self._model, LoadsModels):
            self._model.forget()

    async def _step(self, request: ModelRequest, turn: GuidedTurn) -> Stream:
        """Make the next step of a turn, which may hold several wishes."""
        wishes = split_wishes(request.messages)
        if len(wishes) < 2:
            async for piece in self._give_step(request, await self._plan(request, turn)):
                yield piece
            return
        steps: dict[int, _Step] = {}
        for number, messages in wishes.items():
            own = replace(request, messages=messages)
            if (read := read_turn(own)) is None:
                continue
            noted = None if read.steps else find_note(request.messages, number)
            step = _take_note(own, read, noted) if noted else await self._plan(own, read)
            if step.is_listing:
                yield _answer(request, *step.parts)
                return
            steps[number] = step
        async for piece in self._give_step(request, _join(request, steps)):
            yield piece

    async def _give_step(self, request: ModelRequest, step: "_Step") -> Stream:
        """Stream a step: calls, or words by code and then by the model."""
        if step.asked is None:
            made = _answer(request, *step.parts)
            yield replace(made, usage=step.spent, shape=_merge(step.shape))
            return
        before = "".join(part.text for part in step.parts if isinstance(part, TextPart))
        if before:
            before += "\n\n"
            yield TextDelta(text=before)
        async for piece in self._speak(request, step.asked, step.spent):
            if before and isinstance(piece, ModelAnswer):
                text = TextPart(text=before + piece.message.text)
                yield replace(piece, message=replace(piece.message, parts=(text,)))
            else:
                yield piece

    async def _plan(self, request: ModelRequest, turn: GuidedTurn) -> "_Step":
        """Plan the next step for the newest wish."""
        tools = _list_usable(request)
        order = read_team_order(turn.said) if MESSAGE_AGENT in tools else None
        if order:
            return _Step(parts=_give(request, turn, order))
        if not _OF_PEOPLE & tools:
            return await self._help(request, turn, tools)
        plain = None if turn.steps else plan_plain_reminder(turn, _call_id(request))
        if plain and plain.name in tools:
            return _Step(parts=(plain,))
        if turn.jobs is None and MANAGE_JOBS in tools and not turn.steps:
            return _Step(parts=(_call(request, MANAGE_JOBS, LIST_JOBS),), is_listing=True)
        if not turn.steps:
            return await self._decide(request, turn, tools)
        last = turn.steps[-1]
        if last.call.name == "recall" and last.result:
            return _Step(asked=compose_answer(request, turn.known, last.result.text))
        if last.call.name == "ask":
            return _Step(parts=_go_on(request, turn, last))
        return _Step(parts=(TextPart(text=describe_step(last)),))

    async def _help(self, request: ModelRequest, turn: GuidedTurn, tools: set[str]) -> "_Step":
        """Plan a step of a helper's turn: it leads its team, or answers in words alone."""
        order = read_order(turn.said) if MESSAGE_AGENT in tools else None
        if order is None:
            return _Step(asked=compose_helper(request))
        spent, steps = _NOTHING, [step for step in turn.steps if step.decision]
        if choices := list_choices(order, steps):
            decision, spent, shape = await self._force(
                compose_choice(request, order, steps), choices
            )
            if decision and decision.given.get("who") in order.members:
                given = json.dumps(plan_question(order, steps, decision), ensure_ascii=False)
                parts = _note(request, decision), _call(request, MESSAGE_AGENT, given)
                return _Step(parts=parts, spent=spent, shape=shape)
        return _Step(asked=compose_sum(request, order, steps), spent=spent)

    async def _decide(self, request: ModelRequest, turn: GuidedTurn, tools: set[str]) -> "_Step":
        """Let the model decide, and act on it, ask, or let it speak."""
        first, spent, shape = await self._choose(request, turn, list_intents(tools, turn.known))
        parts: tuple[Part, ...] = ()
        if first and first.intent != CHAT:
            vetoed = list_vetoed(first, turn.said, turn.known)
            second = None
            if vetoed or may_be_reminder(first, turn.said):
                intents = list_intents(tools, turn.known)
                for name in vetoed or (first.intent,):
                    intents.pop(name, None)
                second, more, shape = await self._choose(request, turn, intents)
                spent = _add(spent, more)
            parts = _follow(request, turn, first, second, is_vetoed=bool(vetoed), tools=tools)
        asked = None if parts else compose_answer(request, turn.known)
        return _Step(parts=parts, asked=asked, spent=spent, shape=shape)

    async def _choose(
        self, request: ModelRequest, turn: GuidedTurn, intents: Mapping[str, Mapping[str, object]]
    ) -> tuple[Decision | None, Usage, str]:
        """Return the decision of one call with its usage and shape; None if it can't be read."""
        return await self._force(compose_decision(request, turn.known, intents), intents)

    async def _force(
        self, asked: ModelRequest, intents: Mapping[str, Mapping[str, object]]
    ) -> tuple[Decision | None, Usage, str]:
        """Return the decision of a forced choice; see `_choose`."""
        answer = await _collect(self._model.stream(asked))
        return read_decision(answer.message.text, intents), answer.usage, answer.shape

    async def _speak(self, request: ModelRequest, asked: ModelRequest, spent: Usage) -> Stream:
        """Stream an answer in words; `spent` is what the decisions before it used."""
        held = ""
        async for piece in self._model.stream(asked):
            if isinstance(piece, ModelAnswer):
                usage = _add(spent, piece.usage)
                message = _hide_decision(piece.message)
                yield replace(piece, message=message, usage=usage, shape=_merge(piece.shape))
            elif (held := held or piece.text.lstrip()).startswith(("{", "`")):
                continue  # perhaps another decision, which nobody reads; the whole comes last
            else:
                yield piece


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """The next step of a turn: parts, and a question whose answer in words follows them.

    `spent` and `shape` are those of its decisions. `is_listing` marks the call before a decision.
    """

    parts: tuple[Part, ...] = ()
    asked: ModelRequest | None = None
    spent: Usage = _NOTHING
    shape: str = ""
    is_listing: bool = False

    @property
    def has_calls(self) -> bool:
        """Whether the step calls tools."""
        return any(isinstance(part, ToolCallPart) for part in self.parts)


def _take_note(request: ModelRequest, turn: GuidedTurn, note: Mapping[str, object]) -> _Step:
    """Return the step of a wish that was decided earlier in the turn and led to no call."""
    if said := note.get(SAID):
        return _Step(parts=(TextPart(text=str(said)),))
    return _Step(asked=compose_answer(request, turn.known))


def _join(request: ModelRequest, steps: Mapping[int, _Step]) -> _Step:
    """Return the steps of several wishes as one: their calls first, then all words together."""
    planned = [*steps.values()]
    spent = reduce(_add, (step.spent for step in planned), _NOTHING)
    shape = next((step.shape for step in planned if step.shape), "")
    if any(step.has_calls for step in planned):
        noted = (_note_step(request.model, *one) for one in steps.items())
        return _Step(parts=tuple(chain.from_iterable(noted)), spent=spent, shape=shape)
    words = [part.text for one in planned for part in one.parts if isinstance(part, TextPart)]
    asked = next((step.asked for step in reversed(planned) if step.asked), None)
    told = [said for said in words if said != reply("done")]
    words = told if told or asked else words[:1]  # the receipts below say what was done
    parts = (TextPart(text="\n\n".join(words)),) if words else ()
    return _Step(parts=parts, asked=asked, spent=spent, shape=shape)


def _note_step(model: str, number: int, step: _Step) -> tuple[Part, ...]:
    """Return the calls for a wish, or else a note of what answers it at the turn's end."""
    if step.has_calls:
        return note_wish(step.parts, number, model)
    said = "".join(part.text for part in step.parts if isinstance(part, TextPart))
    return (make_note(model, number, **({SAID: said} if said else {"do": CHAT})),)


def _give(
    request: ModelRequest, turn: GuidedTurn, order: Mapping[str, str]
) -> tuple[ToolCallPart | TextPart, ...]:
    """Return the call that gives a task to a team, or what the team said."""
    if not turn.steps:
        return (_call(request, MESSAGE_AGENT, json.dumps(order, ensure_ascii=False)),)
    step = turn.steps[-1]
    is_good = step.result is not None and not step.result.is_error
    return (TextPart(text=step.result.text if step.result and is_good else describe_step(step)),)


def _follow(
    request: ModelRequest,
    turn: GuidedTurn,
    first: Decision,
    second: Decision | None,
    *,
    is_vetoed: bool,
    tools: Collection[str],
) -> tuple[Part, ...]:
    """Return what follows from one or two decisions; nothing lets the model speak.

    The second one was made because the words of the message spoke against the first, or because
    a fact with a time may be meant as a reminder.
    """
    if not is_vetoed:
        if second and second.intent == "remind_once":
            fact = {**second.given, "fact": first.given["fact"]}
            return _act(request, turn, replace(second, given=fact), tools)
        return _act(request, turn, first, tools)
    if second and second.intent != CHAT and not list_vetoed(second, turn.said, turn.known):
        return _act(request, turn, second, tools)
    return ()


def _act(
    request: ModelRequest, turn: GuidedTurn, decided: Decision, tools: Collection[str]
) -> tuple[Part, ...]:
    """Return the call that a decision leads to, a question, or words."""
    if decided.intent == "list_reminders":
        return (TextPart(text=list_jobs(show_jobs(turn.jobs or "", turn.now))),)
    decision = _correct(decided, turn.said)
    doubts = list_doubts(decision, turn.said, turn.known)[:_MOST_OPTIONS]
    if doubts and "ask" in tools:
        options = [one[:_LABEL] for one in doubts]
        return _ask(request, decision, ask_which(decision.intent), options, "none")
    call = None if doubts else plan_call(decision, turn, _call_id(request))
    if call is None:
        return (TextPart(text=name_failure()),)
    moment = find_moment(decision, turn)
    if moment and "ask" in tools and _is_unsure(decision, decided, turn.said):
        options = [reply("yes"), *([reply("keep")] if "fact" in decision.given else [])]
        return _ask(request, decision, confirm_time(decision, moment, turn.now), options, "no")
    return _note(request, decision), call


def _ask(
    request: ModelRequest, decision: Decision, question: str, options: list[str], last: Refusal
) -> tuple[Part, ...]:
    given = {"question": question, "options": [*options, reply(last)]}
    call = _call(request, "ask", json.dumps(given, ensure_ascii=False))
    return _note(request, decision), call


def _note(request: ModelRequest, decision: Decision) -> RawPart:
    return RawPart(provider=PROVIDER, model=request.model, payload=decision.dump())


def _correct(decision: Decision, said: str) -> Decision:
    """Return a decision with what the words of a message say for certain.

    That is the clock, the day, and the text of a reminder that has no word of the message. A
    reminder without a time of day may be a fact to keep.
    """
    given = dict(decision.given)
    if "when" in given:
        given["when"] = correct_time(given["when"], said)
    if "text" in given and not share_word(given["text"], said):
        given["text"] = said[:_LONGEST_TEXT]
    if decision.intent == "remind_once" and not (list_clocks(said) or list_spans(said)):
        given.setdefault("fact", said[:_LONGEST_TEXT])
    return replace(decision, given=given)


def _is_unsure(decision: Decision, decided: Decision, said: str) -> bool:
    """Return whether the person has to confirm a single time; what repeats they confirm anyway."""
    if decision.intent not in ("remind_once", "move_reminder"):
        return False
    when = decision.given["when"]
    is_guessed = when[-_CLOCK_LENGTH:] != decided.given["when"][-_CLOCK_LENGTH:]
    is_guessed = is_guessed and not is_clear(said)
    return "fact" in decision.given or is_guessed or not names_time(when, said)


def _go_on(request: ModelRequest, turn: GuidedTurn, asked: Step) -> tuple[Part, ...]:
    """Return the call for the entry that the person chose, or words."""
    decided = json.loads(asked.decision)
    chosen = (asked.result.text if asked.result else "").partition("They chose: ")[2]
    given = {name: str(value) for name, value in decided.items() if name != "do"}
    number = int(found) if (found := chosen.partition(" ")[0]).isdigit() else 0
    if "old" in given and 0 < number <= len(turn.known.entries):
        given["old"] = label_entry(number, turn.known.entries[number - 1][1])
    elif number in turn.known.jobs and "which" in given:
        given["which"] = label_job(number, turn.known.jobs[number])
    elif "old" in given or chosen not in (reply("yes"), reply("keep")):
        return (TextPart(text=reply("left")),)
    intent = "remember" if chosen == reply("keep") else decided["do"]
    decision = Decision(intent=intent, given=given)
    call = plan_call(decision, turn, _call_id(request))
    return (_note(request, decision), call) if call else (TextPart(text=name_failure()),)


def _hide_decision(message: Message) -> Message:
    """Return an answer in words; a decision instead of words becomes an honest sentence."""
    is_decision = _DECISION.match(message.text) is not None
    parts = (TextPart(text=name_failure()),)
    return replace(message, parts=parts) if is_decision else message


def _list_usable(request: ModelRequest) -> set[str]:
    """Return the names of the tools that can be called, with those that a search would find."""
    names = {tool.name for tool in request.tools}
    searches = (tool.description for tool in request.tools if tool.name == SEARCH_TOOL)
    return names.union(*(re.findall(r"\w+", description) for description in searches))


async def _collect(stream: Stream) -> ModelAnswer:
    """Return the answer of a stream whose words nobody sees."""
    async for piece in stream:
        if isinstance(piece, ModelAnswer):
            return piece
    raise ModelInterrupted("the stream ended before the answer did")


def _answer(request: ModelRequest, *parts: Part) -> ModelAnswer:
    """Return a step that code made."""
    has_calls = any(isinstance(part, ToolCallPart) for part in parts)
    return ModelAnswer(
        message=Message(role="assistant", parts=parts),
        stop="tools" if has_calls else "end",
        usage=Usage(),
        model=request.model,
        shape=_merge(""),
    )


def _call(request: ModelRequest, name: str, arguments: str) -> ToolCallPart:
    return ToolCallPart(call_id=CallId(_call_id(request)), name=name, arguments=arguments)


def _call_id(request: ModelRequest) -> str:
    return f"guided_{len(request.messages)}"


def _merge(shape: str) -> str:
    """Return the shape of a guided step; its schema follows from the transcript."""
    values = {key: value for key, value in read_shape(shape).items() if key != "schema"}
    return make_shape({**values, _SHAPE: VERSION})


def _add(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        cache_read_tokens=one.cache_read_tokens + other.cache_read_tokens,
        cache_write_tokens=one.cache_write_tokens + other.cache_write_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
    )
