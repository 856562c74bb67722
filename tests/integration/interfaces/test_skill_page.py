"""The page of a skill: its last test, its uses by week, and the history of its state."""

from dataclasses import replace

from agent_core.skills.evaluation.record import CaseRun, EvalRecord, dump_record
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skill_uses, skills
from agent_core.state.memory.ledger import Change, Origin
from agent_core.state.queues import skill_tests, tasks
from tests.agent_core.skills.skill_folders import write_skill, write_text
from tests.integration.interfaces.api_setup import ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse, browse_as
from tests.integration.interfaces.page_texts import find_row, read

WEEK = 7 * 86_400_000
RUNS = (
    CaseRun(
        case="turn-1", arm="without", passed=False, steps=3, tokens=900, why="lacks 'bluefish'"
    ),
    CaseRun(case="turn-1", arm="with", passed=True, steps=2, tokens=600),
    CaseRun(case="turn-2", arm="without", passed=None),
)
RECORD = EvalRecord(name="tidy", text_row=0, cases=("turn-1", "turn-2"), runs=RUNS)


def find_text(connection: Connection) -> tuple[int, int, int]:
    """The number of the skill, the row of its text, and the team."""
    row, team = skills.find(connection, name="tidy"), blocks.find_team(connection)
    assert row is not None
    assert team is not None
    text_row = skill_changes.find_text_row(connection, person_id=team, skill_id=row.id)
    assert text_row is not None
    return row.id, text_row, team


async def test_a_skill_shows_its_last_test_case_by_case(setup: Setup) -> None:
    database, zebrana = setup.served.gateway.database, await find_named(setup, "zebrana")
    write_skill(setup.home / "skills", "tidy", "Sort the letters.")
    evals = setup.home / "skills" / "tidy" / "evals" / "evals.json"
    async with browse(setup.served) as session:
        text = await read(session, "/skills/tidy")
        assert "This version has not been tested." in text
        assert "0 test cases are stored for this skill." in text
        evals.parent.mkdir()
        evals.write_text('{"evals": [{"id": "a", "prompt": "x"}]}')

        def begin(connection: Connection) -> None:
            skill_id, text_row, _ = find_text(connection)
            skill_tests.enqueue(
                connection,
                skill=(skill_id, "tidy", text_row),
                person_id=zebrana.id,
                cause="asked",
                now=1,
            )
            save(connection, RECORD)

        await database.write("test", begin)
        text = await read(session, "/skills/tidy")
        assert "1 test case is stored for this skill." in text
        assert "The test is running: 3 of at most 56 attempts are done." in text
        assert find_row(text, "turn-1") == [
            "0 of 1 right",
            "3",
            "900",
            "1 of 1 right",
            "2",
            "600",
        ]
        assert find_row(text, "turn-2") == [
            "could not be repeated",
            "0",
            "0",
            "not tried yet",
            "0",
            "0",
        ]
        assert find_row(text, "Total")[0::3] == ["0 of 1 right", "1 of 1 right"]
        assert "bluefish" not in text
        over = replace(RECORD, result="few", reason="1 of 3 cases")
        await database.write("test", lambda c: save(c, over))
        text = await read(session, "/skills/tidy")
        assert "Result: <strong>too few cases</strong>" in text
        evals.write_text("[]")
        async with session.get("/skills/tidy") as answer:
            assert answer.status == 409
            assert "evals.json must be an object with a list" in (await answer.text()).replace(
                "&#34;", '"'
            )


def save(connection: Connection, record: EvalRecord) -> None:
    """Keep what the newest test has found out so far."""
    task = connection.execute("SELECT MAX(id) FROM tasks WHERE kind = 'skill_test'").fetchone()
    tasks.save(connection, task_id=task[0], payload=dump_record(record))


