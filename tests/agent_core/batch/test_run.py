"""A run: tasks apart from each other, retries, checks, limits, faults and a full disk."""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from agent_core.batch.report import make_report
from agent_core.batch.run import BatchLimits, BatchRun, TasksChanged
from agent_core.batch.task_file import read_task_file
from agent_core.errors import BackendUnavailable, ModelDenied, ModelRejected
from agent_core.execution.contract import Command, Process
from agent_core.execution.local import LocalBackend
from agent_core.library.ai_agent import AIAgent
from agent_core.library.options import AgentOptions
from agent_core.models.contract import ModelRequest
from tests.agent_core.batch.talker import Talker, run_batch, write
from tests.agent_core.execution.backends import LIMITS, make_local, needs_bubblewrap
from tests.fakes.model import Play, ask, call, say


async def test_tasks_know_nothing_of_each_other(tmp_path: Path) -> None:
    def answer(words: str, request: ModelRequest) -> Play:
        if any(one.role == "tool" for one in request.messages):
            return say("Saved.")
        change = {"action": "add", "target": "memory", "text": words.removeprefix("Remember: ")}
        return ask(call("memory", json.dumps(change))) if "Remember" in words else say("No.")

    data = write(
        {"prompt": "Remember: the key is crimson"}, {"prompt": "Which colour has the key?"}
    )
    limits = BatchLimits(at_once=1)
    records, _, model = await run_batch(tmp_path, answer, data, limits=limits)
    assert [one.state for one in records] == ["done", "done"]
    last = model.requests[-1]
    assert "crimson" not in last.system + "".join(one.text for one in last.messages)


async def test_a_second_start_runs_nothing_again(tmp_path: Path) -> None:
    data = write({"prompt": "a"}, {"prompt": "a"})
    _, _, first = await run_batch(tmp_path, lambda *_: say("Yes."), data)
    records, _, second = await run_batch(tmp_path, lambda *_: say("Yes."), data)
    assert (len(first.requests), len(second.requests)) == (2, 0)
    assert [one.state for one in records] == ["done", "done"]


async def test_the_first_tasks_of_a_new_folder_begin_beside_each_other(tmp_path: Path) -> None:
    data = write(*({"prompt": f"{number}"} for number in range(6)))
    limits = BatchLimits(at_once=6, attempts=1)
    for number in range(8):
        place = tmp_path / str(number)
        records, _, _ = await run_batch(place, lambda *_: say("Yes."), data, limits=limits)
        assert {one.state for one in records} == {"done"}, records


async def test_a_task_has_only_its_tools(tmp_path: Path) -> None:
    data = write({"prompt": "a", "tools": ["recall"]}, {"prompt": "b", "tools": []})
    limits = BatchLimits(at_once=1)
    _, _, model = await run_batch(tmp_path, lambda *_: say("Yes."), data, limits=limits)
    assert [[tool.name for tool in one.tools] for one in model.requests] == [["recall"], []]


async def test_a_task_that_fails_is_tried_again_and_then_left(tmp_path: Path) -> None:
    def answer(words: str, request: ModelRequest) -> Play:
        return [ModelRejected("no such shape")] if words == "bad" else say("Yes.")

    data = write({"prompt": "bad"}, {"prompt": "good"})
    records, run, _ = await run_batch(tmp_path, answer, data, limits=BatchLimits(attempts=3))
    assert [one.state for one in records] == ["dead", "done"], records
    assert [one.reason for one in records[0].attempts] == ["model_rejected"] * 3
    assert {one.person for one in records[0].attempts} == {"task-1-1", "task-1-2", "task-1-3"}
    assert run.stopped == ""


async def test_a_task_that_breaks_harms_no_other(tmp_path: Path) -> None:
    def answer(words: str, request: ModelRequest) -> Play:
        if words == "bad":
            raise ZeroDivisionError("a bug")
        return say("Yes.")

    data = write({"prompt": "bad"}, {"prompt": "good"})
    records, _, _ = await run_batch(tmp_path, answer, data, limits=BatchLimits(attempts=1))
    assert [one.state for one in records] == ["dead", "done"], records
    assert records[0].attempts[0].detail == "ZeroDivisionError: a bug"


async def test_an_attempt_that_breaks_counts_what_it_has_cost(tmp_path: Path) -> None:
    def answer(words: str, request: ModelRequest) -> Play:
        if any(one.role == "tool" for one in request.messages):
            raise ZeroDivisionError("a bug \ud83d")
        return ask(call("recall", '{"query": "x"}'))

    data = write(*({"prompt": f"{number}"} for number in range(9)))
    limits = BatchLimits(at_once=1, attempts=1, micro_dollars=25)  # a call costs 11
    records, run, _ = await run_batch(tmp_path, answer, data, limits=limits)
    assert run.stopped == "money"
    broken = [one.attempts[0] for one in records if one.attempts]
    assert [(one.reason, one.calls, one.micro_dollars) for one in broken] == [("broken", 1, 11)] * 3
    assert broken[0].tools == {"recall": (1, 0)}
    assert broken[0].detail == "ZeroDivisionError: a bug \ufffd"


