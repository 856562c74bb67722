"""A hundred attempts to take over somebody's account, all of which fail."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count as counting
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from gateway.people.admission import new_claim_code
from gateway.people.onboarding import hash_code
from gateway.texts import general
from gateway.texts import people as people_texts
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.accounts import ChatAccount, age, code_in, count
from tests.integration.harness import Harness, running

KNOWN = range(2, 200)
ALLOW = ",".join(f"fake:{user}" for user in (1, *KNOWN))
WRONG_LETTERS = {"A": "4", "B": "8", "O": "0", "S": "5", "Z": "2", "E": "3", "G": "6"}


@dataclass
class Attack:
    """Ana, the target; each attempt uses new accounts."""

    harness: Harness
    users: "counting[int]"
    strangers: "counting[int]" = field(default_factory=lambda: counting(1000))
    tried: Counter[str] = field(default_factory=Counter)

    @property
    def ana(self) -> ChatAccount:
        return ChatAccount(self.harness, "1", "Ana")

    def known(self) -> ChatAccount:
        return ChatAccount(self.harness, str(next(self.users)), "Eve")

    def stranger(self) -> ChatAccount:
        return ChatAccount(self.harness, str(next(self.strangers)), "Mallory")

    async def attempt(self, kind: str, deed: Callable[["Attack", int], Awaitable[None]]) -> None:
        """Make one attempt, and check that Ana is unchanged and unlinked."""
        number = self.tried[kind]
        await deed(self, number)
        self.tried[kind] += 1
        ana = await self.ana.person()
        assert ana

        def look(connection: Connection) -> list[str]:
            return [
                account.user_id for account in people.list_accounts(connection, person_id=ana.id)
            ]

        assert await self.harness.read(look) == ["1"], f"{kind} {number}"
        assert await count(self.harness, "link_requests", "state = 'joined'") == 0
        assert await count(self.harness, "people", "joined_to IS NOT NULL") == 0
        await self.ana.says("/link cancel")


def near_misses(code: str) -> list[str]:
    """Return guesses of somebody who half saw a code."""
    first, last = code.split("-")
    turned = code[1] + code[0] + code[2:]
    looks = "".join(WRONG_LETTERS.get(letter, letter) for letter in code)
    return [
        code[:-1],
        code + "A",
        code[::-1],
        turned if turned != code else code[:-2],
        f"{last}-{first}" if first != last else first,
        looks if looks != code else code[:-1] + "1",
        ("B" if code[0] != "B" else "C") + code[1:],
        code[:-1] + ("B" if code[-1] != "B" else "C"),
        "*",
        "%",
        "' OR 1=1 --",
        hash_code(code),
        f"{code} {code}",
        first,
        last,
        "AAAA-AAAA",
        f"{code}\u0301",
        code.translate({ord(letter): ord(letter) + 0xFEE0 for letter in code if letter != "-"})[:4],
        "0" * 5000,
        f"cancel {code[:4]}",
    ]


async def guess(attack: Attack, number: int) -> None:
    code = await attack.ana.makes_code()
    eve = attack.known() if number % 2 else attack.stranger()
    assert await eve.says(f"/link {near_misses(code)[number]}") == general.CODE_INVALID()


async def replay(attack: Attack, number: int) -> None:
    """Send the code again, whatever became of it."""
    code, friend = await attack.ana.makes_code(), attack.known()
    await friend.says(f"/link {code}")
    if number % 4 == 1:
        await attack.ana.presses(people_texts.NO())
    elif number % 4 == 2:
        await friend.says("/link cancel")
    elif number % 4 == 3:
        await attack.ana.says("/link")
    eve = attack.known() if number % 2 else attack.stranger()
    assert await eve.says(f"/link {code}") == general.CODE_INVALID()


async def be_late(attack: Attack, number: int) -> None:
    code, eve = await attack.ana.makes_code(), attack.known()
    if number % 2:
        await age(attack.harness, 600_000 + number)
        assert await eve.says(f"/link {code}") == general.CODE_INVALID()
    else:
        await eve.says(f"/link {code}")
        await age(attack.harness, 600_000)
        await attack.ana.presses(people_texts.YES())


async def race(attack: Attack, number: int) -> None:
    """Two accounts send the code: one is asked about, and Ana sees whose it is."""
    code = await attack.ana.makes_code()
    eve, other = attack.known(), attack.stranger()
    order = (eve, other) if number % 2 else (other, eve)
    for sender in order:
        await attack.harness.chat.says(
            f"/link {code}", user=sender.user, chat=sender.user, name=sender.name
        )
    await attack.harness.at_rest()
    asked = attack.ana.asked()
    assert asked
    assert sum(f"`{sender.user}`" in asked.text for sender in (eve, other)) == 1
    reported = [
        shown.text for shown in attack.harness.chat.shown if shown.chat_id in (eve.user, other.user)
    ]
    assert sorted(text == general.CODE_INVALID() for text in reported) == [False, True]
    await attack.ana.presses(people_texts.NO())


async def use_a_room(attack: Attack, number: int) -> None:
    """Write in a room: nothing there is valid, whoever writes it."""
    code, eve = await attack.ana.makes_code(), attack.known()
    room = {"chat": "room", "direct": False}
    if number % 3 == 0:
        await eve.says(f"/link {code}", **room)
    elif number % 3 == 1:
        await attack.ana.says(f"/link {code}", **room)
        assert await eve.says(f"/link {code}") == general.CODE_INVALID()
    else:
        await attack.ana.says(f"/claim {code}", **room)
        assert await attack.stranger().says(f"/link {code}") == general.CODE_INVALID()
    assert attack.ana.asked() is None


async def answer_for_her(attack: Attack, number: int) -> None:
    """Press, type or forge the answer as anybody but Ana."""
    eve, code = attack.known(), await attack.ana.makes_code()
    await eve.says(f"/link {code}")
    asked = attack.ana.asked()
    assert asked
    key = asked.keyboard[0].key
    forged = [
        key,
        re.sub(r"[0-9a-f]{8}$", "00000000", key),
        re.sub(r"[0-9a-f]{8}$", "", key),
        key.replace("yes", "joined"),
        "q1:yes:00000000",
    ]
    who = attack.stranger() if number % 3 == 2 else eve
    place = {"user": who.user, "name": who.name, "chat": "1" if number % 2 else who.user}
    await attack.harness.chat.press_key(forged[number % len(forged)], asked.id, **place)
    await attack.harness.at_rest()
    if number % 3 == 0:
        await eve.says("/accounts keep")
        assert await count(attack.harness, "questions", "state = 'open'") == 1
    room = {"user": "1", "name": "Ana", "chat": "room", "direct": False}
    await attack.harness.chat.press_key(key, asked.id, **room)
    await attack.harness.at_rest()
    assert await count(attack.harness, "questions", "state = 'open'") == 1


async def press_too_late(attack: Attack, number: int) -> None:
    """Press a button of a closed question."""
    code, eve = await attack.ana.makes_code(), attack.known()
    await eve.says(f"/link {code}")
    asked = attack.ana.asked()
    assert asked
    key = asked.keyboard[0].key
    if number % 4 == 0:
        await eve.says("/link cancel")
    elif number % 4 == 1:
        await attack.ana.says("/link cancel")
    elif number % 4 == 2:
        await attack.ana.makes_code()
    else:
        await attack.ana.presses(people_texts.NO())
    await attack.harness.chat.press_key(key, asked.id, user="1", chat="1", name="Ana")
    await attack.harness.at_rest()


async def mix_purposes(attack: Attack, number: int) -> None:
    """Use a code for another purpose."""
    code = await attack.ana.makes_code()
    if number % 3 == 0:
        assert await attack.stranger().says(f"/claim {code}") == general.CODE_INVALID()
        assert await count(attack.harness, "people", "role = 'owner'") == 0
    elif number % 3 == 1:
        now = 10**15
        claim = await attack.harness.gateway.database.write(
            "c", lambda c: new_claim_code(c, now=now)
        )
        assert await attack.known().says(f"/link {claim}") == general.CODE_INVALID()
    else:
        assert await attack.known().says(f"/link {code} 1") == general.CODE_INVALID()


async def keep_guessing(attack: Attack, _: int) -> None:
    """Guess five wrong codes: then even the right one gets silence for ten minutes."""
    code, eve = await attack.ana.makes_code(), attack.stranger()
    said = [await eve.says(f"/link AAAA-AAA{digit}") for digit in "23456789"]
    assert said == [general.CODE_INVALID()] * 4 + [general.CODE_BLOCKED()] + [""] * 3
    assert await eve.says(f"/link {code}") == ""
    assert await eve.says(f"/claim {code}") == ""
    assert await eve.says("hello?") == ""


async def come_back(attack: Attack, number: int) -> None:
    """Continue after a restart, under the same rules."""
    asked = attack.ana.asked()
    if number == 0:
        assert asked
        eve = attack.known()
        for forged in (asked.keyboard[0].key, "q1:yes:00000000"):
            place = {"user": eve.user, "chat": eve.user, "name": eve.name}
            await attack.harness.chat.press_key(forged, asked.id, **place)
        await attack.harness.at_rest()
        return
    code = code_in([one.text for one in attack.harness.chat.shown if "Your code" in one.text][-1])
    who = [attack.known(), attack.stranger(), ChatAccount(attack.harness, "199", "Eve")][number % 3]
    silence = number % 3 == 2
    assert await who.says(f"/link {code}") == ("" if silence else general.CODE_INVALID())


ATTEMPTS = (
    ("guessed", guess, 20),
    ("replayed", replay, 16),
    ("late", be_late, 10),
    ("raced", race, 8),
    ("from a room", use_a_room, 12),
    ("answered by others", answer_for_her, 12),
    ("pressed too late", press_too_late, 8),
    ("for another purpose", mix_purposes, 6),
    ("guessed on and on", keep_guessing, 2),
)
AFTER_A_RESTART = 6


@asynccontextmanager
async def attack_on(home: Path, chat: FakeChat, users: "counting[int]") -> AsyncIterator[Attack]:
    async with running(home, FakeModel(), chat=chat, TALARIA_ACCESS__ALLOW=ALLOW) as harness:
        attack = Attack(harness, users)
        await attack.ana.says("/whoami")
        yield attack


@pytest.mark.thorough
async def test_a_hundred_attempts_all_fail(tmp_path: Path) -> None:
    chat, users = FakeChat(), counting(KNOWN.start)
    async with attack_on(tmp_path, chat, users) as attack:
        for kind, deed, times in ATTEMPTS:
            for _ in range(times):
                await attack.attempt(kind, deed)
        tried = attack.tried
        silenced = ChatAccount(attack.harness, "199", "Eve")
        for _ in range(5):
            await silenced.says("/link AAAA-AAAA")
        await attack.known().says(f"/link {await attack.ana.makes_code()}")
    async with attack_on(tmp_path, chat, users) as attack:
        for number in range(AFTER_A_RESTART):
            attack.tried["after a restart"] = number
            await attack.attempt("after a restart", come_back)
        tried += attack.tried
        assert tried.total() == 100
        print(f"\n{tried.total()} attempts, 0 joined: {dict(tried)}")

        friend = ChatAccount(attack.harness, "198", "Ana at work")
        code = await attack.ana.makes_code()
        await friend.says(f"/LINK {code.lower().replace('-', ' ')}")
        await attack.ana.presses(people_texts.YES())
        assert await friend.person() == await attack.ana.person()
        assert await count(attack.harness, "link_requests", "state = 'joined'") == 1


async def test_two_answers_link_once(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Ana at work")
        await work.says(f"/link {await home.makes_code()}")
        asked = home.asked()
        assert asked
        key, place = asked.keyboard[0].key, {"user": "1", "chat": "1", "name": "Ana"}
        await asyncio.gather(*(harness.chat.press_key(key, asked.id, **place) for _ in range(5)))
        await harness.at_rest()
        assert await work.person() == await home.person()
        joined = f"action = 'link.joined' AND person_id = {(await home.person()).id}"
        assert await count(harness, "audit", joined) == 1
        assert await count(harness, "tasks", "kind = 'memory'") == 1
