"""Commands of one person run side by side, a few at a time; the others wait before they begin."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent_core.tools.policy.approval_requests import ApprovalRequest
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.workspace.places import MOST_IN_ALL, MOST_OF_PERSON, CommandPlaces
from agent_core.transcript import ToolCallPart
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.agent_core.tools.workspace.desk import Desk

MEET = (
    "touch {0}; for i in $(seq 400); do [ $(ls meet* | wc -l) = {1} ] && echo met && exit;"
    " sleep 0.05; done"
)


@needs_bubblewrap
@pytest.mark.process
async def test_commands_of_one_person_run_side_by_side(desk: Desk) -> None:
    """Each command waits until all of them run."""
    words = [MEET.format(f"meet{number}", MOST_OF_PERSON) for number in range(MOST_OF_PERSON)]
    said = await asyncio.gather(
        *(
            desk.use("terminal", conversation=number % 2 + 1, command=text)
            for number, text in enumerate(words)
        )
    )
    assert [one.text for one in said] == ["met"] * MOST_OF_PERSON


@needs_bubblewrap
@pytest.mark.process
async def test_a_command_sees_the_files_that_the_same_answer_wrote_before(desk: Desk) -> None:
    for number in range(20):
        _, ran = await asyncio.gather(
            desk.use("write_file", path="a.sh", content=f"echo {number}\n" + "#\n" * 50_000),
            desk.use("terminal", command="bash a.sh"),
        )
        assert ran.text == str(number)


@needs_bubblewrap
@pytest.mark.process
async def test_a_command_that_waits_has_not_begun(desk: Desk) -> None:
    """So after a crash it runs, instead of having an unknown outcome."""
    toolbox, begun, waiting = Toolbox(desk.tools), list[str](), asyncio.Event()

    async def run(text: str) -> str:
        context = desk.context()
        arguments = json.dumps({"command": text})
        call = ToolCallPart(call_id=context.call_id, name="terminal", arguments=arguments)

        async def begin(_: ApprovalRequest | None) -> bool:
            begun.append(text)
            return True

        @asynccontextmanager
        async def pause() -> AsyncIterator[None]:
            waiting.set()
            yield

        return (await toolbox.run(call, context, begin, pause)).text

    first = [
        asyncio.create_task(run(f": {number}; until [ -e go ]; do sleep 0.05; done"))
        for number in range(MOST_OF_PERSON)
    ]
    while len(begun) < MOST_OF_PERSON:
        await asyncio.sleep(0)
    assert not waiting.is_set()
    last = asyncio.create_task(run("echo last"))
    await waiting.wait()
    assert len(begun) == MOST_OF_PERSON
    await desk.use("write_file", path="go", content="")
    assert await last == "last"
    await asyncio.gather(*first)
    assert begun[-1] == "echo last"


async def test_all_people_together_have_a_limit_and_nobody_has_all_places() -> None:
    places, go, running = CommandPlaces(), asyncio.Event(), list[str]()

    async def work(slug: str) -> None:
        async with places.hold(slug):
            running.append(slug)
            await go.wait()

    async with asyncio.TaskGroup() as group:
        for slug in ("anna", "ben", "carla"):
            for _ in range(MOST_OF_PERSON + 1):
                group.create_task(work(slug))
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(running) == MOST_IN_ALL
        assert running.count("anna") == running.count("ben") == MOST_OF_PERSON
        go.set()
    assert len(running) == 3 * (MOST_OF_PERSON + 1)


async def test_a_command_with_a_secret_has_no_other_beside_it() -> None:
    places, go = CommandPlaces(), asyncio.Event()
    seen: list[str] = []

    async def work(name: str, *, is_alone: bool = False) -> None:
        async with places.hold("anna", is_alone=is_alone):
            seen.append(name)
            await go.wait()

    async with asyncio.TaskGroup() as group:
        group.create_task(work("a"))
        group.create_task(work("secret", is_alone=True))
        group.create_task(work("other secret", is_alone=True))
        for _ in range(20):
            await asyncio.sleep(0)
        assert seen == ["a"]
        go.set()
    assert sorted(seen) == ["a", "other secret", "secret"]


async def test_a_cancelled_wait_takes_no_place_and_a_lent_place_comes_back() -> None:
    places = CommandPlaces()
    async with places.hold("anna", is_alone=True):
        waits = [asyncio.create_task(_hold(places)) for _ in range(6)]
        await asyncio.sleep(0)
        for task in waits:
            task.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
    others = asyncio.Event()

    async def call() -> None:
        async with places.hold("anna"), places.lend("anna"):
            others.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(call())
    await others.wait()
    async with places.hold("anna", is_alone=True):
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done(), "it holds its place again before it ends"
    with pytest.raises(asyncio.CancelledError):
        await task
    async with places.hold("anna", is_alone=True):
        pass


async def _hold(places: CommandPlaces) -> None:
    async with places.hold("anna"):
        pass