async def test_a_skill_shows_the_outcomes_of_each_week(setup: Setup) -> None:
    gateway = setup.served.gateway
    now = gateway.now()
    write_skill(setup.home / "skills", "tidy", "Sort the letters.")
    newest = await gateway.database.read(turns.find_newest)
    assert newest >= 4
    async with browse(setup.served) as session:
        assert "Not used in the last 12 weeks." in await read(session, "/skills/tidy")

        def use(connection: Connection) -> None:
            outcomes = (("done", 0), ("corrected", 0), ("void", 1), ("liked", 1))
            for number, (outcome, weeks) in enumerate(outcomes):
                turn_id, at = turns.find_newest(connection) - number, now - weeks * WEEK
                skill_uses.note(connection, name="tidy", turn_id=turn_id, now=at)
                skill_uses.end(connection, turn_id=turn_id, outcome=outcome, now=at)

        await gateway.database.write("test", use)
        text = await read(session, "/skills/tidy")
    table = text.partition("Table by week</summary>")[2].partition("</table>")[0]
    rows = [row.partition("</tr>")[0] for row in table.split('<th scope="row">')[1:]]
    cells = [row.partition("</th>")[2] for row in rows]
    assert cells[:3] == [
        "<td>1</td><td>1</td><td>0</td>",
        "<td>1</td><td>0</td><td>1</td>",
        "<td>0</td><td>0</td><td>0</td>",
    ]
    assert len(cells) == 12
    assert text.count("<title>") == 1 + 12


async def test_a_skill_shows_how_its_state_changed_and_why(setup: Setup) -> None:
    gateway = setup.served.gateway
    write_skill(setup.home / "skills", "tidy", "Sort the letters.")
    async with browse(setup.served) as session:
        assert "The state of this skill has never changed." in await read(session, "/skills/tidy")

        def change(connection: Connection) -> None:
            skill_id, _, team = find_text(connection)
            skills.set_state(connection, name="tidy", state="draft")
            for state, why in (("trial", "its test passed"), ("active", "9 of 9 uses went well")):
                skill_changes.set_state(
                    connection,
                    name="tidy",
                    state=state,
                    why=why,
                    origin=Origin(actor="tests", now=1_790_000_000_000),
                )
            ledger.record(
                connection,
                person_id=team,
                target="skill",
                change=Change(operation="replace", position=skill_id, before="b", after="a"),
                origin=Origin(
                    actor="tests",
                    now=1_790_000_000_000,
                    evidence="rolled back to version 1: 3 of 4 uses went badly",
                ),
            )

        await gateway.database.write("test", change)
        async with browse_as(setup.served, setup.chat, ZEBRANA) as member:
            text = await read(member, "/skills/tidy")
    history = text.partition('<h2 id="history">')[2].partition("</table>")[0]
    for words in (
        "<td>from “draft” to “on trial”</td><td>its test passed</td>",
        "<td>from “on trial” to “active”</td><td>9 of 9 uses went well</td>",
        "<td>back to version 1</td><td>3 of 4 uses went badly</td>",
    ):
        assert words in history, history
    assert history.index("back to version") < history.index("to “active”")


async def test_a_skill_counts_the_changes_and_versions_that_it_does_not_show(setup: Setup) -> None:
    place = write_skill(setup.home / "skills", "tidy", "Sort the letters.")
    async with browse(setup.served) as session:
        for number in range(22):
            write_text(place, "tidy", f"Sort the letters of {number}.")
            text = await read(session, "/skills/tidy")
        assert "2 earlier versions are not shown." in text
        assert "earlier change" not in text

        def change(connection: Connection) -> None:
            for number in range(52):
                skill_changes.set_state(
                    connection,
                    name="tidy",
                    state=("trial", "active")[number % 2],
                    why=f"reason {number}",
                    origin=Origin(actor="tests", now=1_790_000_000_000),
                )

        await setup.served.gateway.database.write("test", change)
        text = await read(session, "/skills/tidy")
    assert "2 earlier changes are not shown." in text
    assert "reason 51<" in text
    assert "reason 1<" not in text
