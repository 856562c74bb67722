"""The commands that README and docs print, and what a reader has that the tests have otherwise."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.architecture.source import ROOT

_BLOCK = re.compile(r"^ *```(?:sh|bash)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(talaria (?:[a-z][\w-]*)(?: [^`]*)?)`")
_COMMENT = re.compile(r"\s+# .*")

_HERE = "tests/integration/interfaces"
EXCEPTIONS: dict[str, str] = {
    r"^(pipx|uv tool|pip) ": "downloads packages: tools/release_check.py",
    r"^docker |container_check": "needs a Docker engine: tools/container_check.sh, in .ci/run",
    r"^(sudo |ssh -L)": "needs root, or another machine",
    r"^make (check|test)$": "CI does the same: .ci/run",
    r"^make (try-rl|check release-check|release-check|lock|sbom)$": "downloads packages",
    r"^node conformance": "comes from npm: tests/agent_core/tools/mcp/test_conformance.py",
    r"^claude mcp": "Claude Code, another program, with an account",
    r"talaria (upgrade|uninstall)": f"the installation: {_HERE}/test_everyday_words.py",
    r"models update$": f"downloads the prices: {_HERE}/test_model_operations.py",
    r"^signal-cli": "a daemon of the reader's: tests/adapters/signal/test_daemon.py",
    r"^vf-eval": "verifiers, in an environment of its own: tools/try_rl.py",
}
"""Commands that are not run, each with the reason and what tries it instead."""

LIVE = re.compile(
    r"^curl|talaria (check --live|top|status|stop|console|logins|chat|service|jobs webhook"
    r"|mcp serve|skills eval)"
)
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


REPLACED = {
    r"(turns \w+ (--prompt )?)128|(--turn )12\b": r"\g<1>\g<3>{turn}",
    r"(jobs (?!webhook)\w+|after) [35]\b": r"\1 {job}",
    r"(jobs webhook) 3": r"\1 {hook_job}",
    r"memory undo (42|57)": "memory undo {change}",
    r"skills undo 57": "skills undo {skill_change}",
    r"approvals revoke 7": "approvals revoke {approval}",
    r"(rooms \w+) 3\b": r"\1 {room}",
    r"people cancel 3": "people cancel {invitation}",
    r"K7QD2M": "{code}",
    r"(webhooks redeliver 1) 7": r"\1 1",
    r"restore ~/(talaria[\w-]*)\.tar(?!\.gz\.age)": r"restore ~/\1-made.tar",
    r"--at 20\d\d-\d\d-\d\dT": "--at 2099-01-02T",
    r"import ada ~/ada\.zip": "import ada ~/ada-made.zip",
    r"agents export coder ~/coder": "agents export writer ~/writer",
    r"talaria_\.\.\.": "{token}",
    r"123:AAE\.\.\.": "{telegram}",
    r"age1\.\.\.": "{recipient}",
    r"127\.0\.0\.1:8765": "127.0.0.1:{port}",
    r"TALARIA_HTTP__PORT=8080": "TALARIA_HTTP__PORT={port}",
    r"--url https://mcp\.example\.org/": "--local --url {web}/mcp",
    r"-- mcp-server-filesystem": "{readable} -- ~/bin/mcp-server-filesystem",
}
"""What a reader has numbers, keys and servers of their own for, and the house its own."""


def spell(script: str, facts: Mapping[str, str]) -> str:
    """Return a script with the house's own numbers, keys and servers."""
    for pattern, own in REPLACED.items():

        def replace(found: re.Match[str], own: str = own) -> str:
            return found.expand(own.format_map(facts))

        script = re.sub(pattern, replace, script)
    return script
