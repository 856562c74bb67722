"""One turn end to end: claim, run the agent, present, settle in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from adapters.contract import ChatAdapter
from agent_core.agent import ActiveTurn, Agent
from agent_core.errors import StoreDamaged, StoreError
from agent_core.events import TurnEnded
from agent_core.host import Host, Steer
from agent_core.ids import InboxId
from agent_core.state import inbox, outbox, people, sessions, tasks, turns
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.people import Person
from agent_core.state.sessions import Conversation
from agent_core.state.turns import Asked, Turn
from agent_core.transcript import mend_text
from gateway import translate, wording
from gateway.delivery import Delivery
from gateway.presenter import Presenter
from gateway.reins import Reins
from gateway.suspicion import is_convicted
from gateway.translate import Pending

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0
_TITLE_AFTER = 3
"""Messages of the person after which a session is worth a title."""


class LaneHost(Host, Protocol):
    """What the core sees of a lane, and what the lane has to take back after a turn."""

    def settle_steers(self, claimed: frozenset[InboxId]) -> None:
        """Put back at the front what was handed out and not claimed."""


class Turns:
    """Runs turns, one call a turn; whose turn may run when is the lanes' business."""

    def __init__(
        self,
        *,
        database: Database,
        agent: Agent,
        delivery: Delivery,
        adapters: Mapping[str, ChatAdapter],
        zone: str,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._agent = agent
        self._delivery = delivery
        self._adapters = adapters
        self._zone = zone
        self._now = now

    def zone_of(self, person: Person) -> str:
        """The IANA time zone that a person lives by."""
        return person.time_zone or self._zone

    def word_steer(self, pending: Pending) -> Steer:
        """A waiting message as it goes into a running turn."""
        return translate.steer(pending, zone=self.zone_of(pending.person), now=self._now())

    async def start(self, batch: Sequence[Pending], host: LaneHost, reins: Reins) -> None:
        """Run a turn over waiting messages of one conversation.

        Raises `StoreError` if the turn could not be begun; nothing is claimed then.
        """
        newest = batch[-1]
        reins.is_worded = False
        prepared = await self._agent.prepare(
            newest.conversation, newest.person, platform=newest.platform
        )
        now = self._now()
        zone = self.zone_of(newest.person)
        reins.is_worded = True  # an edit that comes later comes too late
        said = tuple(translate.said(pending, zone=zone, now=now) for pending in batch)
        inbox_ids = [inbox_id for pending in batch for inbox_id in pending.inbox_ids]
        place = translate.place_of(batch)

        def work(connection: Connection) -> ActiveTurn:
            asked = _find_asked(connection, newest, place)
            active = self._agent.begin(connection, prepared, asked=asked, said=said, now=now)
            inbox.claim(connection, inbox_ids=inbox_ids, turn_id=active.id)
            return active

        active = await self._database.write("turns.begin", work)
        await self._run(active, place, None, host, reins)

    async def resume(self, turn: Turn, host: LaneHost, reins: Reins) -> None:
        """Take up a turn that an earlier process left.

        One that ends processes, or whose platform is no longer on, is settled as failed: the
        conversation has to go on, there or elsewhere. Raises `StoreError` if it could not be
        taken up; it stands as it stood then.
        """
        place = (turn.platform, turn.chat, turn.answers)
        active, opened = await self._take_up(turn)
        if turn.platform not in self._adapters:
            await self._interrupt(active, place, "off")
            return
        if is_convicted(turn.attempts):
            await self._interrupt(active, place, "crashed")
            return
        await self._database.write(
            "turns.attempt", lambda c: turns.count_attempt(c, turn_id=turn.id)
        )
        await self._run(active, place, opened, host, reins)

    async def refuse(self, batch: Sequence[Pending], error: Exception) -> None:
        """Set messages aside that no turn can be begun with, and say so. Raises `StoreError`."""
        platform, chat, answers = translate.place_of(batch)
        now = self._now()
        why = str(error) if isinstance(error, StoreError) else ""
        debt = Debt(
            platform=platform,
            chat=chat,
            body=wording.describe_refused_begin(why),
            person_id=batch[-1].person.id,
            answers=answers,
        )

        def work(connection: Connection) -> OutboxRow:
            for pending in batch:
                for inbox_id in pending.inbox_ids:
                    inbox.park(connection, inbox_id=inbox_id, reason=repr(error))
            return outbox.owe(connection, debt, now=now)

        self._delivery.owe([await self._database.write("turns.refuse", work)])

    async def give_up(self, active: ActiveTurn) -> None:
        """Settle a turn that an unexpected error ended. Raises `StoreError`."""
        turn = await self._database.read(lambda c: turns.find(c, turn_id=active.id))
        if turn is None or turn.state != "running":
            return
        try:
            await self._interrupt(active, (turn.platform, turn.chat, turn.answers), "error")
        except StoreDamaged:
            await self.abandon(turn)

    async def abandon(self, turn: Turn) -> None:
        """End a turn whose transcript can't be read or added to. Raises `StoreError`."""
        now = self._now()
        debt = Debt(
            platform=turn.platform,
            chat=turn.chat,
            body=wording.describe_damage(turn.id),
            person_id=turn.person_id,
            turn_id=turn.id,
            answers=turn.answers,
        )

        def work(connection: Connection) -> OutboxRow:
            turns.end(
                connection, turn_id=turn.id, state="failed", reason="damaged", model="", now=now
            )
            inbox.finish_turn(connection, turn_id=turn.id)
            live = outbox.find_live(connection, turn_id=turn.id)
            if live:
                return outbox.settle_live(connection, outbox_id=live.id, body=debt.body)
            return outbox.owe(connection, debt, now=now)

        self._delivery.owe([await self._database.write("turns.abandon", work)])

    async def _take_up(self, turn: Turn) -> tuple[ActiveTurn, OutboxRow | None]:
        """A begun turn as the database has it, with its live message. Raises `StoreError`."""

        def look(connection: Connection) -> tuple[Conversation, Person | None, OutboxRow | None]:
            return (
                sessions.get_conversation(
                    connection, conversation_id=turn.conversation_id, person_id=turn.person_id
                ),
                people.find(connection, person_id=turn.person_id),
                outbox.find_live(connection, turn_id=turn.id),
            )

        conversation, person, opened = await self._database.read(look)
        if person is None:
            raise StoreDamaged(f"turn {turn.id} belongs to nobody")
        return await self._agent.resume(turn, conversation, person), opened

    async def _run(
        self,
        active: ActiveTurn,
        place: tuple[str, str, str | None],
        opened: OutboxRow | None,
        host: LaneHost,
        reins: Reins,
    ) -> None:
        """Play a turn and settle it; while the store can't be written, wait and go on.

        Whatever the store refuses, the turn is begun: no caller may begin it again.
        """
        while True:
            reins.active = active
            try:
                ended, shown = await self._play(active, place, opened, host, reins)
                break
            except StoreDamaged:
                raise
            except StoreError as error:
                _log.error("turn %d waits for the store: %s", active.id, error)
            finally:
                host.settle_steers(frozenset(active.journal.claimed))
            active, opened = await self._wait_for_store(active)
        if ended.ending == "suspended":
            await self._database.write(
                "turns.suspend", lambda c: turns.forgive_attempt(c, turn_id=active.id)
            )
        else:
            reins.is_over = True
            await self._settle(active, place, ended, shown)

    async def _wait_for_store(self, active: ActiveTurn) -> tuple[ActiveTurn, OutboxRow | None]:
        """The turn as it stands on disk, once the disk can be read. Raises `StoreDamaged`."""
        while True:
            await asyncio.sleep(_STORE_PAUSE)
            try:
                turn = await self._database.read(lambda c: turns.find(c, turn_id=active.id))
                assert turn is not None  # noqa: S101 - no turn is ever deleted
                return await self._take_up(turn)
            except StoreDamaged:
                raise
            except StoreError as error:
                _log.error("turn %d still waits for the store: %s", active.id, error)

    async def _play(
        self,
        active: ActiveTurn,
        place: tuple[str, str, str | None],
        opened: OutboxRow | None,
        host: Host,
        reins: Reins,
    ) -> tuple[TurnEnded, "Shown"]:
        debt = _debt(active, place)
        ended = TurnEnded(ending="stopped", text="")
        if reins.is_pulled():
            active.journal.interrupt()
            return ended, Shown()
        presenter = Presenter(self._delivery, self._adapters[debt.platform], debt, opened)
        try:
            async with reins.stoppable(), aclosing(self._agent.run(active, host)) as events:
                async for event in events:
                    presenter.show(event)
                    if isinstance(event, TurnEnded):
                        ended = event
        except TimeoutError:
            if not reins.is_pulled():
                raise
            active.journal.interrupt()
            ended = TurnEnded(ending="stopped", text=mend_text(presenter.text))
        finally:
            presenter.close()
        return ended, Shown(tools=tuple(presenter.tools))

    async def _interrupt(
        self, active: ActiveTurn, place: tuple[str, str, str | None], reason: str
    ) -> None:
        """Settle a turn that will not be gone on with. Raises `StoreDamaged`."""
        active.journal.interrupt()
        ended = TurnEnded(ending="failed", text="", reason=reason)
        await self._settle(active, place, ended, Shown())

    async def _settle(
        self,
        active: ActiveTurn,
        place: tuple[str, str, str | None],
        ended: TurnEnded,
        shown: "Shown",
    ) -> None:
        """End a turn: transcript, cost, state, inbox and what is owed, in one transaction.

        Tries until the store takes it: what the model said is paid for, and is in memory
        only. Raises `StoreDamaged`.
        """
        debt = _debt(active, place)
        now = self._now()
        told = _tell(ended, active.id, shown)
        adapter = self._adapters.get(debt.platform)
        parts = adapter.split(told) if adapter else (told,)
        is_answer = ended.ending == "answered"

        def work(connection: Connection) -> list[OutboxRow]:
            if not turns.is_running(connection, turn_id=active.id):
                return []  # an earlier try was written although it seemed to have failed
            self._agent.settle(
                connection,
                active,
                ending=(ended.ending, ended.reason),
                told="" if is_answer else told,
                now=now,
            )
            inbox.finish_turn(connection, turn_id=active.id)
            _owe_title(connection, active, now)
            return _owe_parts(connection, debt, parts, now)

        while True:
            try:
                self._delivery.owe(await self._database.write("turns.settle", work))
            except StoreDamaged:
                raise
            except StoreError as error:
                _log.error("turn %d waits for the store to be settled: %s", active.id, error)
                await asyncio.sleep(_STORE_PAUSE)
            else:
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What of a turn was there to be seen: the tools that were called."""

    tools: tuple[str, ...] = ()


def _find_asked(
    connection: Connection, pending: Pending, place: tuple[str, str, str | None]
) -> Asked:
    """Who asks, as the database has it now."""
    account = people.find_account(
        connection, platform=pending.platform, user_id=pending.message.sender.user_id
    )
    return Asked(
        person_id=pending.person.id,
        account_id=account.id if account else None,
        place=place,
    )


def _debt(active: ActiveTurn, place: tuple[str, str, str | None]) -> Debt:
    """What a turn owes to its place, still without words."""
    platform, chat, answers = place
    return Debt(
        platform=platform,
        chat=chat,
        body="",
        person_id=active.person.id,
        turn_id=active.id,
        answers=answers,
    )


def _tell(ended: TurnEnded, turn_id: int, shown: Shown) -> str:
    """The words that a turn's ending comes to, with what was answered before it."""
    if ended.ending == "answered":
        return wording.note_cut(ended.text, ended.reason)
    if ended.ending == "stopped":
        return wording.describe_stop(ended.text, shown.tools)
    if ended.ending == "exhausted":
        return wording.describe_limit(ended.reason, ended.text, turn_id)
    if ended.ending == "refused":
        note = wording.describe_refusal(ended.reason)
    else:
        note = wording.describe_failure(ended.reason, turn_id, detail=ended.detail)
    return f"{ended.text}\n\n{note}" if ended.text else note


def _count_said(active: ActiveTurn) -> int:
    return sum(message.role == "user" for message in active.messages)


def _owe_title(connection: Connection, active: ActiveTurn, now: int) -> None:
    """Background work: a name for a session that has become worth one."""
    if active.is_untitled and _count_said(active) >= _TITLE_AFTER:
        tasks.owe(
            connection,
            kind="title",
            key=f"session:{active.session_id}",
            person_id=active.person.id,
            payload=str(active.session_id),
            now=now,
        )


def _owe_parts(
    connection: Connection, debt: Debt, parts: Sequence[str], now: int
) -> list[OutboxRow]:
    """Owe the parts of an answer; the first goes into the turn's live message if there is one."""
    assert debt.turn_id is not None  # noqa: S101 - only turns have answers
    live = outbox.find_live(connection, turn_id=debt.turn_id)
    rows = []
    for number, part in enumerate(parts):
        if live and number == 0:
            rows.append(outbox.settle_live(connection, outbox_id=live.id, body=part))
        else:
            owed = replace(debt, body=part, part=number, is_silent=number > 0)
            rows.append(outbox.owe(connection, owed, now=now))
    return rows