async def test_a_wrong_key_stops_the_run_and_costs_no_task(tmp_path: Path) -> None:
    data = write(*({"prompt": f"{number}"} for number in range(30)))
    limits = BatchLimits(at_once=2, attempts=1)
    records, run, model = await run_batch(
        tmp_path, lambda *_: [ModelDenied("wrong key")], data, limits=limits
    )
    assert (run.stopped, run.detail) == ("model", "wrong key")
    assert len(model.requests) <= 3
    assert {one.state for one in records} == {"owed"}
    records, run, _ = await run_batch(tmp_path, lambda *_: say("Yes."), data, limits=limits)
    assert {one.state for one in records} == {"done"}


async def test_the_money_of_a_run_is_a_limit(tmp_path: Path) -> None:
    data = write(*({"prompt": f"{number}"} for number in range(9)))
    limits = BatchLimits(at_once=1, micro_dollars=25)  # a task costs 11
    records, run, _ = await run_batch(tmp_path, lambda *_: say("Yes."), data, limits=limits)
    assert run.stopped == "money"
    assert [one.state for one in records].count("done") == 3
    records, run, _ = await run_batch(tmp_path, lambda *_: say("Yes."), data)
    assert [one.state for one in records].count("done") == 9


async def test_a_stop_leaves_the_rest_for_later(tmp_path: Path) -> None:
    def stop(run: BatchRun) -> None:
        if any(one.state == "done" for one in run.records):
            run.stop("asked")

    data = write(*({"prompt": f"{number}"} for number in range(9)))
    limits = BatchLimits(at_once=2)
    records, run, _ = await run_batch(
        tmp_path, lambda *_: say("Yes."), data, limits=limits, meanwhile=stop
    )
    assert run.stopped == "asked"
    assert 1 <= [one.state for one in records].count("done") <= 3
    records, _, _ = await run_batch(tmp_path, lambda *_: say("Yes."), data)
    assert {one.state for one in records} == {"done"}
    assert {len(one.attempts) for one in records} == {1}


async def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    async def limit(agent: AIAgent, pages: int) -> None:
        await agent.database.write(
            "limit", lambda c: c.execute(f"PRAGMA max_page_count = {pages}").fetchone()
        )

    model = Talker(lambda *_: say("Yes. " * 2000))
    data = write(*({"prompt": f"{number}"} for number in range(9)))
    async with AIAgent.open(tmp_path, model=("fake-1", model)) as agent:
        run = BatchRun(agent, None, BatchLimits(at_once=2))
        await run.load(read_task_file(data, agent.tool_names, has_place=False))
        await limit(agent, 1)  # SQLite takes it as the present size
        assert await run.run() == "full"
        assert "is full; nothing was written" in run.detail
    records, _, _ = await run_batch(tmp_path, lambda *_: say("Yes."), data)
    assert {one.state for one in records} == {"done"}


@needs_bubblewrap
@pytest.mark.process
async def test_a_full_disk_of_the_workspaces_costs_no_task(tmp_path: Path) -> None:
    data = write(*({"prompt": f"{number}", "files": {"a": "1"}} for number in range(9)))
    limits = BatchLimits(at_once=2, attempts=1)
    full = make_local(tmp_path, limits=replace(LIMITS, reserve=sys.maxsize))  # no disk has as much
    backend = make_local(tmp_path)
    try:
        records, run, model = await run_batch(
            tmp_path, lambda *_: say("Yes."), data, limits=limits, backend=full
        )
        assert (run.stopped, len(model.requests)) == ("full", 0)
        assert run.detail.startswith("the disk has less than")
        assert {(one.state, one.attempts) for one in records} == {("owed", ())}
        records, _, _ = await run_batch(
            tmp_path, lambda *_: say("Yes."), data, limits=limits, backend=backend
        )
    finally:
        await full.close()
        await backend.close()
    assert {one.state for one in records} == {"done"}


async def test_a_line_that_ran_can_not_become_another_task(tmp_path: Path) -> None:
    await run_batch(tmp_path, lambda *_: say("Yes."), write({"prompt": "a"}, {"promt": "b"}))
    with pytest.raises(TasksChanged, match="Line 1 is another task than the one that ran"):
        await run_batch(tmp_path, lambda *_: say("Yes."), write({"prompt": "c"}))
    mended = write({"prompt": "a"}, {"prompt": "b"}, {"prompt": "new"})
    records, _, model = await run_batch(tmp_path, lambda *_: say("Yes."), mended)
    assert [one.state for one in records] == ["done"] * 3
    assert len(model.requests) == 2


