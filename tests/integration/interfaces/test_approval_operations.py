"""`talaria approvals`: with a running gateway and without one."""

import json
from pathlib import Path

from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from gateway.home import DATABASE
from tests.integration.canaries import fill
from tests.integration.processes import talaria, talaria_beside
from tests.integration.served import served

SHAPE = json.dumps(["terminal", "run", "workspace", "git", "push"])


def allow(connection: Connection) -> None:
    olga = next(one for one in people.list_all(connection) if one.slug == "olga")
    new = NewApproval(person_id=olga.id, decided_by=olga.id, scope="always", subject=SHAPE)
    approvals.insert(connection, new, now=0)


async def make_home(home: Path) -> None:
    await fill(home)
    database = await Database.open(home / DATABASE)
    await database.write("test", allow)
    await database.close()


async def test_what_is_allowed_is_listed_and_revoked_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await make_home(home)
    listed = talaria(home, "approvals", "list").out
    assert listed == "   1  olga: terminal: run git push (always, since 1970-01-01)\n"
    done = talaria(home, "approvals", "revoke", "1")
    assert (done.code, done.out) == (0, "Revoked: terminal: run git push. olga is asked again.\n")
    assert talaria(home, "approvals").out == "Nothing is allowed in advance.\n"
    again = talaria(home, "approvals", "revoke", "1")
    assert (again.code, again.err) == (
        1,
        "There is no approval 1; `talaria approvals list` lists them.\n",
    )
    wrong = talaria(home, "approvals", "revoke", "one")
    assert wrong.code == 2
    assert "'one' is not the number of an approval" in wrong.err


async def test_a_running_gateway_asks_again_and_the_audit_shows_who_revoked(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await make_home(home)
    async with served(home) as running:
        done = await talaria_beside(home, "approvals", "revoke", "1")
        assert done.code == 0, done.err
        deeds = await running.gateway.database.read(
            lambda c: c.execute(
                "SELECT action, actor, detail FROM audit ORDER BY id DESC LIMIT 1"
            ).fetchone()
        )
    assert tuple(deeds) == ("approval.revoke", "house", SHAPE)
