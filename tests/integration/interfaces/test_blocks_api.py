"""Memory blocks through the API: a member changes what is theirs, and nothing else."""

import aiohttp

from tests.integration.interfaces.api_setup import Setup, make_token
from tests.tables import await_each

MISSING, DECLINED, WRONG, DONE = 404, 409, 400, 200
HIDDEN = (
    ("PATCH", "plan", {}, MISSING),
    ("PATCH", "plan", {"limit": 200}, MISSING),
    ("PATCH", "nowhere", {}, MISSING),
    ("DELETE", "plan", {}, MISSING),
    ("PUT", "plan/readers/zebrana", {}, MISSING),
    ("PUT", "plan/readers/me", {}, MISSING),
)
SHARED = (
    ("PATCH", "plan", {}, DECLINED),
    ("PATCH", "plan", {"limit": 200}, DECLINED),
    ("DELETE", "plan", {}, DECLINED),
    ("PUT", "plan/readers/everyone", {}, DECLINED),
    ("DELETE", "plan/readers/olga", {}, DECLINED),
    ("PUT", "own/readers/everyone", {}, DECLINED),
    ("PUT", "own/readers/room:1", {}, WRONG),
    ("PUT", "own/readers/here", {}, WRONG),
    ("DELETE", "plan/readers/me", {}, DONE),
)


async def ask(setup: Setup, key: str, verb: str, path: str, body: object) -> int:
    url = f"{setup.served.address.origin()}/api/blocks{path}"
    head = {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=head) as session,
        session.request(verb, url, json=body) as answer,
    ):
        return answer.status


async def test_a_member_changes_their_own_blocks_only(setup: Setup) -> None:
    olga = await make_token(setup.home, "olga", "manage")
    zebrana = await make_token(setup.home, "zebrana", "manage")

    async def check(row: tuple[str, str, dict[str, int], int]) -> None:
        verb, path, body, status = row
        assert await ask(setup, zebrana, verb, f"/{path}", body) == status

    for key, name in ((olga, "plan"), (zebrana, "own")):
        assert await ask(setup, key, "POST", "", {"name": name, "description": "ideas"}) == 201
    await await_each(HIDDEN, check)
    assert await ask(setup, olga, "PUT", "/plan/readers/zebrana", {}) == DONE
    await await_each(SHARED, check)
