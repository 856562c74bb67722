"""A house in which the printed commands find what they name: people, jobs, files, servers."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pyrage import x25519

from agent_core.agent.named.agent_files import AgentChange, AgentFiles
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.teams import TeamChange, TeamFolder
from agent_core.skills.curation.snapshot import take_snapshot
from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from tests.agent_core.fitness.scripted_models import print_calls, script
from tests.agent_core.tools.mcp import oauth_server
from tests.agent_core.tools.mcp.conftest import HERE, PREFIXES
from tests.architecture.source import ROOT
from tests.emulators.local_servers import LocalServerEmulator, ollama
from tests.emulators.openai import MODELS, OpenAIEmulator
from tests.emulators.s3 import KEY, KEY_ID, REGION, S3Emulator
from tests.emulators.streaming import Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.accounts import code_in
from tests.integration.printed_commands import spell
from tests.integration.printed_walks import PASSPHRASE, Answer
from tests.integration.processes import environ, free_port, talaria_beside
from tests.journeys.stage import Stage, call, calls, system_of
from tests.journeys.terminal import at_terminal

CARL = 13
"""Waits to be let in."""
_MCP_TOKEN = "t0ken"
_PATIENCE = 300
_READABLE = " ".join(f"--readable {path}" for path in (*PREFIXES, HERE, "~/bin"))
"""What a server of these tests reads in the sandbox."""
_TOOLS = ["completion", "tools"]
_IMPORTING = ROOT / "tests" / "integration" / "importing"
_LETTA = ROOT / "tests" / "agent_core" / "agent" / "named" / "letta" / "present.af"
_CALENDAR = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//school//EN
BEGIN:VEVENT
UID:1
DTSTAMP:20261101T000000Z
DTSTART;VALUE=DATE:20261224
DTEND;VALUE=DATE:20270107
SUMMARY:Holidays
END:VEVENT
END:VCALENDAR
"""
_PLANTS = "---\nname: plants\ndescription: Water the plants.\n---\nWater them on Mondays.\n"
_CASES = json.dumps(
    {
        "evals": [
            {
                "id": number,
                "prompt": f"When do I water plant {number}?",
                "checks": [{"kind": "contains", "value": "Fridays"}],
            }
            for number in range(6)
        ]
    }
)
_SYSTEMD = '#!/bin/sh\necho "$(basename "$0") $*" >> ~/calls\n'
"""Notes how it is called."""
_TALARIA = f"""\
#!/bin/sh
export TALARIA_MODEL__FIND_LOCAL=false
exec {sys.executable} -m gateway "$@"
"""
"""Finds no model of this machine, not even where `make` empties the environment."""
_AGE = """\
import getpass
import sys

from pyrage import decrypt, passphrase, x25519

locked = sys.stdin.buffer.read()
if sys.argv[1:] == ["-d"]:
    text = passphrase.decrypt(locked, getpass.getpass("Enter passphrase: "))
else:
    lines = open(sys.argv[3]).read().split()
    text = decrypt(locked, [x25519.Identity.from_str(lines[-1])])
sys.stdout.buffer.write(text)
"""
"""The program age, in as far as the pages use it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a script ended, and what it wrote; in a terminal, since the last question."""

    code: int
    out: str
    err: str = ""


