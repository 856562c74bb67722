"""`talaria batch` from the command line: run, stop, go on, report and export."""

import json
from pathlib import Path

import pytest

from agent_core.batch.records import Attempt, TaskRecord, TaskState
from agent_core.batch.task_file import BatchTask
from agent_core.ids import TaskId
from gateway.texts.batch import draw_progress
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.anthropic import AnthropicEmulator, echo
from tests.emulators.streaming import Answer, Json, Reply
from tests.integration.processes import talaria, talaria_beside

TASKS = [
    {"prompt": "Remember that my bike is green."},
    {"prompt": "Hello!", "id": "hi", "answer": 42},
]


def write(path: Path, *lines: object) -> Path:
    texts = (one if isinstance(one, str) else json.dumps(one) for one in lines)
    path.write_text("\n".join(texts))
    return path


@pytest.mark.process
def test_a_batch_runs_is_reported_and_exported(tmp_path: Path) -> None:
    home, tasks = tmp_path / "home", write(tmp_path / "tasks.jsonl", *TASKS)
    done = talaria(home, "batch", "run", str(tasks))
    assert done.code == 0, done.err
    assert "2 lines: 2 succeeded." in done.out
    assert done.err.startswith(f"[{'.' * 24}] 0 of 2, ")
    assert "No task has these fields, so they are ignored: answer." in done.out
    assert f"The run is in {tmp_path / 'tasks.run'}. Ctrl-C stops it" in done.out

    again = talaria(home, "batch", "run", str(tasks))
    assert (again.code, again.out.count("2 succeeded")) == (0, 1)

    report = talaria(home, "batch", "report", str(tmp_path / "tasks.run"), "--json")
    found = json.loads(report.out)
    assert (found["succeeded"], found["attempts"], found["model_calls"]) == (2, 2, 3)
    assert [one["id"] for one in found["tasks"]] == ["1", "hi"]

    target = tmp_path / "data.jsonl"
    for wanted, field in (
        ("sharegpt", "conversations"),
        ("openai", "messages"),
        ("anthropic", "messages"),
        ("jsonl", "messages"),
    ):
        words = ("batch", "export", str(tmp_path / "tasks.run"), str(target), "--format", wanted)
        assert "Wrote 2 conversations to" in talaria(home, *words).out
        rows = [json.loads(line) for line in target.read_text().splitlines()]
        assert all(field in row for row in rows)
        target.unlink()


def test_the_bar_shows_what_is_over_of_all_what_failed_and_what_it_cost() -> None:
    task = BatchTask(line=1, id="1", prompt="Hello!")
    states: tuple[TaskState, ...] = ("done", "dead", "owed", "owed")
    tried = (Attempt(person="a", ending="answered", micro_dollars=1_250_000),)
    records = [
        TaskRecord(id=TaskId(number), line=number, state=state, task=task, attempts=tried)
        for number, state in enumerate(states, 1)
    ]
    no_task = TaskRecord(id=TaskId(5), line=5, state="dead", fault="it is no JSON")
    assert draw_progress([*records, no_task], 75.4) == (
        f"[{'#' * 12}{'.' * 12}] 2 of 4, 1 failed, $5.00, 1:15"
    )
    assert draw_progress(records[:1], 3600) == f"[{'#' * 24}] 1 of 1, $1.25, 60:00"
    assert draw_progress([no_task], 0) == f"[{'.' * 24}] 0 of 0, 0:00"


@pytest.mark.process
def test_bad_lines_are_named_and_run_once_they_are_mended(tmp_path: Path) -> None:
    home = tmp_path / "home"
    tasks = write(tmp_path / "tasks.jsonl", {"prompt": "Hello!"}, "{", {"promt": "x"})
    done = talaria(home, "batch", "run", str(tasks))
    assert done.code == 1
    assert done.err.splitlines()[:2] == [
        "Line 2: it is no JSON: expecting property name enclosed in double quotes at column 2.",
        'Line 3: it has no "prompt"; it has "promt".',
    ]
    assert "3 lines: 1 succeeded, 2 no task." in done.out
    write(tasks, {"prompt": "Hello!"}, {"prompt": "Hi!"}, {"prompt": "Hey!"})
    done = talaria(home, "batch", "run", str(tasks))
    assert (done.code, "3 lines: 3 succeeded." in done.out) == (0, True)
    write(tasks, {"prompt": "Bye!"})
    done = talaria(home, "batch", "run", str(tasks))
    assert done.err.startswith("Line 1 is another task than the one that ran. Put it back,")


