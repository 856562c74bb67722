"""Every command that README and docs print works, except a list with reasons."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyrage import x25519

from agent_core.agent.named.agent_files import AgentChange, AgentFiles
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.teams import TeamChange, TeamFolder
from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from gateway.interfaces import subcommands
from tests.architecture.source import ROOT
from tests.emulators.local_servers import LocalServerEmulator, ollama
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.accounts import code_in
from tests.integration.printed_commands import (
    EXCEPTIONS,
    LIVE,
    Facts,
    Printed,
    list_inline,
    list_printed,
    spell,
)
from tests.integration.processes import environ, running, talaria_beside
from tests.journeys.stage import Stage, call, calls
from tests.tables import check_each

pytestmark = [pytest.mark.thorough, pytest.mark.process]

PRINTED = list_printed()
IDENTITY = x25519.Identity.generate()
CARL = 13
"""Waits to be let in."""
ABSENT = {
    "talaria jobs webhook 3": "doesn't wait for a web request",
    "talaria skills agree plants": "needs no agreement",
    "talaria skills curate --restore": "There is no snapshot yet",
    "talaria mcp accept files": "There are no MCP servers",
}
"""Commands that name something the house lacks, each with how they say so."""
COPY = "; ".join(
    (
        "git config --global user.name Ada",
        "git config --global user.email ada@example.org",
        "git init --quiet up",
        "git -C up commit --quiet --allow-empty -m First",
        "git clone --quiet up copy",
        "cd copy",
    )
)
"""Makes a repository and a copy of it."""
CODER = "talaria agents add coder"
BATCH = "talaria batch run tasks.jsonl"
LINES = "wc -l data.jsonl"
LOCKED = "talaria backup ~/talaria.tar.gz.age --recipient age1..."
WALKS = {
    LOCKED: ("", "talaria restore ~/talaria.tar.gz.age --identity ~/key.txt --check", "complete"),
    "talaria restore ~/talaria.tar.gz.age --identity ~/key.txt": (
        f"{LOCKED}; talaria jobs delete 3",
        "talaria jobs list",
        "Water",
    ),
    BATCH: ("", "", "2 lines: 2 succeeded"),
    f"{BATCH} --at-once 20": ("", "", "2 lines: 2 succeeded"),
    f"{BATCH} --at-once 50 --budget 20 --tools terminal,read_file": (
        *("talaria config set tools.backend local", "", "2 lines: 2 succeeded"),
    ),
    "talaria batch report tasks.run": (BATCH, "", "2 succeeded"),
    "talaria batch report tasks.run --json": (BATCH, "", '"succeeded": ?2'),
    "talaria batch export tasks.run data.jsonl --format sharegpt": (BATCH, LINES, "^2 "),
    "talaria batch export tasks.run data.jsonl --format openai": (BATCH, LINES, "^2 "),
    "talaria batch export tasks.run data.jsonl --used terminal --max-tokens 16000": (
        *(BATCH, LINES, "^0 "),
    ),
    "talaria mcp remove files": (
        "printf '[servers.files]\ncommand = \"cat\"\n' > ~/.talaria/mcp.toml",
        "talaria mcp list",
        r"^(?![\s\S]*files)",
    ),
    "talaria people approve K7QD2M": ("", "talaria people list", "Carl"),
    "talaria people cancel 3": ("", "talaria people waiting", r"^(?![\s\S]*Carl)"),
    "talaria jobs restore 3": ("talaria jobs delete 3", "talaria jobs list", "Water"),
    "talaria skills restore plants": (
        "talaria skills archive plants",
        "ls ~/.talaria/skills",
        "plants",
    ),
    "talaria skills rollback plants": ("", "cat ~/.talaria/skills/plants/SKILL.md", "Mondays"),
    "talaria skills rollback plants --to 2": (
        "talaria skills rollback plants",
        "cat ~/.talaria/skills/plants/SKILL.md",
        "Fridays",
    ),
    "talaria skills undo 57": ("", "cat ~/.talaria/skills/plants/SKILL.md", "Mondays"),
    "talaria agents show coder": (CODER, "", "coder"),
    "talaria agents change coder --tags work,code": (CODER, "talaria agents show coder", "work"),
    "talaria agents archive coder": (CODER, "ls ~/.talaria/agents", r"^(?![\s\S]*coder)"),
    "talaria agents restore coder": (
        f"{CODER}; talaria agents archive coder",
        "talaria agents list",
        "coder",
    ),
    "talaria teams restore desk": ("talaria teams archive desk", "talaria teams list", "desk"),
    "talaria models forget qwen3:8b": ("talaria models trust qwen3:8b", "", "Forgotten of qwen3"),
    "talaria models update --from ~/prices.json": ("", "ls ~/.talaria", "models.json"),
    "talaria approvals revoke 7": ("", "talaria approvals list", r"^(?![\s\S]*git log)"),
    "talaria rooms set 3 off": ("", "talaria rooms list", "off"),
    "talaria rooms set 3 room": ("talaria rooms set 3 off", "talaria rooms list", "room"),
    "talaria rooms name 3 Kitchen": ("", "talaria rooms list", "telegram: Kitchen"),
    "talaria rooms name 3": ("talaria rooms name 3 Kitchen", "talaria rooms list", "telegram: - "),
    "talaria tokens revoke 2": (
        "talaria tokens create spare --person ada",
        "talaria tokens list",
        r"^(?![\s\S]*spare)",
    ),
    "talaria webhooks resume 1": ("talaria webhooks pause 1", "talaria webhooks list", "active"),
    "talaria webhooks restore 1": ("talaria webhooks remove 1", "talaria webhooks list", "active"),
    "talaria webhooks redeliver 1 7": ("talaria webhooks test 1", "", "is sent again"),
    "printf 'TELEGRAM_BOT_TOKEN=...\\nANTHROPIC_API_KEY=...\\n' > .env": (
        *("", "cat .env", r"^TELEGRAM_BOT_TOKEN=\.\.\.\nANTHROPIC_API_KEY=\.\.\.\n$"),
    ),
    "chmod 600 .env": ("touch .env; chmod 644 .env", "stat -c %a .env", "^600$"),
    "rm -rf ~/.talaria": ("", "ls -A", r"^(?![\s\S]*\.talaria\n)"),
    "rm requirements*.lock": ("touch requirements.lock", "ls", r"^(?![\s\S]*\.lock)"),
    "git pull": (
        f"{COPY}; git -C ../up commit --quiet --allow-empty -m Second",
        "git log --format=%s",
        "Second",
    ),
    'git -c core.hooksPath=.git/hooks commit -m "Fix the date"': (
        f"{COPY}; touch date; git add date",
        "git log --format=%s",
        "Fix the date",
    ),
    'git -c filter.lfs.smudge="git-lfs smudge -- %f" checkout .': (
        f"{COPY}; echo 1 > date; git add date; git commit --quiet -m Date; rm date",
        "cat date",
        "^1$",
    ),
    "export OPENAI_BASE_URL=http://192.168.1.20:11434/v1": ("", "printenv OPENAI_BASE_URL", "/v1"),
    "export TALARIA_MODEL__NAME=qwen3:8b": ("", "talaria config get model.name", "qwen3:8b"),
}
"""What a reader does before and after a command, and what shows its deed: what the line after it
writes, or else the command.
"""
PLANTS = "---\nname: plants\ndescription: Water the plants.\n---\nWater them on Mondays.\n"
_MARK = "= = = ="
"""Stands between what a command says and what shows its deed."""
CALENDAR = """\
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
LETTA = ROOT / "tests" / "agent_core" / "agent" / "named" / "letta" / "present.af"
_PATIENCE = 300
_PARTS = 8
"""Parts of the commands, so that no test takes minutes."""
_TOOLS = ["completion", "tools"]


