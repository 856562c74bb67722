"""Each person uses a server with an account of their own, whoever else uses it."""

import asyncio
import json
import os
import signal
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent_core.ids import PersonId
from agent_core.state.engine.connection import Observer
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, merge_people, split_person
from agent_core.state.people import mcp_accounts, people
from agent_core.state.people.people import NewAccount
from agent_core.tools.contract import Tool
from agent_core.tools.mcp.contract import McpServer, Surroundings
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.mcp.pins import Judged
from agent_core.tools.mcp.sign_in import SignInUnavailable
from agent_core.tools.mcp.supervisor import Timings
from agent_core.tools.mcp.token_files import TokenFolder
from tests.agent_core.tools.contexts import make_context
from tests.agent_core.tools.mcp import oauth_server
from tests.agent_core.tools.mcp.hub_stage import add_one
from tests.agent_core.tools.mcp.oauth_server import OAuthServer, sign_in
from tests.databases import place_database
from tests.integration.processes import be_killed
from tests.patience import PATIENCE, until

TIMINGS = Timings(
    start=PATIENCE, first_pause=0.05, longest_pause=0.05, least_refresh=0.01, link=PATIENCE
)
DAY = 86_400_000


@dataclass
class Stage:
    """A hub with one server behind OAuth, an owner and two members."""

    on: OAuthServer
    servers: McpServers
    database: Database
    folder: Path
    ada: PersonId
    bob: PersonId
    eve: PersonId
    links: list[tuple[PersonId, str, str]] = field(default_factory=list)
    notices: list[Judged] = field(default_factory=list)
    has_chats: bool = True
    now: int = DAY

    async def send_link(self, person_id: PersonId, server: str, link: str) -> bool:
        if self.has_chats:
            self.links.append((person_id, server, link))
        return self.has_chats

    async def ready(self) -> None:
        await until(lambda: bool(self.servers._servers))

    async def connect(self, person: PersonId, account: str) -> None:
        link = await self.servers.sign_ins.begin("web", person)
        outcome = await self.servers.sign_ins.finish(person, await sign_in(link, account))
        assert outcome.is_ready, outcome
        await self.accept()

    async def accept(self) -> None:
        (report,) = await self.servers.report()
        assert await self.database.write(
            "test", lambda connection: self.servers.accept(connection, "web", report.token)
        )

    async def tools(self, person: PersonId) -> dict[str, Tool]:
        return {tool.spec.name: tool for tool in await self.servers.list_tools(person)}

    async def read_mail(self, person: PersonId) -> str:
        tool = (await self.tools(person))["web__inbox"]
        return (await tool.run({}, make_context(person))).text

    async def end(self, person: PersonId) -> bool:
        return await self.servers.sign_ins.end("web", person, lambda _: None)

    def files(self) -> list[Path]:
        found = self.folder.glob("*/*.json")
        return [path for path in found if path.stem != "client"]


Open = Callable[..., AbstractAsyncContextManager[Stage]]


@asynccontextmanager
async def opened(
    on: OAuthServer,
    folder: Path,
    timings: Timings = TIMINGS,
    observe: Observer | None = None,
    **more: object,
) -> AsyncIterator[Stage]:
    place_database(folder / "state.db")
    database = await Database.open(folder / "state.db", observe=observe, retry_pause=0.05)

    def find_people(connection: Connection) -> list[PersonId]:
        found = {person.slug: person.id for person in people.list_all(connection)}
        names = ("ada", "bob", "eve")
        return [
            found.get(slug) or add_one(connection, slug, "owner" if slug == "ada" else "member")
            for slug in names
        ]

    given = {"is_local": True, "has_oauth": True, "people": ("*",), **more}
    server = McpServer(name="web", url=f"{on.url}/mcp", **given)  # type: ignore[arg-type]
    ids = await database.write("test", find_people)
    tokens = TokenFolder(folder / "tokens")

    def notify(_: Connection, server: McpServer, judged: Judged) -> Callable[[], None]:
        return lambda: staged.notices.append(judged)

    async def send(person_id: PersonId, name: str, link: str) -> bool:
        return await staged.send_link(person_id, name, link)

    servers = McpServers(
        database,
        Surroundings(folder=folder / "mcp"),
        read=lambda: [server],
        notify=notify,
        now=lambda: staged.now,
        tokens=tokens,
        timings=timings,
        send_link=send,
    )
    staged = Stage(on, servers, database, tokens.path, *ids)
    task = asyncio.create_task(servers.run())
    try:
        await staged.ready()
        yield staged
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await database.close()


