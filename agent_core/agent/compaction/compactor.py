"""Compact conversations: plan, summarize and store the result; note the calls of idle ones."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.compaction.compacted_view import find_hidden, show_compacted
from agent_core.agent.compaction.left_out import find_left_out
from agent_core.agent.compaction.plan import CompactionPlan, Planner, TokenBudget
from agent_core.agent.compaction.requests import (
    CompactionRequest,
    CompactionResult,
    CompactionTarget,
)
from agent_core.agent.compaction.summaries import Summarizer, SummaryRequest
from agent_core.agent.compaction.token_meter import ContextBounds, TokenMeter
from agent_core.errors import ModelError, QuotaExceeded
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import ConversationId, MessageId, PersonId, PromptHash, SessionId
from agent_core.models.contract import ModelRequest
from agent_core.models.token_estimate import estimate_input, estimate_messages
from agent_core.state.conversations import compactions, messages, plans, sessions, usage
from agent_core.state.conversations.compactions import Compaction, NewCompaction
from agent_core.state.conversations.messages import START, StoredMessage
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection, Database
from agent_core.tools.selection.found_tools import show_found_tools
from agent_core.transcript import Message

_MOST_NOTED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleConversation:
    """A conversation as its last call left it.

    `tokens` is the length of that call's request, `estimated` its plain estimate.
    """

    target: CompactionTarget
    conversation_id: ConversationId
    model: str
    tokens: int
    estimated: int
    bounds: ContextBounds


class IdleConversations:
    """The last calls of recent conversations; in memory only, because a cache is brief."""

    def __init__(self) -> None:
        self._last: OrderedDict[SessionId, tuple[int, IdleConversation]] = OrderedDict()

    def note(self, conversation: IdleConversation, now: int) -> None:
        """Note a call at `now`, in milliseconds since the epoch; it replaces the previous one."""
        self._last[conversation.target.session_id] = (now, conversation)
        self._last.move_to_end(conversation.target.session_id)
        if len(self._last) > _MOST_NOTED:
            self._last.popitem(last=False)

    def take(self, since: int, until: int) -> list[IdleConversation]:
        """Remove the calls up to `until`, and return those of them that came after `since`."""
        due = [key for key, (at, _) in self._last.items() if at <= until]
        taken = [self._last.pop(key) for key in due]
        return [one for at, one in taken if at > since]


_TARGET_PERCENT, _ROOF_PERCENT = 50, 90
"""Percent of the threshold: the size that a compaction aims at, and the size that is still
acceptable.
"""
_ECONOMY_ROOF_PERCENT = 67
"""The acceptable size for a compaction that saves cost: a gain of less than a third does not pay.
"""
_MOST_SUMMARY = 2_500
_SUMMARY_SHARE = 8
"""A summary may take an eighth of the available tokens, up to `_MOST_SUMMARY`."""
_BLOCK = 100
"""Tokens of the block around a summary."""
_LEAST_GAIN = 0.03
_REGROWTH = 1.1
"""Growth of a conversation after which a compaction that gained nothing is tried again."""
_MOST_SESSIONS = 4096

_log = logging.getLogger(__name__)

_Revision = tuple[int, int, int]
"""The state of a session: newest message, sum of checksums, newest compaction."""


class Compactor:
    """Compacts conversations, and caches the newest compaction of each session."""

    def __init__(
        self,
        *,
        database: Database,
        summarizer: Summarizer,
        meter: TokenMeter,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._summarizer = summarizer
        self.meter = meter
        self.now = now
        self.idle = IdleConversations()
        self._newest: OrderedDict[SessionId, Compaction | None] = OrderedDict()
        self._declined: OrderedDict[SessionId, int] = OrderedDict()
        """The tokens that each session had when a compaction to save cost gained nothing."""

    async def find(self, session_id: SessionId, owner_id: PersonId) -> Compaction | None:
        """The compaction that applies to a session's next call. Raises `StoreError`."""
        if session_id in self._newest:
            return self._newest[session_id]
        found = await self._database.read(
            compactions.find_newest, session_id=session_id, person_id=owner_id
        )
        if session_id in self._newest:  # a compaction was made during the read
            return self._newest[session_id]
        self.remember(session_id, found)
        return found

    def remember(self, session_id: SessionId, compaction: Compaction | None) -> None:
        """Cache the newest compaction of a session; None for a new session."""
        self._newest[session_id] = compaction
        self._newest.move_to_end(session_id)
        if len(self._newest) > _MOST_SESSIONS:
            self._newest.popitem(last=False)

    def note_call(self, conversation: IdleConversation) -> None:
        """Note a call; the conversation may become idle after it."""
        self.idle.note(conversation, self.now())

    def is_worthwhile(self, session_id: SessionId, tokens: int) -> bool:
        """Return False if a compaction gained nothing when the session was about as long as now."""
        return tokens >= self._declined.get(session_id, 0) * _REGROWTH

    def forget(self) -> None:
        """Drop the cache, because something other than a turn changed the sessions."""
        self._newest.clear()

    async def compact(
        self, target: CompactionTarget, wanted: CompactionRequest
    ) -> CompactionResult:
        """Compact as much as the request needs; change nothing if that gains nothing.

        Without a summary, shortens tool outputs. Leaves messages out if the request is still too
        long. Raises `StoreError`.
        """
        stored, former, revision = await self._database.read(_load, target)
        visible = _leave_out(stored)
        sizes = _Sizes(wanted, apply_compaction(visible, former))
        planner = Planner(visible, former, sizes.budget(), turn_id=target.turn_id)
        draft = _Draft(plan=_choose(planner, wanted), summary=former.summary if former else "")
        paid: list[ModelCall] = []
        summary_failed = False
        if draft.plan and draft.plan.summarized:
            is_asked = wanted.may_summarize
            summary = (
                await self._summarize(draft.plan, draft.summary, target, wanted, paid)
                if is_asked
                else None
            )
            summary_failed = is_asked and summary is None
            draft = (
                draft.without(planner, wanted) if summary is None else draft.with_summary(summary)
            )
        built = self._build(draft, (visible, former), target, sizes)
        compaction = await finish(self._write(target, (former, revision), built, paid))
        if compaction:
            _log.info(
                "session %d: %d tokens became %d (%s)",
                target.session_id,
                compaction.tokens_before,
                compaction.tokens_after,
                compaction.reason,
            )
        elif wanted.keep:
            self._declined[target.session_id] = wanted.tokens
            if len(self._declined) > _MOST_SESSIONS:
                self._declined.popitem(last=False)
        return CompactionResult(
            compaction=compaction,
            messages=apply_compaction(stored, compaction or former),
            paid=tuple(paid),
            summary_failed=summary_failed,
        )

    async def compact_now(
        self, target: CompactionTarget, prompt_hash: PromptHash | None, hint: str
    ) -> Compaction | None:
        """Compact everything but the newest turns of an idle conversation, on request.

        `hint` is what the person wants kept. None if that gains nothing. Raises `StoreError`.
        """

        def look(connection: Connection) -> tuple[str, tuple[Message, ...]]:
            stored, compaction, _ = _load(connection, target)
            prompt = prompt_hash and sessions.get_prompt(connection, prompt_hash=prompt_hash)
            return "".join(prompt[:2]) if prompt else "", apply_compaction(stored, compaction)

        system, shown = await self._database.read(look)
        request = ModelRequest(
            model=self.meter.model, system=system, tools=(), messages=shown, max_output_tokens=0
        )
        estimated = estimate_input(request)
        wanted = CompactionRequest(
            reason="asked",
            tokens=self.meter.estimate(target.session_id, request.model, estimated),
            estimated=estimated,
            threshold=self.meter.bounds(request, None).threshold,
            hint=hint,
        )
        return (await self.compact(target, wanted)).compaction if shown else None

    async def _summarize(
        self,
        plan: CompactionPlan,
        earlier: str,
        target: CompactionTarget,
        wanted: CompactionRequest,
        paid: list[ModelCall],
    ) -> str | None:
        """The summary of a plan's messages; None if no model returns one."""
        request = SummaryRequest(
            messages=tuple(one.message for one in plan.summarized),
            earlier=earlier,
            tokens=_summary_tokens(wanted),
            room=(wanted.keep and wanted.limit) or wanted.threshold,
            payer_id=target.payer_id,
            hint=wanted.hint,
        )
        try:
            return await self._summarizer.summarize(request, paid)
        except (ModelError, QuotaExceeded, TimeoutError) as error:
            _log.warning("session %d is not summarized: %r", target.session_id, error)
            return None

    def _build(
        self,
        draft: "_Draft",
        loaded: tuple[list[StoredMessage], Compaction | None],
        target: CompactionTarget,
        sizes: "_Sizes",
    ) -> NewCompaction | None:
        """The compaction of a draft; None if it gains too little."""
        stored, former = loaded
        plan, wanted = draft.plan, sizes.wanted
        if plan is None:
            return None
        compaction = NewCompaction(
            turn_id=target.turn_id,
            made_after=stored[-1].id,
            shortened_to=plan.shortened_to,
            summarized_to=plan.summarized_to,
            left_out_from=draft.left_out_from,
            kept=plan.kept,
            summary=draft.summary,
            reason=wanted.reason,
            tokens_before=wanted.tokens,
            tokens_after=0,
            created_at=self.now(),
        )
        before = former.found_tools if former else ""
        found = show_found_tools(find_hidden(stored, compaction), before)
        compaction = replace(compaction, found_tools=found)
        after = sizes.of(show_compacted(stored, compaction))
        if not wanted.fills_gap and after > wanted.tokens * (1 - _LEAST_GAIN):
            return None
        return replace(compaction, tokens_after=after)

    async def _write(
        self,
        target: CompactionTarget,
        state: tuple[Compaction | None, _Revision],
        built: NewCompaction | None,
        paid: list[ModelCall],
    ) -> Compaction | None:
        """Store a compaction and the usage of its calls, unless the conversation continued
        meanwhile.

        `state` is that of the conversation when the compaction was planned.
        """
        former, revision = state
        if built is None and not paid:
            return None
        now = self.now()

        def work(connection: Connection) -> Compaction | None:
            for spent in paid:
                usage.insert(
                    connection, spent, person_id=target.payer_id, turn_id=target.turn_id, now=now
                )
            if built is None:
                return None
            if _revise(connection, target, former) != revision:
                return None
            if target.turn_id is None:  # makes a turn that is being prepared start over
                compactions.drop_prompt(connection, session_id=target.session_id)
            plan = plans.find(connection, session_id=target.session_id, owner_id=target.owner_id)
            return compactions.insert(
                connection,
                replace(built, plan=plans.show_plan(plan)),
                session_id=target.session_id,
                person_id=target.owner_id,
            )

        compaction = await self._database.write("folds.make", work)
        if compaction:
            self.remember(target.session_id, compaction)
        return compaction


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A compaction that is not stored yet; without a plan, it gains nothing."""

    plan: CompactionPlan | None
    summary: str
    left_out_from: MessageId | None = None

    def with_summary(self, summary: str) -> "_Draft":
        """The draft with a summary of everything that its plan hides."""
        return replace(self, summary=summary)

    def without(self, planner: Planner, wanted: CompactionRequest) -> "_Draft":
        """The draft to use if no model returned a summary."""
        plan = None if wanted.fills_gap else planner.only_shorten()
        is_short_enough = plan is not None and wanted.limit and plan.size <= wanted.limit
        if wanted.limit and wanted.tokens > wanted.limit and not is_short_enough:
            plan = self.plan
        left_out = plan.summarized if plan else ()
        return replace(self, plan=plan, left_out_from=left_out[0].id if left_out else None)


def _choose(planner: Planner, wanted: CompactionRequest) -> CompactionPlan | None:
    if wanted.fills_gap:
        return planner.fill_gap()
    if wanted.keep:
        return planner.choose_between_turns()
    return planner.choose_largest() if wanted.reason == "asked" else planner.choose()


class _Sizes:
    """Estimates sizes, calibrated by the measured length of the whole request."""

    def __init__(self, wanted: CompactionRequest, shown_now: Sequence[Message]) -> None:
        self.wanted = wanted
        self._scale = wanted.tokens / max(wanted.estimated, 1)
        target = self._scale * estimate_messages(shown_now, wanted.shown)
        self._fixed = max(wanted.tokens - target, 0.0)

    def of(self, shown: Sequence[Message]) -> int:
        """The size of the whole request if it had these messages."""
        return int(self._fixed + self._scale * estimate_messages(shown, self.wanted.shown))

    def budget(self) -> TokenBudget:
        """The sizes that a plan must not exceed."""
        threshold = self.wanted.threshold
        return TokenBudget(
            fixed=self._fixed,
            scale=self._scale,
            target=self.wanted.keep or threshold * _TARGET_PERCENT / 100,
            roof=threshold * (_ECONOMY_ROOF_PERCENT if self.wanted.keep else _ROOF_PERCENT) / 100,
            summary=self._scale * (_summary_tokens(self.wanted) + _BLOCK),
            shown=self.wanted.shown,
        )


def _summary_tokens(wanted: CompactionRequest) -> int:
    return min(_MOST_SUMMARY, min(wanted.threshold, wanted.tokens) // _SUMMARY_SHARE)


def _load(
    connection: Connection, target: CompactionTarget
) -> tuple[list[StoredMessage], Compaction | None, _Revision]:
    """Load the messages that calls show or that were left out, and the state of the session."""
    session_id, person_id = target.session_id, target.owner_id
    former = compactions.find_newest(connection, session_id=session_id, person_id=person_id)
    kept = former.kept if former else ()
    after = _find_end(former)
    if former and former.left_out_from is not None:
        after = min(after, MessageId(former.left_out_from - 1))
    before = messages.list_chosen(
        connection, message_ids=[one for one in kept if one <= after], person_id=person_id
    )
    rest = messages.list_session(
        connection, session_id=session_id, person_id=person_id, after=after
    )
    return [*before, *rest], former, _revise(connection, target, former)


def _leave_out(stored: list[StoredMessage]) -> list[StoredMessage]:
    """Return the messages without those that a note leaves out: a summary would be refused, too."""
    hidden = find_left_out([one.message for one in stored])
    return [one for place, one in enumerate(stored) if place not in hidden]


def _revise(
    connection: Connection, target: CompactionTarget, former: Compaction | None
) -> _Revision:
    return compactions.fingerprint(
        connection, session_id=target.session_id, after=_find_end(former)
    )


def _find_end(compaction: Compaction | None) -> MessageId:
    """The last message that a compaction replaces; `START` without one."""
    return compaction.summarized_to if compaction else START


def apply_compaction(
    stored: Sequence[StoredMessage], compaction: Compaction | None
) -> tuple[Message, ...]:
    """The messages under a compaction, or all of them without one."""
    return (
        show_compacted(stored, compaction) if compaction else tuple(one.message for one in stored)
    )


def is_fresh(stored: Sequence[StoredMessage], compaction: Compaction | None) -> bool:
    """Return True if no turn has begun since the compaction; `stored` may lack what it replaces.

    The provider's cache then holds little of the conversation, so a new prompt costs nothing.
    """
    if compaction is None or not stored:
        return False
    last = stored[-1].turn_id
    began = next((one.id for one in reversed(stored) if one.turn_id != last), START)
    return compaction.made_after > max(began, compaction.summarized_to)