@dataclass(frozen=True, slots=True)
class House:
    """A home in which things have happened, in a user's home of its own.

    `facts` are its numbers, keys and servers.
    """

    user: Path
    variables: Mapping[str, str]
    facts: Mapping[str, str]

    def copy(self, target: Path) -> "House":
        """Return a house of the same content in another place."""
        shutil.copytree(self.user, target, symlinks=True)
        variables = {
            name: value.replace(f"{self.user}/", f"{target}/")
            for name, value in self.variables.items()
        }
        return House(target, variables | {"HOME": str(target)}, self.facts)

    def at(self, port: int) -> "House":
        """Return the same house, whose gateway has a port."""
        return replace(self, facts={**self.facts, "port": str(port)})

    def run(self, script: str) -> Ended:
        """Run a script in a shell that nobody answers."""
        done = subprocess.run(
            ["/bin/bash", "-c", spell(script, self.facts)],
            cwd=self.user,
            env=dict(self.variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def run_at_terminal(self, script: str, types: Sequence[tuple[str, Answer]]) -> Ended:
        """Run a script in a terminal, and type each answer once its question is there."""
        words = (str(self.user), spell(script, self.facts))
        with at_terminal(self.variables, *words, run=_run_shell) as terminal:
            for question, answer in types:
                found = terminal.wait_for(question)
                given = answer.format_map(self.facts) if isinstance(answer, str) else answer(found)
                terminal.type(given)
            code = terminal.leave()
            return Ended(code, terminal.seen.replace("\r\n", "\n"))


def _run_shell(files: Sequence[Path], words: Sequence[str], variables: Mapping[str, str]) -> None:
    """Become a shell whose terminal sends it Ctrl-C."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(os.open(file, os.O_RDWR), number)
    os.chdir(words[0])
    os.execve("/bin/bash", ["bash", "-c", words[1]], dict(variables))


@asynccontextmanager
async def open_house(user: Path) -> AsyncIterator[House]:
    """Build a house, and serve the emulators that it knows until the end."""
    home = user / ".talaria"
    routes = ollama(qwen3__8b=_TOOLS, qwen3__4b=_TOOLS)
    for name in ("qwen3:4b", "qwen3:8b"):
        routes[f"/v1/models/{name}"] = {"id": name, "object": "model"}
    async with AsyncExitStack() as servers:
        stage = await servers.enter_async_context(Stage(home))
        pulls = [{"status": "success"}]
        local = await servers.enter_async_context(LocalServerEmulator(routes, pulls=pulls))
        openai = await servers.enter_async_context(OpenAIEmulator(models=(*MODELS, "qwen3:8b")))
        openai.answer = script(print_calls)
        web = await servers.enter_async_context(oauth_server.serve())
        web.tokens[_MCP_TOKEN] = "anna@x"
        bucket = await servers.enter_async_context(S3Emulator())
        for name in ("discord", "slack", "signal", "whatsapp"):
            await servers.enter_async_context(stage.servers[name])
        stage.telegram.user(BEN, "Ada")
        stage.telegram.user(CARL, "Carl")
        identity = x25519.Identity.generate()
        given = stage.environ(allow="") | {
            "TALARIA_MODEL__LOCAL_PORTS": str(local.port),
            "OPENAI_EMULATOR": openai.base_url,
            "TALARIA_BACKUP__S3_ENDPOINT": bucket.address,
            "TALARIA_BACKUP__S3_REGION": REGION,
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": KEY,
        }
        facts = await fill(stage, home) | {
            "telegram": stage.telegram.token,
            "discord": stage.discord.token,
            "slack_bot": stage.slack.bot_token,
            "slack_app": stage.slack.app_token,
            "recipient": str(identity.to_public()),
            "readable": _READABLE,
            "web": web.url,
            "port": str(free_port()),
        }
        write_files(user)
        locked = {"TALARIA_BACKUP__S3": "s3://bucket", "BACKUP_PASSPHRASE": PASSPHRASE}
        assert (await talaria_beside(home, "backup", **given, **locked)).code == 0
        (made,) = bucket.objects.values()
        bucket.objects["bucket/nightly-20261126T033000Z.tar.gz.age"] = made
        stage.model.answer = partial(answer_with_skill, stage.model.answer)
        (user / "key.txt").write_text(f"{identity}\n")
        variables = environ(home, **given) | {
            "HOME": str(user),
            "TALARIA_PEOPLE__TIME_ZONE": "Europe/Vienna",
            "SLACK_API_BASE_URL": stage.slack.base_url,
            "DISCORD_API_BASE_URL": stage.discord.api_base_url,
            "DISCORD_GATEWAY_URL": stage.discord.gateway_url,
            "SIGNAL_RPC_URL": stage.signal.url,
            "WHATSAPP_API_BASE_URL": stage.whatsapp.base_url,
            "SHELL": "/bin/bash",
            "PATH": f"{user / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "ROOT": str(ROOT),
            "MCP_TOKEN": _MCP_TOKEN,
        }
        yield House(user, variables, facts)


def answer_with_skill(otherwise: Callable[[Json], Reply], body: Json) -> Reply:
    """Answer as who has read the skill about plants, if the prompt names it."""
    return text_answer("On Fridays.") if "Fridays" in system_of(body) else otherwise(body)


async def fill(stage: Stage, home: Path) -> dict[str, str]:
    """Let things happen in a home, and return their numbers."""
    async with stage.open(allow="") as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        await harness.ask(ANNA, f"/approve {code_in(await harness.ask(BEN, 'Hello'))}")
        waiting = code_in(await harness.ask(CARL, "Hello"))
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        patch = {"action": "patch", "old": "Mondays", "text": "Fridays"}
        for given in ({"action": "create", "text": _PLANTS}, patch):
            named = given | {"name": "plants"}
            skill = {"type": "tool_use", "name": "skill_manage", "input": named}
            stage.plan(calls(skill), "Kept.")
            await harness.ask(ANNA, "Keep how to water the plants.")
        fact = call("memory", action="add", target="user", text="Is allergic to nuts")
        stage.plan(calls(fact), "Noted.")
        await harness.ask(BEN, "I'm allergic to nuts. The dentist is on Monday.")
        stage.plan("Fine.")
        await harness.ask(BEN, "Thanks!")
        approval = str(await harness.gateway.database.write("test.approval", approve))

    async def tell(*words: str, given: str = "") -> str:
        done = await talaria_beside(home, *words, given=given)
        assert done.code == 0, (words, done)
        return done.out

    add = ("jobs", "add", "--person", "ada")
    job = first_number(await tell(*add, "--cron", "0 8 * * 1", "--message", "Water"))
    await tell("jobs", "change", job, "--cron", "0 9 * * 1")
    await tell("chat", given="Hello\n")
    token = await tell("tokens", "create", "old", "--person", "ada")
    await tell("webhooks", "add", "old", "--person", "ada", "--url", "https://example.org/t")
    numbers = {
        "turn": first_number(await tell("turns", "list")),
        "change": first_number(await tell("memory", "log", "--person", "ada")),
        "skill_change": first_row(await tell("skills", "log", "plants")),
        "room": first_row(await tell("rooms", "list")),
        "invitation": first_row(await tell("people", "waiting")),
        "job": job,
        "hook_job": first_number(await tell(*add, "--on", "webhook", "--message", "Built")),
        "token": re.findall(r"talaria_\w+", token)[0],
        "code": waiting,
        "approval": approval,
    }
    for name in ("talaria", "talaria-2026-11-26"):
        await tell("backup", str(home.parent / f"{name}-made.tar.gz"))
    await tell("people", "export", "ada", str(home.parent / "ada-made.zip"))
    evals = home / "skills" / "plants" / "evals"
    evals.mkdir()
    (evals / "evals.json").write_text(_CASES)
    take_snapshot(home / "skills", now=0)
    return numbers


def approve(connection: Connection) -> int:
    """Allow Anna one kind of command always, and return the number."""
    anna = next(one for one in people.list_all(connection) if one.role == "owner")
    subject = json.dumps(["terminal", "run", "workspace", "git", "log"])
    new = NewApproval(person_id=anna.id, decided_by=anna.id, scope="always", subject=subject)
    approvals.insert(connection, new, now=0)
    return int(approvals.list_of(connection, person_id=anna.id)[0].id)


def first_row(text: str) -> str:
    """Return the number at the beginning of the first numbered line."""
    found = re.search(r"^ *(\d+) ", text, re.MULTILINE)
    assert found, text
    return found[1]


def first_number(text: str) -> str:
    found = re.search(r"\d+", text)
    assert found, text
    return found[0]


def write_files(user: Path) -> None:
    """Write what the pages take for granted beside the home: other programs, and folders."""
    for name in ("hermes", "openclaw"):
        with tarfile.open(_IMPORTING / f"{name}_home.tar.gz") as tar:
            tar.extractall(user / f".{name}", filter="data")
    for place in ("Downloads/my-skill", "my-skills/my-skill"):
        copy_skill(user / place)
    sources = user / ".talaria" / "sources"
    sources.mkdir(exist_ok=True)
    (sources / "school.ics").write_text(_CALENDAR)
    write_newsroom(user / ".talaria")
    write_agent_files(user)
    write_programs(user / "bin")
    (user / "notes").mkdir()
    price = {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 1e-6}
    prices = {f"claude-{number}": price | {"output_cost_per_token": 1e-6} for number in range(60)}
    (user / "prices.json").write_text(json.dumps(prices))
    tasks = ({"prompt": "Hello!"}, {"prompt": "Good morning!"})
    (user / "tasks.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in tasks))


def write_programs(folder: Path) -> None:
    """Write Talaria's own command, and stand-ins for other programs of a reader."""
    folder.mkdir()
    texts = {
        "talaria": _TALARIA,
        "mcp-server-filesystem": f"#!/bin/sh\nexec {sys.executable} {HERE / 'sdk_server.py'}\n",
        "age": f"#!{sys.executable}\n{_AGE}",
        "systemctl": _SYSTEMD,
        "journalctl": _SYSTEMD,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    make_environment(folder.parent / "venv")


def make_environment(folder: Path) -> None:
    """Make what `make` takes for a finished environment."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "talaria").symlink_to("../../bin/talaria")
    for stamp in ("ready", "ready-run"):
        (folder / stamp).touch()


def write_newsroom(home: Path) -> None:
    """Make the agents and teams of docs/teams.md, and a second team."""
    agents = AgentFolder(home)
    files, teams = AgentFiles(agents), TeamFolder(home, agents)
    soul = "You write short, warm texts."
    files.create("writer", AgentChange(soul=soul, tags=("press",)))
    for name in ("checker", "editor"):
        files.create(name, AgentChange())
    desk = TeamChange(manager="supervisor", supervisor="editor", members=("writer", "checker"))
    teams.create("desk", desk)
    teams.create("radio", TeamChange(supervisor="editor", members=("checker",)))


def write_agent_files(user: Path) -> None:
    """Write the files of docs/agent-files.md: one agent, and several in one file."""
    written = _LETTA.read_text("utf-8")
    for name in ("anna", "coder"):
        (user / f"{name}.af").write_text(written)
    several = json.loads(written)
    (first,) = several["agents"]
    writer = first | {"id": "agent-2", "name": "writer"}
    several["agents"].append(writer | {"messages": [], "in_context_message_ids": []})
    (user / "team.af").write_text(json.dumps(several))


def copy_skill(folder: Path) -> None:
    """Copy a skill under another name."""
    shutil.copytree(ROOT / "skills_bundled" / "csv-report", folder)
    skill = folder / "SKILL.md"
    skill.write_text(skill.read_text("utf-8").replace("name: csv-report", f"name: {folder.name}"))