@pytest.fixture
def stage(tmp_path: Path) -> Open:
    @asynccontextmanager
    async def staged(timings: Timings = TIMINGS, **more: object) -> AsyncIterator[Stage]:
        async with oauth_server.serve() as on, opened(on, tmp_path, timings, **more) as found:
            yield found

    return staged


async def test_two_people_read_their_own_mail_in_interleaved_calls(stage: Open) -> None:
    async with stage() as at:
        await at.connect(at.ada, "ada@x")
        await at.connect(at.bob, "bob@x")
        whose = {at.ada: "a mail to ada@x", at.bob: "a mail to bob@x"}
        asked = [at.ada, at.bob] * 15
        said = await asyncio.gather(*(at.read_mail(person) for person in asked))
        assert [
            text for text, person in zip(said, asked, strict=True) if text != whose[person]
        ] == []
        assert at.on.registered == 1
        assert len(at.files()) == 2
        assert {stat.S_IMODE(path.stat().st_mode) for path in at.files()} == {0o600}


async def test_who_has_not_signed_in_gets_a_link_and_nobodys_mail(stage: Open) -> None:
    async with stage() as at:
        await at.connect(at.ada, "ada@x")
        said = await asyncio.gather(*(at.read_mail(at.bob) for _ in range(3)))
        assert all("needs the person's own account" in text for text in said)
        assert at.on.read == []
        ((whose, server, link),) = at.links
        assert (whose, server) == (at.bob, "web")
        assert "have not used yet" in await at.read_mail(at.bob)
        assert (await at.servers.sign_ins.finish(at.bob, await sign_in(link, "bob@x"))).is_ready
        assert await at.read_mail(at.bob) == "a mail to bob@x"
        assert len(at.links) == 1


async def test_before_a_sign_in_nothing_of_another_account_is_shown(stage: Open) -> None:
    async with stage() as at:
        at.on.is_personal = True
        await at.connect(at.ada, "ada@x")
        tools = await at.tools(at.bob)
        assert set(tools) == {"web__whoami", "web__inbox"}
        shown = json.dumps([[tool.spec.description, tool.spec.schema] for tool in tools.values()])
        assert "ada@x" not in shown
        await at.connect(at.bob, "bob@x")
        for person, account, other in ((at.ada, "ada@x", "bob@x"), (at.bob, "bob@x", "ada@x")):
            described = (await at.tools(person))["web__inbox"].spec.description
            assert account in described
            assert other not in described


async def test_a_tool_that_differs_for_an_account_waits_for_an_owner(stage: Open) -> None:
    async with stage() as at:
        at.on.is_personal = True
        await at.connect(at.ada, "ada@x")
        link = await at.servers.sign_ins.begin("web", at.bob)
        assert (await at.servers.sign_ins.finish(at.bob, await sign_in(link, "bob@x"))).is_ready
        assert set(await at.tools(at.bob)) == {"web__whoami"}
        assert set(await at.tools(at.ada)) == {"web__whoami", "web__inbox"}
        assert [judged.changed for judged in at.notices] == [(), ("inbox",)]
        await at.accept()
        assert set(await at.tools(at.bob)) == {"web__whoami", "web__inbox"}
        assert set(await at.tools(at.ada)) == {"web__whoami", "web__inbox"}


async def test_nobody_finishes_the_sign_in_of_another_person(stage: Open) -> None:
    async with stage() as at:
        sign_ins = at.servers.sign_ins
        adas = await sign_ins.begin("web", at.ada)
        bobs = await sign_ins.begin("web", at.bob)
        of_bob = await sign_in(bobs, "bob@x")
        # Eve has no link; Bob's address puts his account in nobody's place.
        assert (await sign_ins.finish(at.eve, of_bob)).taken == "none"
        assert (await sign_ins.finish(at.ada, of_bob)).taken == "foreign"
        assert (await sign_ins.finish(at.ada, "http://x/?code=1")).taken == "foreign"
        assert (await sign_ins.finish(at.ada, await sign_in(adas, "ada@x"))).is_ready
        assert (await sign_ins.finish(at.bob, of_bob)).is_ready
        assert (await sign_ins.finish(at.bob, of_bob)).taken == "none"
        await at.accept()
        assert await at.read_mail(at.ada) == "a mail to ada@x"
        assert await at.read_mail(at.bob) == "a mail to bob@x"


