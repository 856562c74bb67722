"""People connect their own accounts at a server, and nobody reads the mail of another person."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from gateway.app.mcp_file import add_mcp_server
from tests.agent_core.tools.mcp import oauth_server
from tests.agent_core.tools.mcp.oauth_server import OAuthServer
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, texts
from tests.journeys.job_talks import make_job
from tests.journeys.rooms import make_room
from tests.journeys.stage import Harness, Stage, calls, results, slack_of
from tests.journeys.terminal import at_terminal

pytestmark = [pytest.mark.process, pytest.mark.slow]

USE_INBOX = {"name": "web__inbox", "arguments": {}}
CALL_INBOX = calls({"type": "tool_use", "name": "use_tool", "input": USE_INBOX})


@dataclass
class Person:
    """A person at their chat, with an account at the server."""

    harness: Harness
    account: Account
    mail: str

    async def says(self, text: str, room: str | None = None) -> str:
        return await self.harness.hears(self.account, text, room=room)

    def find_link(self, on: OAuthServer) -> str:
        """Return the newest link that stands in the direct chat."""
        lines = "\n".join(texts(self.account)).split("\n")
        return [line for line in lines if f"{on.url}/door" in line][-1].strip("<>")

    async def hand_back(self, on: OAuthServer) -> str:
        address = await oauth_server.sign_in(self.find_link(on), self.mail)
        return await self.says(f"/connections {address}")

    async def connects(self, on: OAuthServer) -> None:
        await self.says("/connections connect web")
        assert "The service “web” is connected" in await self.hand_back(on)

    async def call_inbox(self, answer: str = "Once") -> str:
        """Ask for mail, and answer whether the call may run; return what the tool said."""
        stage = self.harness.stage
        stage.plan(CALL_INBOX, "Done.")
        await self.harness.notes(self.account.says("read my mail"))
        if answer:
            await self.harness.asks(self.account, answer)
            await self.harness.notes(self.account.holds(answer)())
        await self.harness.until(lambda: "Done." in "\n".join(texts(self.account)))
        await self.harness.at_rest()
        (said,) = results(stage.turns[-1])
        return said


@asynccontextmanager
async def opened(
    stage: Stage, on: OAuthServer, platform: str = "telegram", **more: object
) -> AsyncIterator[tuple[Harness, Person, Person]]:
    """Open a gateway with the server, an owner who has accepted its tools, and a member."""
    table = {"url": f"{on.url}/mcp", "local": True, "oauth": True, "people": ["*"], **more}
    stage.home.mkdir(exist_ok=True)
    add_mcp_server(stage.home, "web", table, {})
    async with stage.open() as harness:
        anna = Person(harness, stage.account(platform, ANNA), "anna@x")
        ben = Person(harness, stage.account(platform, BEN), "ben@x")
        await anna.says(f"/claim {harness.gateway.claim_code}")
        while "web" not in await anna.says("/connections"):
            await asyncio.sleep(0.1)
        await anna.connects(on)
        await anna.says("/mcp web")
        await harness.press(anna.account, "Accept")
        yield harness, anna, ben


async def test_each_person_reads_their_own_mail(stage: Stage) -> None:
    async with oauth_server.serve() as on, opened(stage, on) as (_, anna, ben):
        refused = await ben.call_inbox("")
        assert "has just sent them a link in their direct chat" in refused
        assert on.read == []
        assert "The service “web” is connected" in await ben.hand_back(on)
        assert await ben.call_inbox() == "a mail to ben@x"
        assert await anna.call_inbox() == "a mail to anna@x"
        assert "2 are connected" in await anna.says("/mcp")


@pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])
async def test_connections_are_listed_and_ended_by_buttons(
    tmp_path_factory: pytest.TempPathFactory, platform: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    async with (
        Stage(home, (platform,)) as stage,
        oauth_server.serve() as on,
        opened(stage, on, platform) as (harness, anna, ben),
    ):
        assert "not connected" in await ben.says("/connections")
        await harness.press(ben.account, "Connect web")
        assert "The service “web” is connected" in await ben.hand_back(on)
        assert "with your own account" in await ben.says("/connections")
        await ben.says("/settings language de")
        assert "mit deinem eigenen Konto" in await ben.says("/connections")
        await harness.press(ben.account, "web trennen")
        assert "Der Dienst „web“ ist getrennt" in "\n".join(texts(ben.account))
        await harness.until(lambda: set(on.tokens.values()) == {"anna@x"})
        assert "with your own account" in await anna.says("/connections")


async def test_a_group_gets_no_link_and_no_mail(stage: Stage) -> None:
    async with oauth_server.serve() as on, opened(stage, on) as (harness, anna, ben):
        await ben.says("hello")
        room = str(SUPERGROUP)
        for command in ("/connections", "/connections connect web"):
            said = await ben.says(command, room=room)
            assert "in our direct chat" in said
            assert on.url not in said
        assert "The service “web” is connected" in await ben.hand_back(on)
        stage.plan(CALL_INBOX, "Done.")
        await ben.says("read my mail", room=room)
        shown = "\n".join(texts(ben.account, room))
        assert "a mail to" not in shown
        assert on.read == []
        assert on.url not in shown
        assert on.url not in "\n".join(texts(anna.account, room))
        await harness.at_rest()


async def test_a_link_is_not_even_whispered_in_a_room(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = tmp_path_factory.mktemp("home")
    async with (
        Stage(home, ("slack",)) as stage,
        oauth_server.serve() as on,
        opened(stage, on, "slack") as (harness, _, ben),
    ):
        await ben.says("hello")
        room, account = make_room(stage, "slack"), slack_of(stage, BEN)
        await harness.takes(account.commands("connections connect web", room=room.id))
        whispered = [one.shown for one in stage.slack.ephemerals(BEN)]
        assert any("in our direct chat" in text for text in whispered)
        assert on.url not in "".join(whispered)
        assert "The service “web” is connected" in await ben.hand_back(on)


async def test_the_address_of_another_person_connects_nothing(stage: Stage) -> None:
    async with oauth_server.serve() as on, opened(stage, on) as (_, anna, ben):
        await ben.says("/connections connect web")
        address = await oauth_server.sign_in(ben.find_link(on), "ben@x")
        assert "I'm not expecting that address" in await anna.says(f"/connections {address}")
        assert await anna.call_inbox() == "a mail to anna@x"
        assert "The service “web” is connected" in await ben.says(f"/connections {address}")
        assert "I'm not expecting that address" in await ben.says(f"/connections {address}")


async def test_a_job_uses_the_account_of_its_person(stage: Stage) -> None:
    clock = Clock(2026, 11, 20, 12)
    stage.now = clock
    async with oauth_server.serve() as on, opened(stage, on) as (harness, anna, ben):
        await ben.connects(on)
        await make_job(
            harness,
            ben.account,
            "read my mail hourly",
            kind="prompt",
            title="Mail",
            text="Read my mail.",
            cron="0 * * * *",
        )
        assert await ben.call_inbox("Always for this kind") == "a mail to ben@x"
        on.read.clear()
        stage.plan(CALL_INBOX, "You have mail.")
        clock.move(harness, hours=1)
        await harness.sees(BEN, "You have mail.")
        assert on.read == ["ben@x"]
        assert "You have mail." not in "\n".join(texts(anna.account))


async def test_an_erased_person_leaves_no_tokens(stage: Stage) -> None:
    async with oauth_server.serve() as on, opened(stage, on) as (harness, anna, ben):
        await ben.connects(on)
        await ben.says("/erase me")
        for label in ("Delete", "Delete permanently"):
            await harness.asks(ben.account, label)
            await harness.notes(ben.account.holds(label)())
        await harness.until(lambda: set(on.tokens.values()) == {"anna@x"})
        await harness.until(lambda: count_tokens(stage) == 1)
        assert await anna.call_inbox() == "a mail to anna@x"


def count_tokens(stage: Stage) -> int:
    found = (stage.home / "mcp_tokens").glob("*/*")
    return len([path for path in found if path.name != "client.json"])


async def test_the_command_line_signs_in_for_the_only_owner(stage: Stage) -> None:
    async with oauth_server.serve() as on:
        async with stage.open() as harness:
            await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        words = ("--oauth", "--local", "--yes", "--url", f"{on.url}/mcp")
        await asyncio.to_thread(add_at_terminal, stage, "web", *words)
        async with stage.open() as harness:
            anna = Person(harness, stage.account("telegram", ANNA), "anna@x")
            ben = Person(harness, stage.account("telegram", BEN), "ben@x")
            assert await anna.call_inbox() == "a mail to anna@x"
            assert "There's no service" in await ben.says("/connections")
            assert "There is no tool" in await ben.call_inbox("")


def add_at_terminal(stage: Stage, name: str, *words: str) -> None:
    """Add a server as a person at a terminal, and sign in."""
    with at_terminal({"TALARIA_HOME": str(stage.home)}, "mcp", "add", name, *words) as terminal:
        link = terminal.wait_for(r"(http://\S+/door\S+)\r")[1]
        address = asyncio.run(oauth_server.sign_in(link, "anna@x"))
        terminal.wait_for("Address: ")
        terminal.type(f"{address}\n")
        terminal.wait_for("Accepted")


async def test_one_account_for_all_is_shared_by_name(stage: Stage) -> None:
    async with (
        oauth_server.serve() as on,
        opened(stage, on, shared_account=True) as (_, anna, ben),
    ):
        assert await ben.call_inbox() == "a mail to anna@x"
        assert "Everyone here uses one account" in await anna.says("/mcp")
        assert "everyone here uses this account of yours" in await anna.says("/connections")
        refused = await ben.says("/connections connect web")
        assert "Everyone here uses one account" in refused