async def test_a_line_that_has_begun_can_not_become_another_task(tmp_path: Path) -> None:
    begun: list[BatchRun] = []

    def answer(words: str, request: ModelRequest) -> Play:
        begun[0].stop("asked")
        return ask(call("recall", json.dumps({"query": "x"})))

    data = write({"prompt": "old"})
    records, _, _ = await run_batch(tmp_path, answer, data, meanwhile=begun.append)
    assert (records[0].state, records[0].attempts) == ("owed", ())
    with pytest.raises(TasksChanged, match="Line 1 is another task"):
        await run_batch(tmp_path, lambda *_: say("Yes."), write({"prompt": "new"}))
    records, _, model = await run_batch(tmp_path, lambda *_: say("Yes."), data)
    assert (records[0].state, len(model.requests)) == ("done", 1)


async def test_the_report_counts_everything(tmp_path: Path) -> None:
    def answer(words: str, request: ModelRequest) -> Play:
        if any(one.role == "tool" for one in request.messages):
            return say("Done.")
        return ask(call("recall", '{"query": "x"}', "c1"), call("recall", "{}{", "c2"))

    records, _, _ = await run_batch(tmp_path, answer, write({"prompt": "a"}, {"x": 1}))
    report = make_report(records)
    assert report["tool_stats"] == {"recall": {"count": 2, "success": 1, "failure": 1}}
    assert (report["succeeded"], report["no_task"], report["model_calls"]) == (1, 1, 2)
    assert report["usd"] == 22e-6


class Mortal(LocalBackend):
    """A backend that may be gone."""

    is_gone = False

    async def health(self) -> None:
        self._live()
        await super().health()

    async def start(self, command: Command) -> Process:
        self._live()
        return await super().start(command)

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        self._live()
        await super().write_file(workspace, path, data)

    def _live(self) -> None:
        if self.is_gone:
            raise BackendUnavailable("the container engine does not answer")


@needs_bubblewrap
@pytest.mark.process
@pytest.mark.parametrize("dies", ["in a call", "before the check"])
async def test_a_backend_that_dies_costs_no_task(tmp_path: Path, dies: str) -> None:
    backend = make_local(tmp_path, kind=Mortal)
    assert isinstance(backend, Mortal)

    def answer(words: str, request: ModelRequest) -> Play:
        backend.is_gone |= words == "fatal" and dies == "in a call"
        if any(one.role == "tool" for one in request.messages):
            backend.is_gone |= words == "fatal"
            return say("Done.")
        return ask(call("write_file", '{"path": "out.txt", "content": "x"}'))

    tasks = [
        {"prompt": prompt, "files": {"a": "1"}, "check": "test -f out.txt"}
        for prompt in ("first", "fatal", "last")
    ]
    run_it = partial(
        run_batch,
        tmp_path,
        data=write(*tasks),
        limits=BatchLimits(at_once=1, attempts=1),
        backend=backend,
    )
    try:
        records, run, model = await run_it(answer)
        assert (run.stopped, run.detail) == ("place", "the container engine does not answer")
        assert [one.state for one in records] == ["done", "owed", "owed"]
        assert len(model.requests) == 4
        backend.is_gone = False
        words = partial(answer, "")  # nobody dies any more
        records, run, model = await run_it(lambda _, request: words(request))
    finally:
        await backend.close()
    assert [one.state for one in records] == ["done"] * 3
    again = 0 if dies == "before the check" else 2
    assert len(model.requests) == again + 2, "a whole answer is only checked again"
    assert run.stopped == ""


async def test_without_a_place_a_run_stops_at_its_first_check(tmp_path: Path) -> None:
    data = write(*({"prompt": f"{number}", "check": "true"} for number in range(9)))
    model = Talker(lambda *_: say("Yes."))
    async with AIAgent.open(tmp_path, model=("fake-1", model), options=AgentOptions()) as agent:
        run = BatchRun(agent, None, BatchLimits(at_once=1, attempts=1))
        await run.load(read_task_file(data, agent.tool_names, has_place=True))
        assert await run.run() == "place"
    assert len(model.requests) == 1
    assert {(one.state, one.attempts) for one in run.records} == {("owed", ())}


@needs_bubblewrap
@pytest.mark.process
async def test_a_task_works_in_its_own_workspace_and_is_checked(tmp_path: Path) -> None:
    backend = make_local(tmp_path)

    def answer(words: str, request: ModelRequest) -> Play:
        if any(one.role == "tool" for one in request.messages):
            return say("Done.")
        return ask(call("write_file", json.dumps({"path": "out.txt", "content": words})))

    check = 'test "$(cat out.txt)" = good && test "$(cat in.txt)" = 1 && test $(ls | wc -l) = 2'
    data = write(
        {"prompt": "good", "files": {"in.txt": "1"}, "check": check},
        {"prompt": "bad", "files": {"in.txt": "1"}, "check": check},
    )
    limits = BatchLimits(attempts=1)
    try:
        records, _, _ = await run_batch(tmp_path, answer, data, limits=limits, backend=backend)
    finally:
        await backend.close()
    assert [one.state for one in records] == ["done", "dead"], records
    assert records[1].attempts[0].reason == "check"
    assert records[1].attempts[0].detail == "exit status 1"
