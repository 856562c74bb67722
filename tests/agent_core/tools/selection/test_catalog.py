"""Tools that are not in the prompt: which they are, how they are found, and how they run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from agent_core.events import ToolStarted
from agent_core.ids import CallId, PersonId
from agent_core.tools.contract import Tool, ToolResult
from agent_core.tools.selection.built_in import PROMPT_TOOLS
from agent_core.tools.selection.catalog import MOST_IN_PROMPT, SEARCH_TOOL, USE_TOOL, rank, unwrap
from agent_core.tools.toolbox import Toolbox, ToolSetup
from agent_core.transcript import Message, ToolCallPart, ToolResultPart, ToolSpec
from tests.agent_core.agent.loop.rig import HELLO, Rig
from tests.agent_core.tools.toolbox_calls import CONTEXT, run
from tests.fakes.model import ask, call, say
from tests.fakes.tool import FakeTool

SHOWN = tuple(name for name in PROMPT_TOOLS if name != "gather")
RARE = ("process", "send_file", "todo", "delegate_task")


@dataclass
class Source:
    """A source whose tools change between two looks."""

    tools: list[Tool] = field(default_factory=list)
    asked: list[PersonId] = field(default_factory=list)

    async def list_tools(self, person_id: PersonId) -> Sequence[Tool]:
        self.asked.append(person_id)
        return tuple(self.tools)


def tool(name: str, description: str) -> FakeTool:
    made = FakeTool(name)
    made.spec = ToolSpec(name=name, description=description, schema=made.spec.schema)
    return made


def full(source: Source | None = None) -> tuple[Toolbox, dict[str, FakeTool]]:
    tools = {name: FakeTool(name) for name in (*RARE, *reversed(SHOWN))}
    setup = ToolSetup(sources=(source,) if source else ())
    return Toolbox(list(tools.values()), setup=setup), tools


def test_the_prompt_never_holds_more_than_eighteen_tools() -> None:
    everything = Toolbox([FakeTool(name) for name in (*RARE, *PROMPT_TOOLS)])
    assert len(everything.specs) == MOST_IN_PROMPT == 18
    assert [spec.name for spec in everything.specs][-2:] == [SEARCH_TOOL, USE_TOOL]
    assert "ask" not in [spec.name for spec in everything.specs], "a job has nobody to ask"


def test_a_lean_prompt_leaves_out_rare_tools_even_if_there_is_room() -> None:
    tools = [FakeTool("todo"), FakeTool("dice"), FakeTool("memory")]
    lean = Toolbox(tools, setup=ToolSetup(hides_rare=True))
    assert [spec.name for spec in lean.specs] == ["memory", "dice", SEARCH_TOOL, USE_TOOL]
    assert [spec.name for spec in lean.restrict_to(["todo"]).specs] == ["todo"]


def test_with_too_many_tools_the_rare_ones_stay_out_of_the_prompt() -> None:
    toolbox, _ = full()
    assert [spec.name for spec in toolbox.specs] == [*SHOWN, SEARCH_TOOL, USE_TOOL]
    search = next(spec for spec in toolbox.specs if spec.name == SEARCH_TOOL)
    assert all(name in search.description for name in RARE)


def test_tools_that_fit_are_all_in_the_prompt_in_the_same_order() -> None:
    tools = [FakeTool("todo"), FakeTool("recall"), FakeTool("memory")]
    assert [spec.name for spec in Toolbox(tools).specs] == ["memory", "recall", "todo"]


def test_tools_of_a_source_are_never_in_the_prompt() -> None:
    source = Source([FakeTool("github__make_issue")])
    toolbox = Toolbox([FakeTool("memory")], setup=ToolSetup(sources=(source,)))
    assert [spec.name for spec in toolbox.specs] == ["memory", SEARCH_TOOL, USE_TOOL]
    assert source.asked == []


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("open an issue on a repository", "github__create_issue"),
        ("weather forecast", "weather__forecast"),
        ("resize pictures", "image__scale"),
        ("weather__forecast", "weather__forecast"),
    ],
)
def test_a_search_ranks_by_names_and_descriptions(query: str, best: str) -> None:
    tools = [
        tool("github__create_issue", "Create an issue in a repository"),
        tool("github__list_issues", "List all that is open, in a long text about much else"),
        tool("weather__forecast", "Forecast for a place, in three days"),
        tool("image__scale", "Resize a picture to a width"),
        tool("calendar__list", "List what is planned"),
    ]
    assert rank(query, tools)[0].spec.name == best


def test_a_search_without_any_fit_finds_nothing() -> None:
    assert rank("quantum", [tool("weather__forecast", "Forecast for a place")]) == []


async def test_a_search_shows_schemas_and_names_the_others_in_a_line() -> None:
    source = Source([tool(f"files__read_{n}", f"Read file number {n}") for n in range(6)])
    toolbox, _ = full(source)
    result = await run(toolbox, SEARCH_TOOL, '{"query": "read file"}')
    assert result.text.count("Arguments: ") == 3
    assert result.text.count("\n- ") == 5
    assert "mcp:files" in result.sources, "a server wrote these descriptions"


async def test_a_search_among_own_tools_reads_no_words_of_others() -> None:
    toolbox, _ = full()
    result = await run(toolbox, SEARCH_TOOL, '{"query": "todo"}')
    assert result.text.startswith("## todo\n")
    assert result.sources == ()


async def test_a_search_that_fits_nothing_names_what_there_is() -> None:
    toolbox, _ = full()
    text = (await run(toolbox, SEARCH_TOOL, '{"query": "xylophone"}')).text
    assert all(name in text for name in RARE)


def test_a_wrapped_call_stands_for_the_real_one() -> None:
    outer = ToolCallPart(
        call_id=CallId("c1"), name=USE_TOOL, arguments='{"name": "todo", "arguments": {"n": 1}}'
    )
    assert unwrap(outer) == replace(outer, name="todo", arguments='{"n": 1}')
    bare = replace(outer, arguments='{"name": "todo"}')
    assert unwrap(bare).arguments == "{}"


@pytest.mark.parametrize(
    "arguments",
    ["", "[]", "{", '{"name": 1}', '{"name": "a", "arguments": "b"}', '{"name": "use_tool"}', "7"],
)
def test_a_malformed_wrapped_call_stays_as_it_is(arguments: str) -> None:
    outer = ToolCallPart(call_id=CallId("c1"), name=USE_TOOL, arguments=arguments)
    assert unwrap(outer) == outer


async def test_a_malformed_wrapped_call_is_explained() -> None:
    toolbox, _ = full()
    missing = await run(toolbox, USE_TOOL, '{"arguments": {}}')
    assert missing == ToolResult(text="`use_tool` was not run: `name` is missing.", is_error=True)
    itself = await run(toolbox, USE_TOOL, '{"name": "use_tool", "arguments": {}}')
    assert itself.is_error


def wrapped(name: str, **arguments: object) -> ToolCallPart:
    return call(USE_TOOL, json.dumps({"name": name, "arguments": arguments}), call_id="w1")


async def test_the_loop_runs_the_real_tool_and_answers_the_wrapped_call() -> None:
    toolbox, tools = full()
    rig = Rig(ask(wrapped("todo", plan=[])), say("done"))
    rig.toolbox = toolbox
    events = await rig.run()
    ((arguments, context),) = tools["todo"].asked
    assert (arguments, context.call_id) == ({"plan": []}, "w1")
    part = rig.model.requests[-1].messages[-1].parts[0]
    assert isinstance(part, ToolResultPart)
    assert (part.call_id, part.name, part.text) == ("w1", USE_TOOL, "todo done 1")
    assert [event.name for event in events if isinstance(event, ToolStarted)] == ["todo"]
    assert rig.journal.kinds[:3] == ["answer", "begin", "result"], "its intent is on disk first"


async def test_an_unknown_name_is_answered_with_the_nearest_ones() -> None:
    toolbox, _ = full()
    rig = Rig(ask(wrapped("delegate_tasks")), say("done"))
    rig.toolbox = toolbox
    await rig.end()
    result = rig.journal.results[CallId("w1")]
    assert result.is_error
    assert "There is no tool `delegate_tasks`. Did you mean `delegate_task`?" in result.text


async def test_a_tool_that_appears_later_runs_in_the_same_turn() -> None:
    source = Source()
    toolbox, _ = full(source)
    mine = toolbox.open()
    assert (await run(mine, "github__make_issue")).is_error
    made = FakeTool("github__make_issue", effect="unsafe")
    source.tools.append(made)
    await mine.load(["github__make_issue"], PersonId(1), PersonId(1))
    assert mine.effect("github__make_issue") == "unsafe"
    assert (await run(mine, "github__make_issue")).text == "github__make_issue done 1"
    assert mine.specs == toolbox.specs, "the prompt stays as it is"
    assert source.asked == [CONTEXT.person_id]


async def test_an_interrupted_call_of_a_tool_that_is_gone_is_not_repeated() -> None:
    toolbox, _ = full(Source())
    rig = Rig(say("done"))
    rig.toolbox = toolbox
    asked = Message(role="assistant", parts=(wrapped("github__make_issue"),))
    await rig.run((HELLO, asked), own=2, begun=["w1"])
    assert "not known whether this call took effect" in rig.journal.results[CallId("w1")].text


async def test_a_tool_that_is_off_is_not_shown_found_or_run() -> None:
    toolbox, _ = full()
    mine = toolbox.open(off=["terminal", "todo"])
    assert "terminal" not in [spec.name for spec in mine.specs]
    found = await run(mine, SEARCH_TOOL, '{"query": "todo"}')
    assert found.text.startswith("No tool fits `todo`. There are: process, ")
    assert "terminal" not in found.text
    assert found.text.count("todo") == 1
    for name in ("terminal", "todo"):
        refused = await run(mine, name)
        assert refused.text == f"`{name}` is switched off here; `/tools` switches it on."


def test_a_prompt_stays_in_use_when_tools_are_switched() -> None:
    toolbox, _ = full()
    before = toolbox.specs
    assert toolbox.open(off=["terminal", "todo"]).still_offers(before)
    without = toolbox.open(off=["terminal"]).specs
    assert toolbox.open().still_offers(without), "the search finds what is back"


def test_a_prompt_is_built_anew_when_a_tool_has_changed_or_is_gone() -> None:
    toolbox, _ = full()
    changed = [tool("memory", "does it in another way"), *map(FakeTool, (*SHOWN[1:], *RARE))]
    assert not Toolbox(changed).still_offers(toolbox.specs)
    gone = [FakeTool(name) for name in (*SHOWN[1:], *RARE)]
    assert not Toolbox(gone).still_offers(toolbox.specs)
    few = Toolbox([FakeTool("memory")])
    assert not Toolbox([FakeTool("memory"), FakeTool("new")]).still_offers(few.specs)
