"""The pages of tools and of tokens: each is its person's own, and a token is seen once."""

import html
import re

import aiohttp

from agent_core.state.people import api_tokens, audit
from agent_core.state.people.api_tokens import ApiToken
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.page_texts import read


async def post(session: aiohttp.ClientSession, path: str, **form: str) -> tuple[int, str]:
    """Send a form; the status and the page that follows."""
    async with session.post(path, data=form) as answer:
        return answer.status, html.unescape(await answer.text())


def list_on(text: str) -> set[str]:
    """The tools whose switch is on."""
    rows = re.findall(r'name="tool" value="([^"]+)">.*?aria-checked="(\w+)"', text)
    return {name for name, state in rows if state == "true"}


async def list_tokens(setup: Setup, slug: str) -> list[ApiToken]:
    person = await find_named(setup, slug)
    return await setup.served.gateway.database.read(api_tokens.list_of, person_id=person.id)


async def test_a_tool_is_switched_off_and_on_for_one_person(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        before = list_on(await read(session, "/tools"))
        assert {"recall", "remind"} <= before
        status, text = await post(session, "/tools/switch", tool="recall")
        assert status == 200
        assert "Turned off here: search earlier conversations." in text
        assert list_on(text) == before - {"recall"}
        assert (await find_named(setup, "zebrana")).tools_off == ("recall",)
        assert (await find_named(setup, "olga")).tools_off == ()
        _, text = await post(session, "/tools/switch", tool="recall", on="yes")
        assert list_on(text) == before


async def test_a_tool_that_is_not_there_is_refused_with_the_nearest(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, text = await post(session, "/tools/switch", tool="recal")
        assert (status, "Did you mean “recall”?" in text) == (409, True)
        status, text = await post(session, "/tools/switch")
        assert (status, "There's no tool called “” here." in text) == (409, True)
    assert (await find_named(setup, "zebrana")).tools_off == ()


async def test_a_token_is_shown_once_works_and_ends(setup: Setup) -> None:
    url = setup.served.address.origin().with_path("/api/me")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, text = await post(session, "/tokens/new", name="kitchen", scope="api")
        found = re.search(r"talaria_[\w-]{43}", text)
        assert status == 200
        assert found is not None, text
        head = {"Authorization": f"Bearer {found[0]}"}
        async with aiohttp.ClientSession(headers=head) as api, api.get(url) as answer:
            assert answer.status == 200
        text = await read(session, "/tokens")
        assert found[0] not in text, "it is shown once"
        assert "kitchen" in text
        made = next(one for one in await list_tokens(setup, "zebrana") if one.name == "kitchen")
        status, text = await post(session, f"/tokens/{made.id}/revoke")
        assert (status, "The program “kitchen” no longer has access." in text) == (200, True)
        async with aiohttp.ClientSession(headers=head) as api, api.get(url) as answer:
            assert answer.status == 401
    zebrana = await find_named(setup, "zebrana")
    for action in ("token.create", "token.revoke"):
        recorded = await setup.served.gateway.database.read(
            audit.find_newest, person_id=zebrana.id, action=action
        )
        assert recorded is not None


async def test_a_wrong_name_stays_in_the_form_with_its_fault(setup: Setup) -> None:
    rows = [
        ("", "Please fill this in."),
        ("a/b", "The name of a token has at most 32 characters"),
        ("x" * 33, "The name of a token has at most 32 characters"),
        ("LAPTOP api", "There is a token “LAPTOP api” already."),
    ]
    before = await list_tokens(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for name, words in rows:
            status, text = await post(session, "/tokens/new", name=name, scope="manage")
            assert status == 422, name
            assert f'id="fault-name" role="alert">{words}' in text
            assert f'value="{name}"' in text
            assert 'value="manage" checked' in text
        status, text = await post(session, "/tokens/new", name="kitchen", scope="root")
        assert (status, "The scope of a token is mcp, api or manage." in text) == (422, True)
    assert await list_tokens(setup, "zebrana") == before


async def test_nobody_sees_or_ends_the_token_of_another(setup: Setup) -> None:
    theirs = (await list_tokens(setup, "zebrana"))[0]
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        status, _ = await post(session, f"/tokens/{theirs.id}/revoke")
        assert status == 404
        assert f"/tokens/{theirs.id}/" not in await read(session, "/tokens")
    assert theirs in await list_tokens(setup, "zebrana")