async def test_a_new_link_ends_the_earlier_one(stage: Open) -> None:
    async with stage() as at:
        first = await at.servers.sign_ins.begin("web", at.bob)
        second = await at.servers.sign_ins.begin("web", at.bob)
        assert first != second
        late = await sign_in(first, "bob@x")
        assert (await at.servers.sign_ins.finish(at.bob, late)).taken == "foreign"
        assert (await at.servers.sign_ins.finish(at.bob, await sign_in(second))).is_ready


async def test_an_ended_connection_is_revoked_and_deleted(stage: Open) -> None:
    async with stage() as at:
        await at.connect(at.ada, "ada@x")
        await at.connect(at.bob, "bob@x")
        assert await at.end(at.bob)
        await until(lambda: len(at.files()) == 1)
        assert at.on.revoked == ["refresh_token", "access_token"]
        assert set(at.on.tokens.values()) == {"ada@x"}
        assert not await at.end(at.bob)
        assert "own account" in await at.read_mail(at.bob)
        assert await at.read_mail(at.ada) == "a mail to ada@x"


async def test_the_secret_of_a_fixed_client_is_in_no_file(stage: Open) -> None:
    async with stage(client_id="talaria", client_secret="s3cret-of-ours") as at:
        await at.connect(at.bob, "bob@x")
        kept = "".join(path.read_text() for path in at.folder.glob("*/*"))
        assert "access_token" in kept
        assert "s3cret-of-ours" not in kept
        assert {stat.S_IMODE(path.stat().st_mode) for path in (at.folder, at.folder / "web")} == {
            0o700
        }
        await at.end(at.bob)
        await until(lambda: len(at.on.revoked) == 2)
        assert at.on.registered == 0


async def test_an_unlinked_account_takes_no_sign_in_along(stage: Open) -> None:
    async with stage() as at:
        await at.connect(at.ada, "ada@x")
        await at.connect(at.bob, "bob@x")

        def unlink(connection: Connection) -> None:
            given = NewAccount(platform="chat", user_id="1", display_name="B", admitted_by="list")
            people.attach_account(connection, given, person_id=at.bob, now=1)
            account = people.find_account(connection, platform="chat", user_id="1")
            assert account
            split_person.split(connection, account, into=at.eve, rename=lambda one: one.key, now=2)

        await at.database.write("test", unlink)
        for person in (at.bob, at.eve):
            assert "own account" in await at.read_mail(person)
        await at.servers.sign_ins.tidy()
        assert set(at.on.tokens.values()) == {"ada@x"}


async def test_a_server_that_revokes_nothing_holds_up_no_deletion(stage: Open) -> None:
    async with stage() as at:
        at.on.revokes = False
        await at.connect(at.bob, "bob@x")
        await at.end(at.bob)
        await until(lambda: at.files() == [])


async def test_a_refused_renewal_is_told_once_with_a_new_link(stage: Open) -> None:
    async with stage() as at:
        await at.connect(at.bob, "bob@x")
        at.on.tokens.clear()
        at.on.renewals.clear()
        said = await at.read_mail(at.bob)
        assert "has just sent them a link" in said
        assert [whose for whose, _, _ in at.links] == [at.bob]
        await at.servers._accounts.close("web", at.bob)  # the link is lost, as after 15 minutes
        assert "/connections in their direct chat" in await at.read_mail(at.bob)
        assert len(at.links) == 1
        at.now += DAY
        assert "has just sent them a link" in await at.read_mail(at.bob)
        assert len(at.links) == 2


async def test_a_link_is_given_at_once_though_the_server_dropped_the_account(stage: Open) -> None:
    async with stage(replace(TIMINGS, idle=0.05)) as at:
        await at.connect(at.bob, "bob@x")
        await until(lambda: at.servers._accounts.count == 0)
        at.on.tokens.clear()
        at.on.renewals.clear()
        await at.connect(at.bob, "bob@x")
        assert await at.read_mail(at.bob) == "a mail to bob@x"


async def test_without_a_direct_chat_it_says_how_to_open_one(stage: Open) -> None:
    async with stage() as at:
        await at.connect(at.ada, "ada@x")
        at.has_chats = False
        assert "write to Talaria in a direct chat" in await at.read_mail(at.bob)
        at.has_chats = True
        assert "has just sent them a link" in await at.read_mail(at.bob)


async def test_an_idle_session_ends_and_comes_back_for_a_call(stage: Open) -> None:
    async with stage(replace(TIMINGS, idle=0.05)) as at:
        await at.connect(at.bob, "bob@x")
        await until(lambda: at.servers._accounts.count == 0)
        assert await at.read_mail(at.bob) == "a mail to bob@x"
        await until(lambda: at.servers._accounts.count == 0)


