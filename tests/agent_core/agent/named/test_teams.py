"""A team works on a task: who speaks when, what ends it, and what it costs."""

import json
from pathlib import Path

import pytest

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.team_run import find_called
from agent_core.models.contract import Usage
from agent_core.state.conversations import turns
from agent_core.transcript import Message, TextPart
from tests.agent_core.agent.bench import Bench
from tests.agent_core.agent.named.agent_folders import make_message_tool, write
from tests.fakes.model import Play, ask, call, finish, say
from tests.fakes.tool import FakeTool


def form(home: Path, name: str, text: str) -> None:
    place = home / "teams"
    place.mkdir(exist_ok=True)
    (place / f"{name}.toml").write_text(text)


def give(text: str = "Write the news", team: str = "desk", call_id: str = "c1") -> Play:
    """An answer that gives a task to a team."""
    given = {"mode": "team", "to": team, "text": text}
    return ask(call("message_agent", json.dumps(given), call_id))


def question(to: str, text: str = "Go on", call_id: str = "q1") -> Play:
    given = {"mode": "ask", "to": to, "text": text}
    return ask(call("message_agent", json.dumps(given), call_id))


def paid(text: str) -> Play:
    """An answer that costs a cent."""
    usage = Usage(input_tokens=10_000)
    return [finish(TextPart(text=text), usage=usage, model="good")]


async def result(bench: Bench) -> str:
    """The result of the newest call in the person's own conversation."""
    said: list[Message] = [one for one in await bench.transcript() if one.role == "tool"]
    return "".join(part.text for part in said[-1].parts)


def speakers(bench: Bench) -> list[str]:
    """The agents that answered, in their order; "" is the assistant itself."""
    heads = [request.system.split(".")[0] for request in bench.model.requests]
    return [head.removeprefix("You are ") if head.startswith("You are ") else "" for head in heads]


@pytest.fixture
def home(bench: Bench) -> Path:
    for name, table in (
        ("editor", 'tools = ["message_agent"]'),
        ("writer", 'tools = ["look"]\ntags = ["press"]'),
        ("checker", 'tools = ["look"]\ntags = ["facts"]'),
    ):
        write(bench.home, name, table)
    bench.hire(make_message_tool(bench.home), helper=(FakeTool("look"),))
    return bench.home


async def test_a_supervisor_asks_the_members_and_sums_up(bench: Bench, home: Path) -> None:
    form(home, "desk", 'supervisor = "editor"\nmembers = ["writer", "checker"]')
    ended = await bench.ask(
        "go",
        give(),
        question("writer"),
        say("A draft."),
        question("checker", call_id="q2"),
        say("All true."),
        say("The news, checked."),
        say("Here it is."),
    )
    assert ended.text == "Here it is."
    assert speakers(bench)[1:6] == ["editor", "writer", "editor", "checker", "editor"]
    assert await result(bench) == "## editor, for the team desk\nThe news, checked."
    order = bench.model.requests[1].messages[-1].text
    assert "You lead the team desk. " in order
    assert "The members:\n- writer [press]\n- checker [facts]\n\nThe task: Write the news" in order


async def test_a_supervisor_that_never_stops_ends_with_a_sentence(bench: Bench, home: Path) -> None:
    form(home, "desk", 'supervisor = "editor"\nmembers = ["writer"]\nrounds = 2')
    plays = [give()]
    for number in range(3):
        plays += [question("writer", call_id=f"q{number}"), say(f"Draft {number}.")]
    await bench.ask("go", *plays, say("It was cut short."), say("Told."))
    assert speakers(bench).count("editor") == 4, "three steps, and a last word without tools"
    assert (await result(bench)).endswith(
        "[The team desk stopped: it has used its 2 rounds. Tell the person so.]"
    )
    assert "It was cut short." in await result(bench)


async def test_members_speak_in_turn_until_nobody_has_more(bench: Bench, home: Path) -> None:
    form(home, "desk", 'manager = "round_robin"\nmembers = ["writer", "checker"]\nrounds = 5')
    drafts = [say("A draft."), say("One mistake."), say("Mended."), say("PASS")]
    await bench.ask("go", give(), *drafts, say("PASS."), say("PASS"), say("Here it is."))
    assert speakers(bench)[1:-1] == ["writer", "checker"] * 3
    assert await result(bench) == (
        "## writer, round 1\nA draft.\n\n## checker, round 1\nOne mistake.\n\n"
        "## writer, round 2\nMended."
    )
    first, later = (bench.model.requests[number].messages[-1].text for number in (1, 3))
    assert ("PASS" in first, "PASS" in later) == (False, True)
    heard = bench.model.requests[3].messages[-1].text
    assert "writer said:\nA draft.\n\nchecker said:\nOne mistake." in heard


