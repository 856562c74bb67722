"""The Undo of each kind of deed that Today lists: what was there before is there again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.state.jobs import jobs
from tests.fakes.chat import FakeChat
from tests.integration.interfaces.api_setup import OLGA, Setup, make_token
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.same_deeds import ability_rows, job_rows, memory_rows, own_rows
from tests.integration.interfaces.same_deeds.owner_rows import look_at_token
from tests.integration.interfaces.same_deeds.surfaces import Do, Doer, Surfaces, keep
from tests.integration.served import served
from tests.tables import await_each

pytestmark = pytest.mark.thorough


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A deed that a form of the page does; `look` reads what its undo restores."""

    name: str
    do: Do
    look: Do
    ready: Do = keep


async def make_older_job(here: Surfaces, name: str) -> str:
    """Make a reminder that is none of today's deeds: a delete would count as its undo."""
    words = ("--person", "olga", "--when", "every day at 9:00", "--message", name)
    await here.run("jobs", "add", *words)
    found = await here.read(jobs.list_of_person, person_id=(await here.olga()).id)
    return str(next(one.id for one in found if one.body == name))


KINDS: Sequence[Kind] = (
    Kind(
        name="setting",
        ready=own_rows.speak_normally,
        do=lambda here, _: here.post("/settings", verbosity="quiet", shown="verbosity"),
        look=own_rows.look_at_verbosity,
    ),
    Kind(
        name="home",
        ready=job_rows.forget_home,
        do=lambda here, _: here.post("/settings", home="fake", shown="home"),
        look=job_rows.look_at_home,
    ),
    Kind(
        name="tool",
        ready=ability_rows.switch_recall_on,
        do=lambda here, _: here.post("/tools/switch", tool="recall"),
        look=ability_rows.look_at_tools,
    ),
    Kind(
        name="paused reminder",
        ready=job_rows.make_job,
        do=lambda here, job: here.post(f"/jobs/{job}/pause"),
        look=job_rows.look_at_job,
    ),
    Kind(
        name="deleted reminder",
        ready=make_older_job,
        do=lambda here, job: here.post(f"/jobs/{job}/delete"),
        look=job_rows.look_at_job,
    ),
    Kind(
        name="changed reminder",
        ready=job_rows.make_job,
        do=lambda here, job: here.post(f"/jobs/{job}/change", text="Cut it"),
        look=job_rows.look_at_job,
    ),
    Kind(
        name="share",
        ready=memory_rows.remember_and_name,
        do=lambda here, one: here.post(f"/memory/entries/{one.split()[0]}/share", sees="everyone"),
        look=lambda here, one: memory_rows.look_at_audience(here, one.split()[1]),
    ),
    Kind(
        name="paused webhook",
        ready=own_rows.make_lonely_webhook,
        do=lambda here, number: here.post(f"/webhooks/{number}/pause"),
        look=own_rows.look_at_webhook,
    ),
    Kind(
        name="token",
        do=lambda here, name: here.post("/tokens/new", name=name, scope="mcp"),
        look=look_at_token,
    ),
    Kind(
        name="group",
        ready=own_rows.make_room,
        do=lambda here, room: here.post(f"/people/rooms/{room}", mode="room"),
        look=own_rows.look_at_room,
    ),
    Kind(
        name="archived-agent",
        ready=ability_rows.make_agent,
        do=lambda here, name: here.post(f"/agents/{name}/archive"),
        look=ability_rows.look_at_agents,
    ),
    Kind(
        name="archived-team",
        ready=ability_rows.make_team,
        do=lambda here, name: here.post(f"/teams/{name}/archive"),
        look=ability_rows.look_at_team,
    ),
    Kind(
        name="used-agent",
        ready=ability_rows.make_unused_agent,
        do=lambda here, name: here.post(f"/agents/{name}/use"),
        look=ability_rows.look_at_choice,
    ),
)


async def test_the_undo_of_each_kind_restores_what_was(home: Path) -> None:
    chat, model = FakeChat(limit=100_000), Doer()
    async with (
        served(home, adapters={"fake": chat}, model=model) as running,
        browse_as(running, chat, OLGA) as page,
    ):
        setup = Setup(running, chat, model, home, "", "")
        token = await make_token(home, "olga", "manage")
        here = Surfaces(setup=setup, page=page, token=token, mcp_token="")

        async def check(kind: Kind) -> None:
            what = await kind.ready(here, kind.name.replace(" ", "-"))
            before = await kind.look(here, what)
            known = await list_undos(here)
            await kind.do(here, what)
            assert await kind.look(here, what) != before, "something was done"
            newest = next(one for one in await list_undos(here) if one not in known)
            await here.post(newest)

            async def is_back() -> bool:
                found: bool = await kind.look(here, what) == before
                return found

            await here.wait_for(is_back)
            assert newest not in await list_undos(here), "it is taken back once"

        await await_each(KINDS, check)


async def list_undos(here: Surfaces) -> list[str]:
    """List the addresses of the buttons Undo on Today, newest first."""
    return re.findall(r'action="(/deeds/\d+/undo)"', await here.read_page("/today"))
