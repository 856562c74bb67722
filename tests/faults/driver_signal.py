"""Drive Signal: direct chats, one group, and a group of two for each thread of the others."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from tests.emulators.signal import FaultKind, SignalEmulator
from tests.emulators.signal_world import ACCOUNT, Group, Json, Person
from tests.faults.drivers import CHATS, PEOPLE, assign_messages, choose_unfinished, kind_of

_FAULT_KINDS: tuple[FaultKind, ...] = ("lose", "drop", "refuse")
_BYSTANDERS = 3


class SignalDriver:
    """People who own the chats from 3000 on."""

    platform = "signal"
    first_chat = 3 * CHATS

    def __init__(self) -> None:
        self.daemon = SignalEmulator()
        world = self.daemon.world
        self._others = [
            world.person(f"+4917000000{n:03}", f"Other {n}") for n in range(_BYSTANDERS)
        ]
        self._group = world.group("House", list(self._others))
        self._pairs: dict[int, Group] = {}

    async def __aenter__(self) -> Self:
        await self.daemon.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.daemon.__aexit__(None, None, None)

    def environ(self) -> Mapping[str, str]:
        return {
            "SIGNAL_ACCOUNT": ACCOUNT,
            "SIGNAL_RPC_URL": self.daemon.url,
            "TALARIA_SIGNAL__MESSAGES_PER_SECOND": "0",
        }

    async def says(self, chat: int, text: str) -> None:
        person, world = self._person(chat), self.daemon.world
        if kind_of(chat) == "direct":
            world.says(person, text)
            return
        group = self._group_of(chat)
        if person not in group.members:
            group.members.append(person)
        world.says(person, f"\ufffc {text}", group=group, mentions=[world.mention()])

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        shown: dict[int, Sequence[str]] = {}
        for chat in chats:
            if kind_of(chat) == "direct":
                shown[chat] = self._texts(self._person(chat).uuid)
            elif kind_of(chat) == "thread":
                shown[chat] = self._texts(self._group_of(chat).id)
        residents = [chat for chat in chats if kind_of(chat) == "room"]
        if residents:
            shown |= assign_messages(self._texts(self._group.id), residents)
        return shown

    def _texts(self, place: str) -> list[str]:
        sent = self.daemon.world.sent
        return [one.text for one in sent if one.chat == place and not one.is_deleted]

    def inject_fault(self, chance: Random) -> None:
        kind = chance.choice(_FAULT_KINDS)
        self.daemon.fail("send", kind, _too_fast() if kind == "refuse" else None)

    def refuse_change(self, chance: Random) -> None:
        kind = chance.choice(_FAULT_KINDS)
        self.daemon.fail("remoteDelete", kind, _too_fast() if kind == "refuse" else None)

    async def delete_unfinished(self, chance: Random) -> int:
        sent = [one for one in self.daemon.world.sent if not one.is_deleted]
        chosen = choose_unfinished(chance, sent, lambda one: one.text)
        for one in chosen:
            one.is_deleted = True
        return len(chosen)

    def clear_faults(self) -> None:
        self.daemon.clear_faults()

    async def break_connection(self, chance: Random) -> None:
        """Cut the stream, now or at its next event, or restart the daemon."""
        match chance.choice(("now", "next", "restart")):
            case "now":
                await self.daemon.break_connections()
            case "next":
                self.daemon.breaks += 1
            case _:
                await self.daemon.stop()
                await self.daemon.start()

    async def redeliver(self, last: int) -> None:
        self.daemon.redeliver(last)

    def hide_history(self) -> None:
        """Do nothing: the daemon sends what it has kept."""

    @property
    def history_calls(self) -> int:
        return len(self.daemon.headers)

    def _person(self, chat: int) -> Person:
        return self.daemon.world.person(f"+4916000000{chat % PEOPLE:03}", f"Person {chat % PEOPLE}")

    def _group_of(self, chat: int) -> Group:
        if kind_of(chat) == "room":
            return self._group
        if chat not in self._pairs:
            self._pairs[chat] = self.daemon.world.group(f"Pair {chat}", list(self._others[:1]))
        return self._pairs[chat]


def _too_fast() -> Json:
    result = {"recipientAddress": {}, "type": "RATE_LIMIT_FAILURE", "retryAfterSeconds": 1}
    return {
        "code": -5,
        "message": "Failed to send message due to rate limiting",
        "data": {"response": {"timestamp": 1, "results": [result]}},
    }
