"""Code of the model: it runs in the sandbox, and its calls pass the gateway one by one."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.agent.loop.inner_calls import InnerCalls
from agent_core.execution.sandbox import SandboxLimits
from agent_core.ids import CallId
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.workspace.code_tool import MOST_CALLS, ExecuteCodeTool
from agent_core.tools.workspace.workspaces import Workspaces
from agent_core.transcript import ToolCallPart, make_source
from tests.agent_core.execution.backends import LIMITS, make_local, needs_bubblewrap
from tests.agent_core.tools.contexts import make_context
from tests.fakes.journal import FakeJournal
from tests.fakes.tool import FakeTool

pytestmark = [pytest.mark.process, needs_bubblewrap]

CONTEXT = make_context(slug="anna", scope="s1", call_id=CallId("outer"), now=5)
CODE = make_source("command", "execute_code")
PAGE = make_source("fetched", "https://example.org")


class Bench:
    """A toolbox with `execute_code` and a few other tools, in a real sandbox."""

    def __init__(self, folder: Path, limits: SandboxLimits = LIMITS) -> None:
        self.place = folder / "workspaces" / "anna"
        self.workspaces = Workspaces(make_local(folder, limits=limits))
        self.echo = FakeTool("echo", _echo)
        self.broken = FakeTool("broken", _break)
        self.save = FakeTool("save", self._save, effect="unsafe")
        outer = ToolCallPart(call_id=CONTEXT.call_id, name="execute_code", arguments="{}")
        self.journal = FakeJournal([outer])
        self.toolbox = Toolbox(
            [
                ExecuteCodeTool(self.workspaces, TextCleaner(SecretMask()), most_seconds=30),
                FakeTool("ask"),
                self.echo,
                self.broken,
                self.save,
            ]
        )

    async def _save(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        async with self.workspaces.lock("anna"):
            return ToolResult(text="saved")

    async def run(self, code: str, **arguments: object) -> ToolResult:
        inner = InnerCalls(
            toolbox=self.toolbox,
            journal=self.journal,
            context=CONTEXT,
            pause=nullcontext,
            now=lambda: 6,
        )
        words = json.dumps({"code": code, **arguments})
        call = ToolCallPart(call_id=CONTEXT.call_id, name="execute_code", arguments=words)
        return await self.toolbox.run(call, replace(CONTEXT, call_tool=inner.run))


async def _echo(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(text=json.dumps(arguments), sources=(PAGE,))


async def _break(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(text="it is broken", is_error=True)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_what_code_prints_comes_back(bench: Bench) -> None:
    result = await bench.run("import sys\nprint('ä', 6 * 7)\nprint('err', file=sys.stderr)")
    assert (result.text, result.is_error) == ("ä 42\nerr", False)


async def test_code_calls_tools_and_gets_their_results(bench: Bench) -> None:
    code = (
        "from talaria_tools import call, echo\nprint(call('echo', a=[1], name_='b'), echo(c='ü'))"
    )
    result = await bench.run(code)
    assert result.text == '{"a": [1], "name_": "b"} {"c": "\\u00fc"}\n[Calls: echo 2.]'


async def test_a_tool_that_fails_raises_and_can_be_caught(bench: Bench) -> None:
    code = "from talaria_tools import *\nimport talaria_tools as t\n"
    code += "try: t.call('broken')\nexcept t.ToolError as error: print(error)\nt.call('none')"
    result = await bench.run(code)
    assert result.is_error
    assert result.text.startswith("it is broken\nTraceback")
    assert "ToolError: There is no tool `none`" in result.text
    assert result.text.endswith("[Exit status 1.]\n[Calls: broken 1, none 1; 2 failed.]")


async def test_each_call_is_a_step_of_its_own_before_and_after_it_runs(bench: Bench) -> None:
    await bench.run("from talaria_tools import call\ncall('echo', n=1)\ncall('save')")
    assert bench.journal.kinds == ["begin", "result", "begin", "result"]
    assert list(bench.journal.results) == ["outer.1", "outer.2"]
    asked = (*bench.echo.asked, *bench.save.asked)
    assert [context.call_id for _, context in asked] == ["outer.1", "outer.2"]


async def test_sources_of_inner_results_are_those_of_the_next_call_and_of_the_result(
    bench: Bench,
) -> None:
    result = await bench.run("from talaria_tools import call\ncall('echo')\ncall('save')")
    assert result.sources == (CODE, PAGE)
    assert bench.echo.asked[0][1].sources == (CODE,), "code may follow files that it reads"
    assert bench.save.asked[0][1].sources == (CODE, PAGE)


async def test_neither_code_nor_questions_can_be_called_from_code(bench: Bench) -> None:
    code = "from talaria_tools import *\nimport talaria_tools as t\n"
    code += "for name in ('execute_code', 'ask'):\n"
    code += "    try: t.call(name, code='1')\n    except t.ToolError as error: print(error)"
    result = await bench.run(code)
    assert result.text == (
        "`execute_code` can't be called from code; call it yourself\n"
        "`ask` can't be called from code; call it yourself"
    )


async def test_calls_are_bounded(bench: Bench) -> None:
    code = "from talaria_tools import call\nfor n in range(99): call('echo', n=n)"
    result = await bench.run(code)
    assert len(bench.echo.asked) == MOST_CALLS
    assert f"the code has made {MOST_CALLS} calls already" in result.text


async def test_a_backend_may_give_code_less_time_than_the_tool(tmp_path: Path) -> None:
    bench = Bench(tmp_path, replace(LIMITS, seconds=1))
    result = await bench.run("import time\ntime.sleep(600)", timeout=30)
    assert "[The code was stopped after 1 s." in result.text


async def test_time_ends_code_but_not_while_a_call_waits(bench: Bench) -> None:
    result = await bench.run("print('begun', flush=True)\nimport time\ntime.sleep(600)", timeout=5)
    assert "begun" in result.text
    assert "[The code was stopped after 5 s." in result.text

    async def wait(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await asyncio.sleep(5.2)
        return ToolResult(text="waited")

    bench.echo._act = wait
    result = await bench.run("from talaria_tools import call\nprint(call('echo'))", timeout=5)
    assert result.text == "waited\n[Calls: echo 1.]"


async def test_output_without_end_ends_code(bench: Bench) -> None:
    result = await bench.run("while True: print('x' * 1000)")
    assert result.is_error
    assert "[The code was stopped after 1,000,000 characters of output" in result.text


async def test_printing_much_beside_calls_blocks_neither(bench: Bench) -> None:
    code = """