@dataclass(frozen=True, slots=True)
class House:
    """A home in which things have happened, in a user's home of its own."""

    user: Path
    variables: dict[str, str]
    facts: Facts

    def copy(self, target: Path) -> "House":
        """Return a house of the same content in another place."""
        shutil.copytree(self.user, target, symlinks=True)
        variables = self.variables | {"HOME": str(target), "TALARIA_HOME": str(target / ".talaria")}
        return House(target, variables, self.facts)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a shell."""
        return subprocess.run(
            ["/bin/bash", "-c", spell(command, self.facts)],
            cwd=self.user,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )


@pytest.fixture
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A house with Ada, a memory, a job, a skill, a turn, a token and a webhook."""
    user = tmp_path_factory.mktemp("u")
    home = user / ".talaria"
    routes = ollama(qwen3__8b=_TOOLS, qwen3__4b=_TOOLS)
    for name in ("qwen3:4b", "qwen3:8b"):
        routes[f"/v1/models/{name}"] = {"id": name, "object": "model"}
    pulls = [{"status": "success"}]
    async with Stage(home) as stage, LocalServerEmulator(routes, pulls=pulls) as local:
        stage.telegram.user(BEN, "Ada")
        stage.telegram.user(CARL, "Carl")
        given = stage.environ(allow="") | {"TALARIA_MODEL__LOCAL_PORTS": str(local.port)}
        facts = await fill(stage, home)
        write_files(user)
        variables = environ(home, **given) | {
            "HOME": str(user),
            "TALARIA_PEOPLE__TIME_ZONE": "Europe/Vienna",
            "SHELL": "/bin/bash",
            "PATH": f"{user / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }
        yield House(user, variables, facts)


async def fill(stage: Stage, home: Path) -> Facts:
    """Let things happen in a home, and return their numbers."""
    async with stage.open(allow="") as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        await harness.ask(ANNA, f"/approve {code_in(await harness.ask(BEN, 'Hello'))}")
        waiting = code_in(await harness.ask(CARL, "Hello"))
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        patch = {"action": "patch", "old": "Mondays", "text": "Fridays"}
        for given in ({"action": "create", "text": PLANTS}, patch):
            skill = {
                "type": "tool_use",
                "name": "skill_manage",
                "input": given | {"name": "plants"},
            }
            stage.plan(calls(skill), "Kept.")
            await harness.ask(ANNA, "Keep how to water the plants.")
        fact = call("memory", action="add", target="user", text="Is allergic to nuts")
        stage.plan(calls(fact), "Noted.")
        await harness.ask(BEN, "I'm allergic to nuts.")
        stage.plan("Fine.")
        await harness.ask(BEN, "Thanks!")
        approval = await harness.gateway.database.write("test.approval", approve)
    add = ("jobs", "add", "--person", "ada", "--cron", "0 8 * * 1", "--message", "Water")
    job = (await talaria_beside(home, *add)).out
    change = ("jobs", "change", str(first_number(job)), "--cron", "0 9 * * 1")
    assert (await talaria_beside(home, *change)).code == 0
    assert (await talaria_beside(home, "chat", given="Hello\n")).code == 0
    token = (await talaria_beside(home, "tokens", "create", "old", "--person", "ada")).out
    hook = ("webhooks", "add", "old", "--person", "ada", "--url", "https://example.org/t")
    assert (await talaria_beside(home, *hook)).code == 0
    log = (await talaria_beside(home, "memory", "log", "--person", "ada")).out
    turns = (await talaria_beside(home, "turns", "list")).out
    changed = (await talaria_beside(home, "skills", "log", "plants")).out
    rooms = (await talaria_beside(home, "rooms", "list")).out
    invitations = (await talaria_beside(home, "people", "waiting")).out
    for name in ("talaria", "talaria-2026-11-26"):
        made = await talaria_beside(home, "backup", str(home.parent / f"{name}-made.tar.gz"))
        assert made.code == 0
    made = await talaria_beside(home, "people", "export", "ada", str(home.parent / "ada-made.zip"))
    assert made.code == 0
    return Facts(
        turn=first_number(turns),
        change=first_number(log),
        job=first_number(job),
        token=re.findall(r"talaria_\w+", token)[0],
        port=0,
        code=waiting,
        approval=approval,
        skill_change=first_row(changed),
        room=first_row(rooms),
        invitation=first_row(invitations),
        recipient=str(IDENTITY.to_public()),
    )


def approve(connection: Connection) -> int:
    """Allow Anna one kind of command always, and return the number."""
    anna = next(one for one in people.list_all(connection) if one.role == "owner")
    subject = json.dumps(["terminal", "run", "workspace", "git", "log"])
    new = NewApproval(person_id=anna.id, decided_by=anna.id, scope="always", subject=subject)
    approvals.insert(connection, new, now=0)
    return int(approvals.list_of(connection, person_id=anna.id)[0].id)


def first_row(text: str) -> int:
    """Return the number at the beginning of the first numbered line."""
    found = re.search(r"^ *(\d+) ", text, re.MULTILINE)
    assert found, text
    return int(found[1])


def first_number(text: str) -> int:
    found = re.search(r"\d+", text)
    assert found, text
    return int(found[0])


def write_files(user: Path) -> None:
    """Write what the pages take for granted beside the home: other programs' homes, and folders."""
    importing = ROOT / "tests" / "integration" / "importing"
    for name in ("hermes", "openclaw"):
        with tarfile.open(importing / f"{name}_home.tar.gz") as tar:
            tar.extractall(user / f".{name}", filter="data")
    for place in ("Downloads/my-skill", "my-skills/my-skill"):
        copy_skill(user / place)
    sources = user / ".talaria" / "sources"
    sources.mkdir(exist_ok=True)
    (sources / "school.ics").write_text(CALENDAR)
    write_newsroom(user / ".talaria")
    write_agent_files(user)
    price = {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 1e-6}
    prices = {f"claude-{number}": price | {"output_cost_per_token": 1e-6} for number in range(60)}
    tasks = ({"prompt": "Hello!"}, {"prompt": "Good morning!"})
    (user / "tasks.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in tasks))
    (user / "key.txt").write_text(f"{IDENTITY}\n")
    (user / "prices.json").write_text(json.dumps(prices))
    (user / "bin").mkdir()
    shim = user / "bin" / "talaria"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m gateway "$@"\n')
    shim.chmod(0o755)


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
    written = LETTA.read_text("utf-8")
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


def check(house: House, printed: Printed) -> None:
    first, then, shown = WALKS.get(printed.command, ("", "", ""))
    lines = [f"{{ {first}; }} >/dev/null"] if first else []
    lines += [printed.command, *([f"echo '{_MARK}'", then] if then else [])]
    done = house.run("\n".join(["set -e", *lines]))
    said = f"{printed.page}: {printed.command}\n{done.stdout[-800:]}\n{done.stderr[-800:]}"
    if printed.command in ABSENT:
        assert done.returncode in (1, 2), said
        assert re.search(ABSENT[printed.command], done.stderr), said
    else:
        assert done.returncode == 0, said
        assert re.search(shown, done.stdout.rpartition(f"{_MARK}\n")[2]), said
    assert "Traceback" not in done.stderr, said


@pytest.mark.parametrize("part", range(_PARTS))
async def test_each_command_for_a_home_works(house: House, tmp_path: Path, part: int) -> None:
    rows = [one for one in PRINTED if not one.reason and not LIVE.search(one.command)][part::_PARTS]

    def check_copied(row: tuple[int, Printed]) -> None:
        copied = house.copy(tmp_path / str(row[0]))
        check(copied, row[1])
        shutil.rmtree(copied.user)

    await asyncio.to_thread(check_each, list(enumerate(rows)), check_copied)


async def test_each_command_for_a_gateway_works(house: House) -> None:
    rows = [one for one in PRINTED if not one.reason and LIVE.search(one.command)]
    rows.sort(key=lambda one: "stop" in one.command)
    home = house.user / ".talaria"
    given = {name: house.variables[name] for name in house.variables if name != "TALARIA_HOME"}
    async with running(home, **given) as gateway:
        facts = Facts(
            **{**{n: getattr(house.facts, n) for n in Facts.__slots__}, "port": gateway.port}
        )
        served = House(house.user, house.variables, facts)
        await asyncio.to_thread(check_each, rows, lambda one: check(served, one))


def test_each_exception_is_needed() -> None:
    unused = [
        pattern
        for pattern in EXCEPTIONS
        if not any(re.search(pattern, one.command) for one in PRINTED)
    ]
    assert unused == []
    named = [path for why in EXCEPTIONS.values() for path in re.findall(r"[\w.]+/[\w./]+", why)]
    assert [path for path in named if not ROOT.joinpath(path).exists()] == []
    known = {one.command for one in PRINTED}
    assert [command for command in (*ABSENT, *WALKS) if command not in known] == []


def test_each_command_in_a_sentence_exists() -> None:
    """The words before a name in capitals or dots are a command and a verb."""
    for command in list_inline():
        _, word, *rest = command.split()
        assert word in subcommands.SUBCOMMANDS, command
        verbs = subcommands.make_parser(word).list_verbs()
        if verbs and rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]):
            assert rest[0] in verbs, command
