"""A newsroom in a chat: agents and teams are made, work on a task, and stay apart per person."""

from collections.abc import Callable

import pytest

from tests.emulators.streaming import Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.stage import Harness, Stage, call, calls, heard, make_owner, results, system_of

WRITER = "You write short, warm texts."
CHECKER = "You look for mistakes."
EDITOR = "You lead a newsroom."


def found_tool(tool: str, **arguments: object) -> Json:
    """A call of a tool that is found by search."""
    wanted = {"name": tool, "arguments": arguments}
    return {"type": "tool_use", "name": "use_tool", "input": wanted}


def let_newsroom_work(stage: Stage) -> None:
    """Answer the three agents; everything else is answered as planned."""
    planned: Callable[[Json], Reply] = stage.model.answer
    asked = iter(["writer", "checker"])

    def answer(body: Json) -> Reply:
        system = system_of(body)
        if system.startswith(WRITER):
            return text_answer("Warm water is back on Friday.")
        if system.startswith(CHECKER):
            return text_answer("All is well.")
        if not system.startswith(EDITOR):
            return planned(body)
        member = next(asked, "")
        if member:
            return calls(found_tool("message_agent", mode="ask", to=member, text="Your part"))
        return text_answer("Dear neighbours, warm water is back on Friday at 8.")

    stage.model.answer = answer


async def hire_newsroom(harness: Harness) -> None:
    for name, soul in (("writer", WRITER), ("checker", CHECKER), ("editor", EDITOR)):
        told = await harness.ask(ANNA, f"/agents new {name} {soul}")
        assert told.startswith(f"The agent “{name}” is ready.")
    assert "is ready" in await harness.ask(ANNA, "/team new desk editor: writer, checker")


async def test_an_owner_makes_a_newsroom_and_gives_it_a_task(stage: Stage) -> None:
    async with stage.open() as harness:
        assert "Only an owner" in await harness.ask(BEN, "/agents new writer You write.")
        await harness.ask(ANNA, "hello")
        await make_owner(harness, "Anna")
        await hire_newsroom(harness)
        assert "editor leads writer, checker" in await harness.ask(ANNA, "/team")
        assert "At most 3 rounds and 40 steps" in await harness.ask(ANNA, "/team desk")
        stage.plan(
            calls(found_tool("message_agent", mode="team", to="desk", text="A note")), "Here it is."
        )
        let_newsroom_work(stage)
        assert await harness.ask(ANNA, "/team desk Write a note") == "Here it is."
        (result,) = results(stage.turns[-1])
        assert "Dear neighbours" in result


