"""Commands about context and cost: compact, context, usage."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.agent.agent import Agent
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.requests import CompactionTarget
from agent_core.agent.prompt.message_facts import RECALLED, count_recalled
from agent_core.agent.quotas.reservations import Quotas
from agent_core.agent.replay.context_report import ContextReport, report_context
from agent_core.agent.replay.rebuild import rebuild_calls
from agent_core.agent.replay.records import ANSWERS, TurnRecord, read_record
from agent_core.ids import PersonId, PromptHash
from agent_core.models.contract import ModelRequest
from agent_core.state.conversations import messages, sessions, turns, usage
from agent_core.state.conversations.sessions import Session
from agent_core.state.conversations.usage import ModelCall, QuotaUsage, UsageLine
from agent_core.state.engine.database import Connection, Database
from gateway.commands.registry import Call, Handler, Reply
from gateway.texts import usage as usage_texts
from gateway.texts.usage import UsageReader, UsageReport
from gateway.turns.lanes import Lanes

_MONTH = 30 * 86_400_000

_Spending = tuple[list[UsageLine], QuotaUsage, list[tuple[PersonId, str, QuotaUsage]], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCommands:
    """Reports on the context and the cost of a conversation, and shortens it."""

    database: Database
    lanes: Lanes
    agent: Agent
    compactor: Compactor
    quotas: Quotas

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {
            "compact": self._compact,
            "context": self._context,
            "usage": self._usage,
        }

    async def _compact(self, call: Call) -> Reply:
        """Compact the conversation; the argument says what the summary must keep."""
        conversation = call.conversation
        if self.lanes.is_running(conversation.id):
            return Reply(text=usage_texts.COMPACT_RUNNING())

        def look(connection: Connection) -> tuple[Session | None, PromptHash | None]:
            session = sessions.find_open(connection, conversation_id=conversation.id)
            latest = turns.find_latest(
                connection, conversation_id=conversation.id, person_id=call.person.id
            )
            # A compacted session has no prompt until its next turn; the last turn's is as long.
            last = latest.prompt_hash if latest else None
            return session, (session and session.prompt_hash) or last

        session, prompt_hash = await self.database.read(look)
        if session is None:
            return Reply(text=usage_texts.COMPACT_EMPTY())
        target = CompactionTarget(
            session_id=session.id, owner_id=conversation.person_id, payer_id=call.person.id
        )
        compaction = await self.compactor.compact_now(target, prompt_hash, call.argument)
        if compaction is None:
            return Reply(text=usage_texts.COMPACT_NO_GAIN())
        self.agent.invalidate_conversations()
        return Reply(
            text=usage_texts.COMPACTED(
                before=compaction.tokens_before, after=compaction.tokens_after
            )
        )

    async def _context(self, call: Call) -> Reply:
        """Report token counts only: the prompt's content must not appear in a room."""
        found = await self.database.read(_look, call)
        prompt = found[0].prompt if found else None
        if found is None or prompt is None:
            return Reply(text=usage_texts.CONTEXT_EMPTY())
        record, before = found

        def work() -> ContextReport:
            return report_context(record, prompt, rebuild_calls(record), before)

        reckoning = await asyncio.to_thread(work)
        request = ModelRequest(
            model=reckoning.model,
            system="",
            tools=(),
            messages=(),
            max_output_tokens=reckoning.output_limit,
        )
        bounds = self.compactor.meter.bounds(request, call.person.context_cap)
        return Reply(text=usage_texts.describe_context(reckoning, bounds.limit))

    async def _usage(self, call: Call) -> Reply:
        person, everybody = await self.quotas.status(call.person.id)
        # Only owners may see what others spent, and only where no one else reads along.
        shows_everybody = call.person.is_owner and call.message.address.is_direct

        def look(connection: Connection) -> _Spending:
            own, since = call.person.id, call.now - _MONTH
            by_person = (
                usage.charged_by_person(
                    connection, since=everybody.day.start, until=everybody.day.end
                )
                if shows_everybody
                else []
            )
            return (
                usage.list_lines(connection, person_id=own, since=person.day.start),
                usage.charged_since(connection, person_id=own, since=since, until=person.day.end),
                by_person,
                messages.list_facts(
                    connection, person_id=own, since=person.day.start, words=RECALLED
                ),
            )

        today, month, by_person, recalled = await self.database.read(look)
        prices, priced, free = self.quotas.prices, [], []
        for model in dict.fromkeys(line.model for line in today):
            if prices.is_free(model):
                free.append(model)
            else:
                price = prices.find(model)
                priced.append((model, price.as_of if price else ""))
        report = UsageReport(
            reader=UsageReader(zone=call.zone, now=call.now, is_owner=call.person.is_owner),
            person=person,
            today=today,
            recalled=(len(recalled), sum(map(count_recalled, recalled))),
            month=month,
            priced=priced,
            free=free,
            deployment=everybody if shows_everybody else None,
            people=[(name, charged) for _, name, charged in by_person],
        )
        return Reply(text=usage_texts.describe_usage(report))


_LOOKED_AT = 10
"""Number of latest turns searched for the last two that a model answered."""

_Found = tuple[TurnRecord, Sequence[ModelCall]]


def _look(connection: Connection, call: Call) -> _Found | None:
    """Return the session's last answered turn, and the model calls of the one before it."""
    session = sessions.find_open(connection, conversation_id=call.conversation.id)
    recent = turns.list_latest(connection, conversation_id=call.conversation.id, limit=_LOOKED_AT)
    answered = [
        (turn, calls)
        for turn in recent
        if session and turn.session_id == session.id and turn.state != "running"
        if (calls := _list_calls(connection, turn))
    ]
    record = read_record(connection, answered[0][0].id) if answered else None
    if record is None:
        return None
    return record, answered[1][1] if len(answered) > 1 else ()


def _list_calls(connection: Connection, turn: turns.StoredTurn) -> list[ModelCall]:
    spent = usage.list_of_turn(connection, turn_id=turn.id)
    return [one for one in spent if one.purpose == ANSWERS]
