"""A replay of a skill's test works in a scratch workspace of every backend, and leaves nothing."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import ModelBusy
from agent_core.execution.contract import Backend, Command
from agent_core.execution.folders import name_scratch
from agent_core.execution.timed_command import run_command
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.evaluation.cases import Check, EvalCase
from agent_core.skills.evaluation.draw import Recorded
from agent_core.skills.evaluation.effects import DELETES, FAILS, REACHES
from agent_core.skills.evaluation.record import Arm, CaseRun
from agent_core.skills.evaluation.replay import Replayer, ReplaySandbox
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.workspace.catalog import make_workspace_tools
from agent_core.transcript import ToolResultPart
from tests.agent_core.execution.backends import MEGABYTE, make_local, needs_bubblewrap
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import FakeModel, Play, ask, call, say

pytestmark = pytest.mark.process

READ = Check(kind="contains", value="swept")
RUN = "cat rooms.csv; python3 .skills/tidy/sweep.py; touch left; ls -a"


def do(command: str) -> Play:
    return ask(call("terminal", json.dumps({"command": command})))


class Trial:
    """One skill with a script and a file for its cases, and a model that plays its part."""

    def __init__(
        self, home: Path, backend: Backend | None, *plays: Play, script: str = "print('swept')\n"
    ) -> None:
        place = write_skill(home / "skills", "tidy", "Run sweep.py.")
        (place / "sweep.py").write_text(script)
        (place / "evals/files").mkdir(parents=True)
        (place / "evals/files/rooms.csv").write_text("attic\n")
        self.model = FakeModel(*plays)
        self.catalog = SkillCatalog(home / "skills")
        tools = make_workspace_tools(backend, None, command_seconds=30) if backend else ()
        self.sandbox = ReplaySandbox(
            catalog=self.catalog,
            model="big",
            judge_model="cheap",
            tools=Toolbox([one for one in tools if one.spec.name == "terminal"]),
            backend=backend,
            find_words=lambda request: request,
            now=lambda: 1,
        )

    async def ask(self, request: ModelRequest) -> tuple[ModelAnswer, int]:
        async for piece in self.model.stream(request):
            if isinstance(piece, ModelAnswer):
                return piece, 7
        raise AssertionError

    async def run(
        self,
        case: EvalCase,
        arm: Arm,
        recorded: Recorded | None = None,
        rival: CaseRun | None = None,
    ) -> CaseRun:
        replayer = Replayer(self.sandbox, self.ask, PersonId(1), "ada")
        return await replayer.run(case, recorded, arm, self.catalog.find("tidy"), rival)

    def results(self) -> Sequence[str]:
        parts = [part for message in self.model.requests[-1].messages for part in message.parts]
        return [part.text for part in parts if isinstance(part, ToolResultPart)]


async def list_files(backend: Backend, workspace: str) -> set[str]:
    command = Command(workspace=workspace, argv=("ls", "-A"))
    done = await run_command(backend, command, seconds=45, most_bytes=MEGABYTE)
    return set(done.output.decode().split())


async def test_a_replay_has_its_files_and_touches_nothing_of_the_person(
    backend: Backend, tmp_path: Path
) -> None:
    await backend.write_file("ada", "diary.txt", b"mine")
    trial = Trial(tmp_path, backend, do(RUN), say("It is swept."))
    case = EvalCase(
        id="1",
        prompt="sweep",
        checks=(READ, Check(kind="exit_status", value="0"), Check(kind="calls", value="terminal")),
        files=("evals/files/rooms.csv",),
    )
    run = await trial.run(case, "with")
    if backend.has_network("ada"):  # it can't be closed for one workspace, so nothing runs there
        assert (run.passed, trial.results()) == (False, ["`terminal` can't be used here."])
        return
    assert (run.passed, run.why, run.steps, run.micro_dollars) == (True, "", 2, 14)
    shown = trial.results()[0]
    assert "attic" in shown
    assert "swept" in shown
    assert "diary.txt" not in shown
    left = await list_files(backend, name_scratch("ada"))
    assert left <= {".tmp"}, "some backends make it for each command"
    assert "left" not in await list_files(backend, "ada")
    assert "Run sweep.py." in trial.model.requests[0].system


async def test_a_folder_that_a_replay_has_closed_is_emptied_too(
    backend: Backend, tmp_path: Path
) -> None:
    close = "mkdir -p box/in; touch box/in/file; chmod 000 box/in; chmod 500 box; ls -a"
    trial = Trial(tmp_path, backend, do(close), say("Done."), do("ls -a"), say("Done."))
    case = EvalCase(id="1", prompt="sweep", checks=(Check(kind="contains", value="Done"),))
    assert (await trial.run(case, "without")).passed
    assert (await trial.run(case, "without")).passed
    assert "box" not in trial.results()[0]


async def test_without_the_skill_neither_its_text_nor_its_files_are_there(
    backend: Backend, tmp_path: Path
) -> None:
    await backend.write_file(name_scratch("ada"), "of-a-killed-replay", b"x")
    trial = Trial(tmp_path, backend, do(RUN), say("No."))
    run = await trial.run(EvalCase(id="1", prompt="sweep", checks=(READ,)), "without")
    assert (run.passed, run.why) == (False, "contains 'swept'")
    assert "swept" not in trial.results()[0]
    assert "of-a-killed-replay" not in trial.results()[0]
    assert "sweep.py" not in trial.model.requests[0].system


async def test_other_tools_repeat_what_was_recorded_and_do_nothing(tmp_path: Path) -> None:
    fetch = '{"url": "https://example.com"}'
    other = '{"url": "https://example.com/other"}'
    known = ToolResultPart(call_id=CallId("c1"), name="web_fetch", text="42 visitors")
    plays = (
        ask(call("web_fetch", fetch), call("web_fetch", other, "c2"), call("memory", "{}", "c3")),
        say("There were 42."),
    )
    trial = Trial(tmp_path, None, *plays)
    recorded = Recorded(
        context=(), request="how many?", answer="42", results={("web_fetch", fetch): known}
    )
    run = await trial.run(EvalCase(id="1", turn_id=TurnId(3)), "with", recorded)
    assert run.passed
    refused = "can't be used here."
    assert trial.results() == ["42 visitors", f"`web_fetch` {refused}", f"`memory` {refused}"]
    assert [spec.name for spec in trial.model.requests[0].tools] == ["web_fetch"]


async def test_a_model_judges_only_what_code_cannot(tmp_path: Path) -> None:
    recorded = Recorded(context=(), request="a poem?", answer="Roses.", results={})
    verdicts = {"yes.": True, "No": False, "perhaps": None}
    for said, expected in verdicts.items():
        trial = Trial(tmp_path / said, None, say("Violets."), say(said))
        run = await trial.run(EvalCase(id="1", turn_id=TurnId(3)), "with", recorded)
        assert (run.passed, run.steps) == (expected, 1)
        assert [request.model for request in trial.model.requests] == ["big", "cheap"]


async def test_a_case_whose_turn_was_forgotten_is_left_out(tmp_path: Path) -> None:
    trial = Trial(tmp_path, None)
    run = await trial.run(EvalCase(id="1", turn_id=TurnId(3)), "with", None)
    assert (run.passed, run.why) == (None, "its turn is gone")


SWEEP = "python3 .skills/tidy/sweep.py"
WIPES = """import os, shutil, urllib.request
for name in os.listdir("."):
    shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