@pytest.mark.process
@needs_bubblewrap
def test_files_and_checks_use_the_sandbox_of_the_settings(tmp_path: Path) -> None:
    home = tmp_path / "home"
    tasks = write(
        tmp_path / "tasks.jsonl",
        {"prompt": "Hello!", "files": {"a.txt": "1"}, "check": "test -f a.txt"},
        {"prompt": "Hello!", "check": "echo nothing; test -f a.txt"},
    )
    done = talaria(home, "batch", "run", str(tasks), "--retries", "0")
    assert "there is none; `talaria config set tools.backend local` gives one" in done.err
    here = {"TALARIA_TOOLS__BACKEND": "local"}
    done = talaria(home, "batch", "run", str(tasks), "--retries", "0", **here)
    assert "2 lines: 1 succeeded, 1 failed." in done.out, done.err
    assert "Line 2: The check failed: exit status 1: nothing." in done.out


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "none.jsonl"), "none.jsonl can't be read: No such file or directory."),
        (("run", "tasks.jsonl", "--tools", "fly"), "There is no tool fly here; there are memory,"),
        (("run", "tasks.jsonl", "--at-once", "0"), "--at-once: 0 is not between 1 and 1,000."),
        (("run", "tasks.jsonl", "--budget", "x"), "--budget: 'x' is no amount from 0 on."),
        (
            ("run", "tasks.jsonl", "--budget", "1e-9"),
            "--budget: in 1e-9, it is too small to be counted; the least is 0.000001, and 0 is no",
        ),
        (("run", "tasks.jsonl", "--task-usd", "1e-7"), "--task-usd: in 1e-7, it is too small to"),
        (("run", "tasks.jsonl", "--steps", "0"), "--steps: a task needs at least 1 model call."),
        (("run", "tasks.jsonl", "--model", "x"), "There is no model x in the settings; known are"),
        (("report", "none.run"), "none.run holds no run; `talaria batch run` makes one"),
        (("export", "none.run", "x"), "none.run holds no run; `talaria batch run` makes one"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    write(tmp_path / "tasks.jsonl", *TASKS)
    places = [str(tmp_path / one) if "." in one else one for one in words]
    done = talaria(tmp_path / "home", "batch", *places)
    assert done.code in (1, 2)
    assert sentence in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.process
def test_the_seconds_of_a_run_pause_it_and_lose_nothing(tmp_path: Path) -> None:
    home, tasks = tmp_path / "home", write(tmp_path / "tasks.jsonl", *[{"prompt": "Hello!"}] * 40)
    words = ("batch", "run", str(tasks), "--at-once", "1", "--seconds")
    done = talaria(home, *words, "0.001")
    assert done.code == 1, done.err
    assert "The time of this run is over. 40 tasks are left" in done.out
    done = talaria(home, *words, "600")
    assert (done.code, done.out.count("is over")) == (0, 0), done.err
    assert "40 lines: 40 succeeded." in done.out


@pytest.mark.process
def test_a_budget_needs_a_price(tmp_path: Path) -> None:
    tasks = write(tmp_path / "tasks.jsonl", *TASKS)
    given = {"OPENAI_BASE_URL": "https://models.example.org/v1", "TALARIA_MODEL__NAME": "mine"}
    words = ("batch", "run", str(tasks), "--budget", "1")
    done = talaria(tmp_path / "home", *words, TALARIA_MODEL__PROVIDER="openai", **given)
    assert done.code == 1
    assert "The price of mine is unknown, so --budget can't be kept." in done.err


@pytest.mark.process
async def test_a_task_ends_at_its_own_limit_and_says_which(tmp_path: Path) -> None:
    home = tmp_path / "home"
    tasks = write(tmp_path / "tasks.jsonl", {"prompt": "Remember that my bike is green."})
    limits = {
        ("--task-usd", "0.000001"): "The task spent as much as it may (--task-usd).",
        ("--task-seconds", "0.001"): "The task took as long as it may (--task-seconds).",
    }
    async with AnthropicEmulator() as api:
        api.answer = remember_first
        given = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": api.url}
        for limit, sentence in limits.items():
            words = ("--retries", "0", "--into", str(tmp_path / limit[0]), *limit)
            done = await talaria_beside(home, "batch", "run", str(tasks), *words, **given)
            assert done.code == 1, done
            assert "1 line: 1 failed." in done.out, done
            assert done.out.endswith(f"\nLine 1: {sentence}\n"), done
        done = await talaria_beside(home, "batch", "run", str(tasks), **given)
        assert (done.code, "1 line: 1 succeeded." in done.out) == (0, True), done


def remember_first(body: Json) -> Reply:
    """Call a tool, and answer only after it."""
    if len(body["messages"]) > 1:
        return echo(body)
    note = {"action": "add", "text": "My bike is green."}
    return Answer(blocks=[{"type": "tool_use", "name": "memory", "input": note}], stop="tool_use")
