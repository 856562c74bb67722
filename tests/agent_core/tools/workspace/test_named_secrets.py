"""Secrets that commands use by name, in a real sandbox: a value never comes back."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from agent_core.state.engine.database import Database
from agent_core.tools.contract import ToolResult
from agent_core.tools.policy.verdicts import Facts, Rule, judge
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.workspace.catalog import make_workspace_tools
from agent_core.tools.workspace.named_secrets import NamedSecret, NamedSecrets, list_uses
from agent_core.tools.workspace.terminal import TerminalTool
from agent_core.transcript import ToolCallPart
from tests.agent_core.execution.backends import make_local, needs_bubblewrap
from tests.agent_core.tools.workspace.desk import Desk

VALUE = 'canary "Zq7" & wörter/+\\4mK2pX9vT0\n' + "long-tail-" * 12
GITHUB = NamedSecret(name="github", value=VALUE, people=("anna",))
PRINT_FORMS = (
    'python3 -c \'import os, json, urllib.parse as u; v = os.environ["SECRET_GITHUB"];'
    ' print(json.dumps(v), u.quote(v), u.quote(v, safe=""), v.encode().hex())\''
)
OTHER = NamedSecret(name="bank", value="canary-of-ben-0123456789", people=("ben",))

START_FILES = (".bashrc", ".profile", ".bash_logout", "evil", "sitecustomize.py", "json.py")
BEFORE = {
    "exit trap": "trap 'touch ran; echo $SECRET_GITHUB > stolen' EXIT DEBUG RETURN ERR",
    "function": "true() { echo $SECRET_GITHUB > stolen; }; export -f true",
    "path": 'mkdir -p bin; cp /bin/env bin/true; export PATH="$PWD/bin:$PATH"',
    "start file": "export BASH_ENV=$PWD/evil ENV=$PWD/evil PROMPT_COMMAND=./evil",
    "preload": "export LD_PRELOAD=$PWD/evil.so PYTHONPATH=$PWD",
    "alias": "shopt -s expand_aliases; alias true='echo $SECRET_GITHUB > stolen'",
    "home": "echo 'echo $SECRET_GITHUB > /workspace/stolen' | tee ~/.bashrc ~/.profile",
    "daemon": "setsid sh -c 'while sleep 0.01; do cat /proc/*/environ >> seen; done' &",
}
"""Commands that prepare something for the command with the secret."""


class SecretDesk(Desk):
    """A desk whose commands may use secrets."""

    def __init__(self, database: Database, folder: Path) -> None:
        backend = make_local(folder)
        super().__init__(database, folder, backend)
        self.tools = make_workspace_tools(
            backend, self.background, command_seconds=30, secrets=NamedSecrets((GITHUB, OTHER))
        )
        self._toolbox = Toolbox(self.tools, mask=SecretMask((VALUE, OTHER.value)))

    async def run(self, *, is_accepted: bool = True, **arguments: object) -> ToolResult:
        context = replace(self.context(), is_accepted=is_accepted)
        given = {"secrets": ["github"], **arguments}
        call = ToolCallPart(call_id=context.call_id, name="terminal", arguments=json.dumps(given))
        return await self._toolbox.run(call, context)


def list_leaks(text: str) -> list[str]:
    """List the forms of the value, or of its last line, that a text holds."""
    tail = VALUE.splitlines()[-1]
    joined = text.replace("\n", "")
    forms = (tail, quote(tail), "canary", base64.b64encode(VALUE.encode()).decode()[20:60])
    return [form for form in forms if form in joined]


@pytest.fixture
async def secret_desk(database: Database, tmp_path: Path) -> SecretDesk:
    return SecretDesk(database, tmp_path)


@pytest.mark.process
@needs_bubblewrap
@pytest.mark.parametrize(
    "command",
    [
        'echo "$SECRET_GITHUB"',
        "env",
        'printf %s "$SECRET_GITHUB" | base64',
        'printf "x%s" "$SECRET_GITHUB" | base64 -w0',
        PRINT_FORMS,
        'printf %s "$SECRET_GITHUB" > kept; cat kept',
        'cat "/$(echo "$SECRET_GITHUB" | tail -1)"; exit 3',
        'printf %s "$SECRET_GITHUB" | fold -w 30',
        'for i in $(seq 3000); do echo "$i $SECRET_GITHUB"; done',
    ],
)
async def test_a_command_has_the_value_and_its_output_never_does(
    secret_desk: SecretDesk, command: str
) -> None:
    check = f"[ ${{#SECRET_GITHUB}} = {len(VALUE)} ] && echo complete; {command}"
    result = await secret_desk.run(command=check)
    assert "complete" in result.text
    assert "[hidden]" in result.text
    assert list_leaks(result.text) == []
    kept = [path.read_text() for path in secret_desk.place.rglob(".output/*")]
    assert bool(kept) is ("seq" in command)
    assert list_leaks("".join(kept)) == []


@pytest.mark.process
@needs_bubblewrap
async def test_a_secret_is_gone_with_its_command(secret_desk: SecretDesk) -> None:
    await secret_desk.run(command="export KEPT=$SECRET_GITHUB; echo done")
    left = await secret_desk.use("terminal", command='echo "[$SECRET_GITHUB$KEPT]"')
    assert left.text == "[]"
    assert not [path for path in secret_desk.place.rglob(".shell/*") if VALUE in path.read_text()]
    shown = await secret_desk.run(
        command="cat /proc/*/cmdline | tr '\\0' ' '; cat; echo; echo over"
    )
    assert "canary" not in shown.text
    assert shown.text.endswith("over")


@pytest.mark.process
@needs_bubblewrap
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"secrets": ["bank"]}, "no secret `bank` for this person; there are: `github`."),
        ({"secrets": ["secret:nothing"]}, "no secret `nothing` for this person"),
        ({"background": True}, "a command in the background can't use `secrets`."),
    ],
)
async def test_a_secret_that_can_not_be_used_is_refused(
    secret_desk: SecretDesk, arguments: dict[str, object], sentence: str
) -> None:
    result = await secret_desk.run(command="env", **arguments)
    assert result.is_error
    assert sentence in result.text


@pytest.mark.process
@needs_bubblewrap
async def test_nobody_uses_a_secret_unasked(secret_desk: SecretDesk) -> None:
    result = await secret_desk.run(command="env", is_accepted=False)
    assert result.text == "`terminal` was not run. Nobody who may allow it can be asked now."


def test_each_use_is_asked_and_an_owners_rule_ends_with_untrusted_words() -> None:
    actions = list_uses((GITHUB,))
    asked = judge("terminal", actions, Facts(), is_proposed=False)
    assert (asked.effect, asked.asked, asked.shapes) == ("ask", actions, ())
    rules = (Rule(effect="allow", pattern="secret:github"),)
    assert judge("terminal", actions, Facts(rules=rules), is_proposed=False).effect == "allow"
    tainted = judge("terminal", actions, Facts(rules=rules, is_tainted=True), is_proposed=False)
    assert (tainted.effect, tainted.is_tainted) == ("ask", True)


def test_a_repr_shows_no_value_and_only_a_home_with_secrets_offers_them(desk: Desk) -> None:
    assert "canary" not in repr(GITHUB)
    (terminal,) = (tool for tool in desk.tools if isinstance(tool, TerminalTool))
    assert "secret" not in terminal.spec.schema + terminal.spec.description


@pytest.mark.parametrize("text", ["canary-0123456789", "Bearer canary-0123456789 and more"])
def test_a_value_broken_into_lines_is_hidden(text: str) -> None:
    mask = SecretMask(("canary-0123456789",))
    for width in (1, 5, 7):
        lines = "\n".join(text[at : at + width] for at in range(0, len(text), width))
        assert "canary-0123456789" not in mask.hide(lines).replace("\n", "")
    assert mask.hide("canary\nand others") == "canary\nand others"


@needs_bubblewrap
@pytest.mark.process
async def test_no_code_of_the_workspace_runs_beside_a_secret(secret_desk: SecretDesk) -> None:
    place = secret_desk.place
    place.mkdir(parents=True)
    for name in START_FILES:
        (place / name).write_text("echo $SECRET_GITHUB > /workspace/stolen\n")
        (place / name).chmod(0o755)
    for command in BEFORE.values():
        await secret_desk.say("terminal", command=command)
    spy = "while sleep 0.01; do cat /proc/*/environ >> seen 2>/dev/null; done"
    await secret_desk.say("terminal", command=spy, background=True)
    for command in ("true", "python3 -c 'import json'", "bash -ic true", "env true"):
        said = await secret_desk.run(command=command)
        assert not said.is_error, said.text
    await secret_desk.say("process", action="kill", id="p1")
    for path in place.rglob("*"):
        assert not path.is_file() or not list_leaks(path.read_text(errors="replace")), path