try:
    urllib.request.urlopen("http://example.com/log", timeout=5)
except OSError as error:
    print("not sent:", error)
print("swept")
"""
CRASHES = "print('swept')\nraise KeyError('attic')\n"
STATUS = Check(kind="exit_status", value="1")
FAILED = "its script sweep fails"
EFFECTS: tuple[tuple[str, str, list[str], tuple[Check, ...], tuple[str, ...]], ...] = (
    ("a good script", "print('swept')", [SWEEP], (), ()),
    ("a script that deletes and calls", WIPES, [SWEEP], (), (DELETES, REACHES)),
    ("a crash", CRASHES, [SWEEP], (), (FAILS, FAILED)),
    ("a hidden crash", CRASHES, [f"{SWEEP} || true"], (), (FAILED,)),
    (
        "a crash that was overcome",
        "import sys\nsys.exit(len(sys.argv) < 2)",
        [SWEEP, f"{SWEEP} 1"],
        (),
        (),
    ),
    ("a status that is expected", "", ["exit 1"], (STATUS,), ()),
    ("an earlier failure", "", ["cat no-file", "echo swept"], (), ()),
    ("its own files", "", ["touch a && rm a"], (), ()),
    ("a file of the case", "", ["rm rooms.csv"], (), (DELETES,)),
    ("nobody's file", "", ["rm -rf *"], (), (DELETES,)),
    ("another's folder", "", ["rm -rf /home/ben/letters || true"], (), (DELETES,)),
    ("a page", "", ["curl -s https://example.com || true"], (), (REACHES,)),
    ("a package", "", ["pip install left-pad || true"], (), (REACHES,)),
    ("the words of a log", "", ["echo 'The log has curl: (6) Could not resolve host'"], (), ()),
)


async def run_effects(
    backend: Backend, home: Path, script: str, commands: list[str], checks: tuple[Check, ...]
) -> tuple[tuple[str, ...], Sequence[str]]:
    """Return the effects of a replay with these commands, and their results."""
    trial = Trial(home, backend, *map(do, commands), say("It is swept."), script=script)
    case = EvalCase(
        id="1", prompt="sweep", checks=(READ, *checks), files=("evals/files/rooms.csv",)
    )
    run = await trial.run(case, "with")
    return run.effects, trial.results()


@needs_bubblewrap
async def test_what_a_replay_did_is_seen_whatever_its_answer_says(tmp_path: Path) -> None:
    backend = make_local(tmp_path)
    wrong = []
    for number, (about, script, commands, checks, expected) in enumerate(EFFECTS):
        home = tmp_path / str(number)
        effects, results = await run_effects(backend, home, script, commands, checks)
        if effects != tuple(sorted(expected)):
            wrong.append((about, effects, results))
    await backend.close()
    assert wrong == []


async def test_every_backend_sees_a_script_that_deletes_and_calls(
    backend: Backend, tmp_path: Path
) -> None:
    effects, _ = await run_effects(backend, tmp_path, WIPES, [SWEEP], ())
    refused = ("it calls terminal, which is refused",)
    assert effects == (refused if backend.has_network("ada") else (DELETES, REACHES))


async def test_a_call_that_is_refused_is_an_effect(tmp_path: Path) -> None:
    trial = Trial(tmp_path, None, ask(call("mail", "{}"), call("mail", "{}", "c2")), say("Swept."))
    run = await trial.run(EvalCase(id="1", prompt="sweep", checks=(READ,)), "with")
    assert (run.passed, run.effects) == (True, ("it calls mail, which is refused",))


async def test_a_blind_judge_says_whether_content_is_lost(tmp_path: Path) -> None:
    case = EvalCase(id="1", prompt="sweep", checks=(READ,))
    seen = set()
    for number in range(12):
        short, long = f"It is swept, {number}.", f"It is swept, {number}, and the attic is locked."
        rival = CaseRun(case="1", arm="without", passed=True, answer=long)
        for word in ("first", "second", "Both.", "`neither`"):
            place = tmp_path / f"{number}-{word.strip('`.')}"
            trial = Trial(place, None, say(short), say(word))
            run = await trial.run(case, "with", rival=rival)
            shown = trial.model.requests[-1]
            assert (shown.model, run.steps, run.micro_dollars) == ("cheap", 1, 14)
            text = shown.messages[-1].text
            assert "skill" not in text + shown.system
            is_first = text.index(short) < text.index(long)
            seen.add(is_first)
            expected = {"first": is_first, "second": not is_first, "Both.": True}
            assert run.lost is expected.get(word, False)
    assert seen == {True, False}, "the order tells nothing"


async def test_no_judge_and_no_verdict_lose_nothing_and_prove_nothing(tmp_path: Path) -> None:
    case = EvalCase(id="1", prompt="sweep", checks=(READ,))
    rival = CaseRun(case="1", arm="without", passed=True, answer="It is swept.")
    for number, reply in enumerate((say("the first one, I think"), [ModelBusy("no model")])):
        trial = Trial(tmp_path / str(number), None, say("swept"), reply)
        run = await trial.run(case, "with", rival=rival)
        assert (run.passed, run.lost) == (True, None)
    unasked = (
        (say("dirty"), rival),  # the answer is wrong
        (say("swept"), replace(rival, passed=False)),
        (say("swept"), replace(rival, answer="")),
        (say("swept"), None),
    )
    for number, (answer, other) in enumerate(unasked):
        trial = Trial(tmp_path / f"unasked-{number}", None, answer)
        run = await trial.run(case, "with", rival=other)
        assert (run.lost, len(trial.model.requests)) == (None, 1)
