"""Drive WhatsApp: direct chats, one group, and a group of two for each thread of the others."""

import socket
from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from tests.emulators import whatsapp as emulated
from tests.emulators.whatsapp import Refusal, WhatsAppEmulator, rate_limit
from tests.faults.drivers import CHATS, PEOPLE, assign_messages, kind_of

_GROUP = "Y2FwaV9ncm91cDoxMjAz"


class WhatsAppDriver:
    """People who own the chats from 4000 on. Meta calls the gateway's own HTTP server."""

    platform = "whatsapp"
    first_chat = 4 * CHATS

    def __init__(self) -> None:
        self.meta = WhatsAppEmulator()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.meta.callback = f"http://127.0.0.1:{self._port}/hooks/whatsapp"
        self.meta.groups[_GROUP] = 9

    async def __aenter__(self) -> Self:
        await self.meta.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.meta.__aexit__(None, None, None)

    def environ(self) -> Mapping[str, str]:
        return {
            "WHATSAPP_ACCESS_TOKEN": emulated.TOKEN,
            "WHATSAPP_PHONE_NUMBER_ID": emulated.PHONE_ID,
            "WHATSAPP_APP_SECRET": emulated.SECRET,
            "WHATSAPP_VERIFY_TOKEN": emulated.VERIFY,
            "WHATSAPP_API_BASE_URL": self.meta.base_url,
            "TALARIA_WHATSAPP__MESSAGES_PER_SECOND": "0",
            "TALARIA_WHATSAPP__REPORT_SECONDS": "3",
            "TALARIA_HTTP__PORT": str(self._port),
        }

    async def says(self, chat: int, text: str) -> None:
        person = _number(chat)
        if kind_of(chat) == "direct":
            self.meta.says(person, text)
            return
        self.meta.groups.setdefault(_group_of(chat), 2)
        self.meta.says(person, f"@{emulated.NUMBER} {text}", group=_group_of(chat))

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        shown: dict[int, Sequence[str]] = {}
        for chat in chats:
            if kind_of(chat) == "direct":
                shown[chat] = self._texts(_number(chat))
            elif kind_of(chat) == "thread":
                shown[chat] = self._texts(_group_of(chat))
        residents = [chat for chat in chats if kind_of(chat) == "room"]
        if residents:
            shown |= assign_messages(self._texts(_GROUP), residents)
        return shown

    def _texts(self, place: str) -> list[str]:
        return [one.text for one in self.meta.sent if one.to == place]

    def inject_fault(self, chance: Random) -> None:
        """Lose an answer or a request, refuse a message for now, fail one after it was taken, or
        report a fault that leaves open whether it was.
        """
        match chance.choice(("lose", "drop", "refuse", "fail", "unclear")):
            case "refuse":
                self.meta.faults.append(rate_limit())
            case "unclear":
                unclear = Refusal(status=500, code=131000, message="Something went wrong")
                self.meta.faults.append((chance.choice(("take", "refuse")), unclear))
            case "fail":
                self.meta.status_errors.append({"code": 131000, "title": "Something went wrong"})
            case fault:
                self.meta.faults.append((fault, None))

    def refuse_change(self, chance: Random) -> None:
        """Do nothing: WhatsApp changes no message."""

    async def delete_unfinished(self, chance: Random) -> int:
        return 0

    def clear_faults(self) -> None:
        self.meta.faults.clear()
        self.meta.status_errors.clear()

    async def break_connection(self, chance: Random) -> None:
        """Restart Meta's servers."""
        await self.meta.stop()
        await self.meta.start()

    async def redeliver(self, last: int) -> None:
        self.meta.repeat(last)

    def hide_history(self) -> None:
        """Do nothing: Meta repeats what was not taken."""

    @property
    def history_calls(self) -> int:
        return self.meta.acknowledged("message")


def _number(chat: int) -> str:
    return f"1650555{chat % PEOPLE:04}"


def _group_of(chat: int) -> str:
    return _GROUP if kind_of(chat) == "room" else f"{_GROUP}{chat}"