async def test_a_free_talk_goes_on_with_those_who_are_called(bench: Bench, home: Path) -> None:
    form(home, "desk", 'manager = "free"\nmembers = ["editor", "writer", "checker"]')
    await bench.ask(
        "go",
        give("@press shall write"),
        say("A draft. @facts is that so?"),
        say("Yes. @editor your word?"),
        say("Print it."),
        say("Here it is."),
    )
    assert speakers(bench)[1:-1] == ["writer", "checker", "editor"]
    assert (await result(bench)).endswith("## editor, round 3\nPrint it.")


async def test_a_free_talk_without_end_stops_after_its_rounds(bench: Bench, home: Path) -> None:
    form(home, "desk", 'manager = "free"\nmembers = ["writer", "checker"]\nrounds = 2')
    talk = [say("@facts?"), say("@press!"), say("@facts?")]
    await bench.ask("go", give("@writer go"), *talk[:2], say("Here it is."))
    assert speakers(bench)[1:-1] == ["writer", "checker"]
    assert (await result(bench)).endswith(
        "[The team desk stopped after 2 contributions: it has used its 2 rounds. Tell the person"
        " so.]"
    )


async def test_the_steps_of_all_members_count_together(bench: Bench, home: Path) -> None:
    form(
        home,
        "desk",
        'manager = "round_robin"\nmembers = ["writer", "checker"]\nrounds = 9\nsteps = 3',
    )
    drafts = [say("One."), say("Two."), say("Three.")]
    await bench.ask("go", give(), *drafts, say("Here it is."))
    assert (await result(bench)).endswith(
        "[The team desk stopped after 3 contributions: it has used its 3 steps. Tell the person"
        " so.]"
    )


@pytest.mark.parametrize(
    ("order", "talk"),
    [
        ('manager = "round_robin"\nmembers = ["writer", "checker"]', ["One.", "Two."]),
        ('manager = "free"\nmembers = ["writer", "checker"]', ["@facts?", "@press!"]),
    ],
)
async def test_the_money_of_all_members_counts_together(
    bench: Bench, home: Path, order: str, talk: list[str]
) -> None:
    form(home, "desk", f"{order}\nrounds = 9\ndollars = 0.02")
    await bench.ask("go", give("@writer go"), *map(paid, talk), say("Here it is."))
    assert speakers(bench)[1:-1] == ["writer", "checker"]
    assert (await result(bench)).endswith(
        "[The team desk stopped after 2 contributions: it has used its $0.02. Tell the person so.]"
    )


async def test_the_money_of_a_member_counts_for_its_supervisor(bench: Bench, home: Path) -> None:
    form(home, "desk", 'supervisor = "editor"\nmembers = ["writer"]\nrounds = 9\ndollars = 0.01')
    await bench.ask(
        "go", give(), question("writer"), paid("A draft."), say("It was cut short."), say("Told.")
    )
    assert speakers(bench)[1:-1] == ["editor", "writer", "editor"]
    assert (await result(bench)).endswith(
        "[The team desk stopped: it has used its $0.01. Tell the person so.]"
    )


async def test_a_team_that_is_missing_or_broken_is_one_sentence(bench: Bench, home: Path) -> None:
    form(home, "desk", 'supervisor = "editor"\nmembers = ["nobody"]')
    await bench.ask("go", give(), say("No."))
    assert await result(bench) == (
        "`message_agent` was not run: the team desk can't be used: there is no agent nobody."
    )
    form(home, "deep", "members = " + "[" * 9_000)
    await bench.ask("go", give(team="deep", call_id="c3"), say("No."))
    assert "its file is nested too deeply" in await result(bench)
    await bench.ask("go", give(team="dsk", call_id="c2"), say("No."))
    assert "there is no team dsk (did you mean desk?)" in await result(bench)


async def test_a_team_with_a_broken_member_is_refused(bench: Bench, home: Path) -> None:
    form(home, "desk", 'manager = "round_robin"\nmembers = ["writer", "checker"]\nrounds = 1')
    (home / "agents" / "writer" / "SOUL.md").write_text("")
    await bench.ask("go", give(), say("No."))
    assert "SOUL.md is empty" in await result(bench)


async def test_each_contribution_is_one_turn(bench: Bench, home: Path) -> None:
    form(home, "desk", 'manager = "round_robin"\nmembers = ["writer", "checker"]\nrounds = 1')
    await bench.ask("go", give(), say("One."), say("Two."), say("Here it is."))
    found = await bench.database.read(lambda c: turns.list_recent(c, limit=9))
    assert [turn.state for turn in found] == ["answered"] * 3


def test_who_is_called_is_read_from_names_and_tags() -> None:
    people = [
        NamedAgent(name="ann", soul="", tags=("press",)),
        NamedAgent(name="ben", soul="", tags=("press", "law")),
        NamedAgent(name="cleo", soul=""),
    ]
    assert find_called("@press and @cleo!", "ann", people) == ["ben", "cleo"]
    assert find_called("mail me at a@cleo.org, @@ben", "", people) == []
    assert find_called("@nobody", "", people) == []