async def test_what_is_wrong_in_a_chat_is_one_sentence_and_changes_nothing(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        await make_owner(harness, "Anna")
        await hire_newsroom(harness)
        for said, told in (
            ("/agents new writer You sing.", "There is an agent writer already"),
            ("/agents new Bad! You sing.", "is no name"),
            ("/agents change writer tools lok", "There is no tool lok"),
            ("/agents change writer colour red", "The fields are: description, model"),
            ("/agents archive writer", "The agent writer belongs to the team desk"),
            ("/agents archive nobody", "There is no agent nobody"),
            ("/team new desk2 boss: writer", "There is no agent boss"),
            ("/team new desk2", "/team NAME TASK: give a team a task"),
            ("/team change desk rounds 99", "Rounds must be a number from 1 to 20"),
            ("/team change desk dollars 0.0000001", "In dollars, it is too small to be counted"),
            ("/team change desk rounds many", "The rounds must be a number"),
            ("/team change desk manager boss", "The manager must be one of supervisor"),
            ("/team change desk blocks news", "There is no memory block news"),
            ("/team move writer desk radio", "There is no team radio"),
            ("/team dsk write", "There is no team dsk (did you mean desk?)"),
        ):
            assert told in await harness.ask(ANNA, said), said
        assert "editor leads writer, checker" in await harness.ask(ANNA, "/team")


@pytest.mark.parametrize("way", ["command", "tool"])
async def test_an_agent_that_moves_keeps_its_memory_and_its_conversation(
    stage: Stage, way: str
) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        await make_owner(harness, "Anna")
        await hire_newsroom(harness)
        await harness.ask(ANNA, "/team new radio checker, editor")
        await harness.ask(ANNA, "/agents use writer")
        note = call("memory", action="add", target="user", text="Drinks green tea")
        stage.plan(calls(note), "Noted.")
        await harness.ask(ANNA, "I drink green tea, and my cat is Tom")
        if way == "command":
            told = await harness.ask(ANNA, "/team move writer desk radio")
            assert (
                told
                == "The agent “writer” has moved from the team “desk” to “radio”, with everything"
                " it remembers."
            )
        else:
            moved = found_tool(
                "manage_agents", action="move", name="writer", source="desk", target="radio"
            )
            await harness.ask(ANNA, "/agents use default")
            stage.plan(calls(moved), "It has moved.")
            assert await harness.ask(ANNA, "move the writer to the radio") == "It has moved."
            await harness.ask(ANNA, "/agents use writer")
        teams = await harness.ask(ANNA, "/team")
        assert "editor leads checker" in teams
        assert "checker, editor, writer" in teams
        await harness.ask(ANNA, "what is my cat called?")
        said = ["I drink green tea, and my cat is Tom", "what is my cat called?"]
        assert heard(stage.turns[-1]) == said
        await harness.ask(ANNA, "/new")
        await harness.ask(ANNA, "what do I drink?")
        assert system_of(stage.turns[-1]).startswith(WRITER)
        assert "Drinks green tea" in system_of(stage.turns[-1])


async def test_an_archived_agent_gives_its_chat_back(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        await make_owner(harness, "Anna")
        await harness.ask(ANNA, "/agents new writer You write.")
        await harness.ask(ANNA, "/agents use writer")
        assert "I answer again" in await harness.ask(ANNA, "/agents archive writer")
        assert await harness.ask(ANNA, "hello again") == "echo: hello again"
        assert "The agent “writer” is back" in await harness.ask(ANNA, "/agents restore writer")


async def test_an_owner_makes_an_agent_in_their_own_words(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        await make_owner(harness, "Anna")
        made = found_tool("manage_agents", action="create", name="writer", soul=WRITER)
        stage.plan(calls(made), "The writer is there.")
        await harness.ask(ANNA, "make an agent that writes")
        assert (stage.home / "agents" / "writer" / "SOUL.md").read_text() == WRITER
        many = [
            found_tool("manage_agents", action="create", name=f"a{number}", soul="More.")
            for number in range(12)
        ]
        stage.plan(*(calls(one) for one in many), "That is enough.")
        await harness.ask(ANNA, "make agents without end")
        made_now = sorted(one.name for one in (stage.home / "agents").iterdir())
        assert len(made_now) == 9, "eight in one answer"
        assert any("at most 8 times" in text for text in results(stage.turns[-1]))


async def test_a_member_s_wish_waits_for_an_owner(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        await make_owner(harness, "Anna")
        for label, is_made in (("Refuse", False), ("Approve", True)):
            made = found_tool("manage_agents", action="create", name="writer", soul=WRITER)
            stage.plan(calls(made), "I asked.")
            anna = stage.account("telegram", ANNA)
            await stage.telegram.says(BEN, "make me a writer")
            await harness.asks(anna, label)
            assert "wants to change the agents" in anna.seen()[-1].text
            await harness.press(anna, label)
            await harness.at_rest()
            assert (stage.home / "agents" / "writer").exists() == is_made


async def test_two_people_share_a_team_and_no_words(stage: Stage) -> None:
    async with stage.open() as harness:
        for person in (ANNA, BEN):
            await harness.ask(person, "hello")
        await make_owner(harness, "Anna")
        await hire_newsroom(harness)
        await harness.ask(ANNA, "my secret is plum")
        give = calls(found_tool("message_agent", mode="team", to="desk", text="About me"))
        stage.plan(give, "Done.")
        let_newsroom_work(stage)
        await harness.ask(BEN, "/team desk Write about me")
        assert "plum" not in str(stage.turns[-6:])


async def test_an_agent_that_is_archived_in_words_gives_its_chat_back(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        await make_owner(harness, "Anna")
        await harness.ask(ANNA, "/agents new writer You write.")
        await harness.ask(ANNA, "/agents use writer")
        assert await harness.ask(ANNA, "hello writer") == "echo: hello writer"
        put_away = found_tool("manage_agents", action="archive", name="writer")
        stage.plan(calls(put_away), "It is away.")
        assert await harness.ask(ANNA, "put the writer away") == "It is away."
        assert await harness.ask(ANNA, "hello again") == "echo: hello again"