import threading
from talaria_tools import call
def chat():
    for n in range(300): print('y' * 1000)
threading.Thread(target=chat).start()
for n in range(20): call('echo', n='z' * 5000)
"""
    result = await bench.run(code)
    assert not result.is_error
    assert "[Calls: echo 20.]" in result.text


async def test_a_tool_may_write_while_code_waits_for_it(bench: Bench) -> None:
    result = await bench.run("from talaria_tools import call\nprint(call('save'))", timeout=5)
    assert result.text == "saved\n[Calls: save 1.]"


async def test_code_sees_the_workspace_and_its_modules_and_leaves_no_file_there(
    bench: Bench,
) -> None:
    bench.place.mkdir(parents=True)
    (bench.place / "mine.py").write_text("ANSWER = 42\n")
    (bench.place / "json.py").write_text("raise SystemExit('not the library')\n")
    code = "import sys\nsys.dont_write_bytecode = True\nimport mine, json\nprint(mine.ANSWER)"
    assert (await bench.run(code)).text == "42"
    assert sorted(path.name for path in bench.place.iterdir()) == ["json.py", "mine.py"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def", "SyntaxError"),
        ("import os\nprint('last', end='', flush=True)\nos._exit(3)", "last\n[Exit status 3.]"),
        ("raise SystemExit('no luck')", "no luck\n[Exit status 1.]"),
        ("import os\nos.kill(os.getpid(), 9)", "[Exit status -9.]"),
        ("import sys\nsys.stdout.buffer.write(b'a\\0b')", "The output is binary"),
        ("import os\nos.write(2, b'\\xff{\\n')", "\ufffd{"),
        ("print('<facts>')", "&lt;facts>"),
        ("x = input()", "EOFError"),
        ("import urllib.request as u\nu.urlopen('http://127.0.0.1')", "URLError"),
    ],
)
async def test_bad_code_gives_a_result_that_says_why(bench: Bench, code: str, said: str) -> None:
    assert said in (await bench.run(code)).text


async def test_what_imitates_a_frame_is_a_call_like_any_other(bench: Bench) -> None:
    code = 'import os\nout = os.open("/pr" + "oc/%d/fd/1" % os.getppid(), os.O_WRONLY)\n'
    code += """os.write(out, b'{"call": "ask", "arguments": {}}\\n{"call": 1}\\n[[\\n')"""
    result = await bench.run(code)
    assert result.text == '{"call": 1}\n[['
    assert not bench.journal.results


async def test_code_outside_of_a_turn_is_refused(bench: Bench) -> None:
    call = ToolCallPart(call_id=CallId("c"), name="execute_code", arguments='{"code": "1"}')
    assert "code can't be run here" in (await bench.toolbox.run(call, CONTEXT)).text


async def test_git_that_code_starts_is_guarded(bench: Bench) -> None:
    done = await bench.run(
        "import subprocess\n"
        "subprocess.run('git init -q a; cd a; echo x > b; git add b', shell=True, check=True)\n"
        "canary = 'touch $WORKSPACE/ran; false'\n"
        "subprocess.run(['git', '-C', 'a', 'config', 'core.fsmonitor', canary], check=True)\n"
        "print(subprocess.run(['git', '-C', 'a', 'status', '-s'], capture_output=True).stdout)"
    )
    assert "A  b" in done.text
    assert not (bench.place / "ran").exists()