async def test_the_number_of_sessions_is_bounded(stage: Open) -> None:
    async with stage(replace(TIMINGS, most_sessions=1)) as at:
        await at.connect(at.ada, "ada@x")
        await at.connect(at.bob, "bob@x")
        for person, account in ((at.ada, "ada@x"), (at.bob, "bob@x"), (at.ada, "ada@x")):
            assert await at.read_mail(person) == f"a mail to {account}"
            assert at.servers._accounts.count == 1


async def test_a_person_who_may_not_use_a_server_signs_in_nowhere(stage: Open) -> None:
    async with stage(people=("bob",)) as at:
        await at.connect(at.ada, "ada@x")
        assert await at.tools(at.eve) == {}
        assert await at.servers.sign_ins.list_of(at.eve) == []
        with pytest.raises(SignInUnavailable):
            await at.servers.sign_ins.begin("web", at.eve)


async def test_a_restart_keeps_each_account_and_asks_nobody_again(tmp_path: Path) -> None:
    async with oauth_server.serve() as on:
        async with opened(on, tmp_path) as at:
            await at.connect(at.ada, "ada@x")
            await at.connect(at.bob, "bob@x")
            unused = await at.servers.sign_ins.begin("web", at.eve)
        async with opened(on, tmp_path) as at:
            assert await at.read_mail(at.bob) == "a mail to bob@x"
            assert await at.read_mail(at.ada) == "a mail to ada@x"
            # The link of the process that is gone is worth nothing.
            address = await sign_in(unused, "eve@x")
            assert (await at.servers.sign_ins.finish(at.eve, address)).taken == "none"
            assert at.links == []


async def test_an_erased_persons_tokens_are_revoked_and_their_session_ends(stage: Open) -> None:
    async with stage() as at:
        await at.connect(at.ada, "ada@x")
        await at.connect(at.bob, "bob@x")
        await at.database.write(
            "test", lambda c: erase_person.erase_identity(c, person_ids=[at.bob])
        )
        await at.servers.sign_ins.tidy()
        assert len(at.files()) == 1
        assert set(at.on.tokens.values()) == {"ada@x"}
        assert at.servers._accounts.count == 1


@pytest.mark.parametrize("both", [False, True])
async def test_of_two_people_who_become_one_a_signed_in_account_stays(
    stage: Open, both: bool
) -> None:
    async with stage() as at:
        await at.connect(at.ada, "ada@x")
        await at.connect(at.bob, "bob@x")
        if both:
            await at.connect(at.eve, "eve@x")
        await at.database.write(
            "test",
            lambda c: merge_people.merge(
                c,
                kept=at.eve,
                absorbed=at.bob,
                rename=lambda one: one.key,
                now=1,
            ),
        )
        await at.servers.sign_ins.tidy()
        mine = "eve@x" if both else "bob@x"
        assert await at.read_mail(at.eve) == f"a mail to {mine}"
        assert set(at.on.tokens.values()) == {"ada@x", mine}
        assert len(at.files()) == 2


async def test_a_person_of_the_same_number_gets_nobodys_account(stage: Open) -> None:
    """An old backup can give a number again; the key of the file is what counts."""
    async with stage() as at:
        await at.connect(at.bob, "bob@x")
        await at.database.write(
            "test", lambda c: mcp_accounts.delete(c, person_id=at.bob, server="web")
        )
        assert "own account" in await at.read_mail(at.bob)
        assert at.on.read == []


async def test_one_account_for_all_is_the_owners_and_its_tools_say_so(stage: Open) -> None:
    async with stage(is_shared=True) as at:
        with pytest.raises(SignInUnavailable):
            await at.servers.sign_ins.begin("web", at.bob)
        await until(lambda: "web" in at.servers._connections)
        await until(lambda: at.servers._connections["web"].needs_sign_in)
        await at.connect(at.ada, "ada@x")
        for person in (at.ada, at.bob):
            assert await at.read_mail(person) == "a mail to ada@x"
            described = [tool.spec.description for tool in (await at.tools(person)).values()]
            assert all(one.startswith("Uses one account shared by everyone") for one in described)
        (mine,) = await at.servers.sign_ins.list_of(at.ada)
        assert mine.is_shared
        assert await at.servers.sign_ins.list_of(at.bob) == []
        await at.end(at.ada)
        await until(lambda: at.files() == [])
        await until(lambda: "web" in at.servers._connections)
        await until(lambda: at.servers._connections["web"].needs_sign_in)


