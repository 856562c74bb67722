"""One turn end to end: claim, run the agent, present, settle in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from adapters.contract import ChatAdapter
from agent_core.agent import ActiveTurn, Agent
from agent_core.errors import StoreError
from agent_core.events import TurnEnded
from agent_core.host import Host, Steer
from agent_core.ids import InboxId, TurnId
from agent_core.state import inbox, outbox, people, sessions, tasks, turns
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.people import Person
from agent_core.state.sessions import Conversation
from agent_core.state.turns import Turn
from gateway import translate, wording
from gateway.delivery import Delivery
from gateway.presenter import Presenter
from gateway.translate import Pending

_log = logging.getLogger(__name__)

_MOST_ATTEMPTS = 10
"""Processes that may die over one turn before it is set aside. A turn that ends every process
is found out soon enough so; with three, one that was only there when others were killed would
often be blamed (of turns of a second, each ninth under a kill every second and a half)."""
_STORE_PAUSE = 5.0
_TITLE_AFTER = 3
"""Messages of the person after which a session is worth a title."""


@dataclass(slots=True)
class Reins:
    """What a lane holds of the turn that it runs: whom it serves, and a way to stop it."""

    batch: Sequence[Pending] = ()
    """The messages that a turn was to be begun with."""
    active: ActiveTurn | None = None
    """The turn, once it is begun."""
    _scope: asyncio.Timeout | None = None

    def hold(self, scope: asyncio.Timeout) -> None:
        """From now on `pull` ends this scope."""
        self._scope = scope

    def pull(self) -> bool:
        """End the turn at its next await; False if none is under way."""
        if self._scope is None:
            return False
        self._scope.reschedule(asyncio.get_running_loop().time())
        return True

    def release(self) -> None:
        """Nothing can be stopped any more."""
        self._scope = None


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
        prepared = await self._agent.prepare(
            newest.conversation, newest.person, platform=newest.platform
        )
        now = self._now()
        zone = self.zone_of(newest.person)
        said = tuple(translate.said(pending, zone=zone, now=now) for pending in batch)
        place = translate.place_of(batch)

        def work(connection: Connection) -> ActiveTurn:
            active = self._agent.begin(connection, prepared, place=place, said=said, now=now)
            ids = [inbox_id for pending in batch for inbox_id in pending.inbox_ids]
            inbox.claim(connection, inbox_ids=ids, turn_id=active.id)
            return active

        active = await self._database.write("turns.begin", work)
        await self._run(active, place, None, host, reins)

    async def resume(self, turn: Turn, host: LaneHost, reins: Reins) -> None:
        """Take up a turn that an earlier process left; one that ends processes is set aside."""

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
            raise StoreError(f"turn {turn.id} belongs to nobody")
        active = await self._agent.resume(turn, conversation, person)
        attempts = await self._database.write(
            "turns.attempt", lambda c: turns.count_attempt(c, turn_id=turn.id)
        )
        place = (turn.platform, turn.chat, turn.answers)
        if attempts > _MOST_ATTEMPTS:
            active.journal.interrupt()
            ended = TurnEnded(ending="failed", text="", reason="crashed")
            await self._settle(active, place, ended, Shown())
            return
        await self._run(active, place, opened, host, reins)

    async def refuse(self, batch: Sequence[Pending], error: Exception) -> None:
        """Set messages aside that no turn can be begun with, and say so. Raises `StoreError`."""
        platform, chat, answers = translate.place_of(batch)
        now = self._now()
        debt = Debt(
            platform=platform,
            chat=chat,
            body=wording.describe_refused_begin(str(error)),
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
        turn = await self._read_turn(active.id)
        if turn is None or turn.state != "running":
            return
        active.journal.interrupt()
        ended = TurnEnded(ending="failed", text="", reason="error")
        await self._settle(active, (turn.platform, turn.chat, turn.answers), ended, Shown())

    async def _read_turn(self, turn_id: TurnId) -> Turn | None:
        return await self._database.read(lambda c: turns.find(c, turn_id=turn_id))

    async def _run(
        self,
        active: ActiveTurn,
        place: tuple[str, str, str | None],
        opened: OutboxRow | None,
        host: LaneHost,
        reins: Reins,
    ) -> None:
        """Play a turn and settle it; while the store can't be written, wait and go on."""
        while True:
            reins.active = active
            try:
                ended, shown = await self._play(active, place, opened, host, reins)
                if ended.ending != "suspended":
                    await self._settle(active, place, ended, shown)
                return
            except StoreError as error:
                _log.error("turn %d waits for the store: %s", active.id, error)
                await asyncio.sleep(_STORE_PAUSE)
                turn = await self._read_turn(active.id)
                if turn is None or turn.state != "running":
                    return
                active = await self._agent.resume(turn, active.conversation, active.person)
            finally:
                host.settle_steers(frozenset(active.journal.claimed))

    async def _play(
        self,
        active: ActiveTurn,
        place: tuple[str, str, str | None],
        opened: OutboxRow | None,
        host: Host,
        reins: Reins,
    ) -> tuple[TurnEnded, "Shown"]:
        platform, chat, answers = place
        debt = Debt(
            platform=platform,
            chat=chat,
            body="",
            person_id=active.person.id,
            turn_id=active.id,
            answers=answers,
        )
        presenter = Presenter(self._delivery, self._adapters[platform], debt, opened)
        ended = TurnEnded(ending="failed", text="", reason="error")
        scope = asyncio.timeout(None)
        try:
            async with scope:
                reins.hold(scope)
                async with aclosing(self._agent.run(active, host)) as events:
                    async for event in events:
                        presenter.show(event)
                        if isinstance(event, TurnEnded):
                            ended = event
        except TimeoutError:
            if not scope.expired():
                raise
            active.journal.interrupt()
            ended = TurnEnded(ending="stopped", text=presenter.text)
        finally:
            reins.release()
            presenter.close()
        return ended, Shown(tools=tuple(presenter.tools))

    async def _settle(
        self,
        active: ActiveTurn,
        place: tuple[str, str, str | None],
        ended: TurnEnded,
        shown: "Shown",
    ) -> None:
        """End a turn: transcript, cost, state, inbox and what is owed, in one transaction."""
        platform, chat, answers = place
        now = self._now()
        told = _tell(ended, active.id, shown)
        parts = self._adapters[platform].split(told)
        is_answer = ended.ending == "answered"

        def work(connection: Connection) -> list[OutboxRow]:
            self._agent.settle(
                connection,
                active,
                ending=(ended.ending, ended.reason),
                told="" if is_answer else told,
                now=now,
            )
            inbox.finish_turn(connection, turn_id=active.id)
            if active.is_untitled and _count_said(active) >= _TITLE_AFTER:
                tasks.owe(
                    connection,
                    kind="title",
                    key=f"session:{active.session_id}",
                    person_id=active.person.id,
                    payload=str(active.session_id),
                    now=now,
                )
            live = outbox.find_live(connection, turn_id=active.id)
            rows = []
            for number, part in enumerate(parts):
                if live and number == 0:
                    rows.append(outbox.settle_live(connection, outbox_id=live.id, body=part))
                    continue
                debt = Debt(
                    platform=platform,
                    chat=chat,
                    body=part,
                    person_id=active.person.id,
                    turn_id=active.id,
                    part=number,
                    answers=answers,
                    is_silent=number > 0,
                )
                rows.append(outbox.owe(connection, debt, now=now))
            return rows

        self._delivery.owe(await self._database.write("turns.settle", work))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What of a turn was there to be seen: the tools that were called."""

    tools: tuple[str, ...] = ()


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
