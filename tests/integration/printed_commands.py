"""The commands that README and docs print, and what a reader has that the tests have otherwise."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.architecture.source import ROOT

_BLOCK = re.compile(r"^ *```(?:sh|bash)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(talaria (?:[a-z][\w-]*)(?: [^`]*)?)`")
_COMMENT = re.compile(r"\s+# .*")

_HERE = "tests/integration/interfaces"
EXCEPTIONS: dict[str, str] = {
    r"^(pipx|uv tool|pip) ": "installs from a wheel or a registry: tools/release_check.py",
    r"docker compose": "needs Compose 2, which Debian lacks; the image: tools/container_check.sh",
    r"\| docker |^docker ": "needs a Docker engine: tools/container_check.sh",
    r"^(sudo |ssh -L)": "needs root, or another machine",
    r"^make (setup|check|test)$": "CI does the same: .ci/run",
    r"^make demo$": "the same lines: tests/journeys/test_terminal.py",
    r"^make run$": "runs until it is stopped: tests/integration/processes.py",
    r"^make (try-rl|check release-check|release-check|lock)$": "downloads packages",
    r"^node conformance": "comes from npm: tests/agent_core/tools/mcp/test_conformance.py",
    r"^(python3 -m venv dist|dist/sbom|\.venv/bin/cyclonedx|rm -r dist)": "a release, by hand",
    r"^sed .*age": f"needs the program age; the same file: {_HERE}/test_backup_commands.py",
    r"^claude mcp": "Claude Code, another program, with an account",
    r"talaria setup( |$)(?!--non)": "asks on a terminal: tests/journeys/test_setup.py",
    r"AAE": "an account at Telegram: tests/journeys/test_setup.py",
    r"talaria run$": "runs until it is stopped: tests/integration/processes.py",
    r"(-f|--follow)$": f"follows until Ctrl-C: {_HERE}/test_logs.py",
    r"talaria service": f"the user's service manager: {_HERE}/test_autostart.py",
    r"talaria (upgrade|uninstall)": f"the installation: {_HERE}/test_everyday_words.py",
    r"models test": "takes minutes of a model: tests/journeys/test_fitness.py",
    r"people erase ada$": f"asks for the name on a terminal: {_HERE}/test_cli.py",
    r"people forget ada": f"asks for a yes: {_HERE}/test_people_operations.py",
    r"skills eval": "calls a model in many runs: tests/integration/skills/test_tests.py",
    r"models update$": f"downloads the prices: {_HERE}/test_model_operations.py",
    r"^signal-cli": "a daemon of the reader's: tests/adapters/signal/test_daemon.py",
    r"^vf-eval": "verifiers, in an environment of its own: tools/try_rl.py",
    r"mcp (add|test files)": "a server of the reader's: tests/journeys/test_mcp.py",
    r"mcp serve": f"another program starts it: {_HERE}/test_mcp_server.py",
    r"--passphrase": f"asks on a terminal: {_HERE}/test_backup_commands.py",
    r"s3://": f"an account at a bucket's host: {_HERE}/test_backup_places.py",
}
"""Commands that are not run, each with the reason and what tries it instead."""

LIVE = re.compile(r"^curl|talaria (check --live|top|status|stop|console|logins|chat|jobs webhook)")
"""Commands for a Talaria that runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A command of a page."""

    page: str
    command: str

    @property
    def reason(self) -> str:
        """The reason why it is not run; "" if it is."""
        found = (why for pattern, why in EXCEPTIONS.items() if re.search(pattern, self.command))
        return next(found, "")


def list_printed() -> list[Printed]:
    """Return the commands in blocks of all pages, each once."""
    found: dict[str, Printed] = {}
    for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))):
        for command in _list_commands(path.read_text("utf-8")):
            found.setdefault(command, Printed(page=path.name, command=command))
    return list(found.values())


def _list_commands(text: str) -> Iterator[str]:
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            command = _COMMENT.sub("", line).strip()
            if command:
                yield re.sub(r"\s{2,}", " ", command).replace(".venv/bin/talaria", "talaria")


def list_inline() -> list[str]:
    """Return the commands that stand within sentences, each once."""
    pages = (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))
    texts = (path.read_text("utf-8") for path in pages)
    return sorted({command for text in texts for command in _INLINE.findall(text)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the house of the tests has in the place of a reader's things."""

    turn: int
    change: int
    job: int
    token: str
    port: int
    code: str
    approval: int
    skill_change: int
    room: int
    invitation: int
    recipient: str


REPLACED: tuple[tuple[str, Callable[[Facts], str]], ...] = (
    (r"(?<=turns show )(--prompt )?128", lambda f: rf"\g<1>{f.turn}"),
    (r"(?<=turns replay )128", lambda f: str(f.turn)),
    (r"(?<=--turn )12\b", lambda f: str(f.turn)),
    (r"(jobs \w+) [35]\b", lambda f: rf"\1 {f.job}"),
    (r"(after) [35]\b", lambda f: rf"\1 {f.job}"),
    (r"skills undo 57", lambda f: f"skills undo {f.skill_change}"),
    (r"approvals revoke 7", lambda f: f"approvals revoke {f.approval}"),
    (r"(rooms \w+) 3\b", lambda f: rf"\1 {f.room}"),
    (r"people cancel 3", lambda f: f"people cancel {f.invitation}"),
    (r"age1\.\.\.", lambda f: f.recipient),
    (r"K7QD2M", lambda f: f.code),
    (r"(webhooks redeliver 1) 7", lambda _: r"\1 1"),
    (r"memory undo (42|57)", lambda f: f"memory undo {f.change}"),
    (r"restore ~/(talaria[\w-]*)\.tar(?!\.gz\.age)", lambda f: r"restore ~/\1-made.tar"),
    (r"--at 20\d\d-\d\d-\d\dT", lambda f: "--at 2099-01-02T"),
    (r"import ada ~/ada\.zip", lambda f: "import ada ~/ada-made.zip"),
    (r"agents export coder ~/coder", lambda f: "agents export writer ~/writer"),
    (r"(skills install ~\S+)$", lambda f: r"\1 --yes"),
    (r"talaria_\.\.\.", lambda f: f.token),
    (r"127\.0\.0\.1:8765", lambda f: f"127.0.0.1:{f.port}"),
    (r"TALARIA_HTTP__PORT=8080", lambda f: f"TALARIA_HTTP__PORT={f.port}"),
)
"""What a reader has numbers, keys and servers of their own for."""


def spell(command: str, facts: Facts) -> str:
    """Return a command with the house's own numbers, keys and servers."""
    for pattern, replace in REPLACED:
        command = re.sub(pattern, replace(facts), command)
    return command
