"""What owners accepted of a server, and what ends with it."""

from pathlib import Path

from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.tools.mcp.pins import accept_tools, forget_server, read_pins
from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.shapes import shape_of
from tests.databases import open_database


async def test_a_standing_approval_ends_with_the_tool_it_was_given_to(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "state.db")

    def work(connection: Connection) -> None:
        ada = people.insert(connection, slug="ada", name="Ada", role="owner", now=1).id

        def list_allowed() -> list[str]:
            found = approvals.list_of(connection, person_id=ada)
            return sorted(one.shape.partition('"')[2].partition('"')[0] for one in found)

        accept_tools(connection, "notes", {"add": ["1"], "drop": ["1"]})
        accept_tools(connection, "mail", {"send": ["1"]})
        for tool in ("notes__add", "notes__drop", "mail__send"):
            place = f"mcp:{tool.partition('__')[0]}"
            shape = shape_of(tool, Action(kind="run", target=f"{tool} {{}}", place=place))
            allowed = NewApproval(person_id=ada, decided_by=ada, scope="always", subject=shape)
            approvals.insert(connection, allowed, now=1)
        once = NewApproval(
            person_id=ada, decided_by=ada, scope="once", subject="ab12", expires_at=99
        )
        approvals.insert(connection, once, now=1)

        accept_tools(connection, "notes", {"add": ["1"]})  # the same tool, shown again
        assert list_allowed() == ["mail__send", "notes__add", "notes__drop"]
        accept_tools(connection, "notes", {"add": ["2"]})
        assert list_allowed() == ["mail__send", "notes__drop"]
        forget_server(connection, "notes")
        assert list_allowed() == ["mail__send"]
        assert read_pins(connection, "notes").accepted == {}
        assert approvals.use(connection, person_id=ada, digest="ab12", now=2)

    await database.write("test", work)
    await database.close()