async def test_the_sign_in_of_an_earlier_version_is_the_only_owners(tmp_path: Path) -> None:
    async with oauth_server.serve() as on:
        async with opened(on, tmp_path) as at:
            await at.connect(at.ada, "ada@x")
            (tokens,) = at.files()
            former = tokens.read_text()
            await at.database.write(
                "test", lambda c: mcp_accounts.delete(c, person_id=at.ada, server="web")
            )
            tokens.unlink()
        (tmp_path / "tokens" / "web.json").write_text(former)
        async with opened(on, tmp_path) as at:
            await until(lambda: len(at.servers._accounts._sessions) == 1)
            session = next(iter(at.servers._accounts._sessions.values()))
            await session.connection.wait_ready()
            assert await at.read_mail(at.ada) == "a mail to ada@x"
            assert "own account" in await at.read_mail(at.bob)
            assert not (tmp_path / "tokens" / "web.json").exists()


async def test_a_server_at_a_new_address_is_connected_for_nobody(tmp_path: Path) -> None:
    async with oauth_server.serve() as on, oauth_server.serve() as elsewhere:
        async with opened(on, tmp_path) as at:
            await at.connect(at.ada, "ada@x")
            await at.connect(at.bob, "bob@x")
        async with opened(elsewhere, tmp_path) as at:
            await until(lambda: at.files() == [])
            for person in (at.ada, at.bob):
                (mine,) = await at.servers.sign_ins.list_of(person)
                assert mine.signed_in_at is None
            await at.connect(at.bob, "bob@y")
            assert await at.read_mail(at.bob) == "a mail to bob@y"
            assert "own account" in await at.read_mail(at.ada)
        async with opened(elsewhere, tmp_path) as at:
            assert await at.read_mail(at.bob) == "a mail to bob@y"


async def test_with_several_owners_a_former_sign_in_is_nobodys(tmp_path: Path) -> None:
    async with oauth_server.serve() as on:
        async with opened(on, tmp_path) as at:
            await at.connect(at.ada, "ada@x")
            (tokens,) = at.files()
            former = tokens.read_text()
            await at.database.write(
                "test", lambda c: mcp_accounts.delete(c, person_id=at.ada, server="web")
            )
            await at.database.write("test", lambda c: add_one(c, "olga", "owner"))
            tokens.unlink()
        (tmp_path / "tokens" / "web.json").write_text(former)
        async with opened(on, tmp_path) as at:
            await until(lambda: at.files() == [])
            assert "own account" in await at.read_mail(at.ada)
            assert on.tokens == {}


async def die_in_a_sign_in(folder: Path, url: str, phase: str, name: str) -> None:
    """Sign Bob in, and die right before or after the commit of a write with this name."""
    is_due = False

    def observe(event: str, names: tuple[str, ...]) -> None:
        if is_due and event == phase and name in names:
            os.kill(os.getpid(), signal.SIGKILL)

    async with opened(OAuthServer(url=url), folder, observe=observe) as at:
        is_due = True
        await at.connect(at.bob, "bob@x")


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("point", ["begin mcp.listing", "committed mcp.account", "begin mcp.note"])
async def test_a_kill_in_a_sign_in_gives_nobody_the_account_of_another(
    tmp_path: Path, point: str
) -> None:
    phase, _, name = point.partition(" ")
    async with oauth_server.serve() as on:
        async with opened(on, tmp_path) as at:
            await at.connect(at.ada, "ada@x")
        await be_killed(die_in_a_sign_in, tmp_path, on.url, phase, name)
        async with opened(on, tmp_path) as at:
            assert await at.read_mail(at.ada) == "a mail to ada@x"
            assert "own account" in await at.read_mail(at.eve)
            said = await at.read_mail(at.bob)  # a link, or it is connected already
            assert "own account" in said or said == "a mail to bob@x"
            if "It is connected now" not in said:
                (link,) = [link for whose, _, link in at.links if whose == at.bob] or [""]
                assert (
                    not link
                    or (
                        await at.servers.sign_ins.finish(at.bob, await sign_in(link, "bob@x"))
                    ).is_ready
                )
            assert await at.read_mail(at.bob) == "a mail to bob@x"
            assert set(on.read) == {"ada@x", "bob@x"}
            await at.servers.sign_ins.tidy()
            assert not list(at.folder.glob("*/*.part"))
