"""Git behind its guard: nothing that a repository's or the home's configuration names runs."""

import re
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent_core.execution import git_guard
from agent_core.execution.contract import Backend, Command
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.backends import (
    BACKENDS,
    HOSTED,
    make_local,
    needs_bubblewrap,
    needs_landlock,
    open_backend,
)
from tests.tables import check_each

pytestmark = pytest.mark.process
_CARRIERS = Path(__file__).with_name("git_carriers.sh")
PROGRAMS = (
    *("filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.command", "diff.x.textconv"),
    *("diff.external", "merge.x.driver", "alias.x", "core.fsmonitor", "core.pager", "core.editor"),
    *("core.sshCommand", "core.askPass", "core.gitProxy", "core.alternateRefsCommand"),
    *("sequence.editor", "credential.helper", "credential.https://127.0.0.1:9.helper"),
    *("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"),
    *("pager.log", "pager.status", "interactive.diffFilter", "trailer.x.command", "trailer.x.cmd"),
    *("submodule.sub.update", "tar.x.command", "web.browser", "browser.b.cmd", "man.b.cmd"),
    *("difftool.d.cmd", "mergetool.d.cmd", "diff.tool", "merge.tool", "sendemail.smtpServer"),
    *("sendemail.toCmd", "sendemail.sendmailCmd", "uploadpack.packObjectsHook", "instaweb.httpd"),
    *("gc.recentObjectsHook", "receive.x.helper", "push.laterCommand"),
    *("init.templateDir", "hook.h.command", "some.program", "rebase.instructionFormat"),
)
"""Settings of git that name a program, under some name."""
_TYPED = re.compile(r"bad |unknown value|invalid|malformed|not a|could not|fatal: (?!ext)")
_OWN = frozenset(("core.worktree", "safe.directory", "include.path", "help.autocorrect"))
"""Settings with a rule of their own, and numbers that only one call reads."""
_TRIED = ("status", "log -1", "diff", "fetch origin", "push origin HEAD:x", "blame a", "gc -q")


def write_settings(keys: Sequence[str]) -> bytes:
    """Return a configuration in which each setting names the canary."""
    lines = list[str]()
    for key in keys:
        section, _, rest = key.partition(".")
        middle, _, name = rest.rpartition(".")
        lines.append(f'[{section} "{middle}"]' if middle else f"[{section}]")
        sign = "!" if section in ("alias", "submodule", "credential") else ""
        lines.append(f"\t{name} = {sign}CANARY {key}")
    return "\n".join(lines).encode()


async def run(
    backend: Backend, keys: Sequence[str], before: str = "", *, is_short: bool = False
) -> tuple[str, str]:
    """Return what the carriers ran, and the ordinary calls that failed."""
    await backend.write_file("anna", "settings", write_settings(keys))
    await backend.write_file("anna", "carriers.sh", _CARRIERS.read_bytes())
    text = f"{before} exec bash $WORKSPACE/carriers.sh $WORKSPACE/settings {'short' * is_short}"
    done = await run_command(
        backend,
        Command(workspace="anna", argv=("/bin/bash", "-c", text)),
        seconds=500,
        most_bytes=1_000_000,
    )
    found = re.search(r"^RAN:(.*)\nFAILED:(.*)", done.output.decode(), re.M | re.S)
    assert found, (done.output, done.status)
    return found[1].strip(), found[2].strip()


@needs_bubblewrap
async def test_ordinary_git_works_and_runs_nothing_that_is_named(tmp_path: Path) -> None:
    ran, failed = await run(make_local(tmp_path), PROGRAMS, is_short=True)
    assert (ran, failed) == ("", "")


@needs_bubblewrap
@pytest.mark.thorough
async def test_no_call_of_git_runs_what_is_named(tmp_path: Path) -> None:
    ran, failed = await run(make_local(tmp_path), PROGRAMS)
    assert (ran, failed) == ("", "")


@needs_bubblewrap
@pytest.mark.thorough
async def test_without_the_guard_the_same_calls_run_what_is_named(tmp_path: Path) -> None:
    ran, _ = await run(make_local(tmp_path), PROGRAMS, "PATH=/usr/bin; unset ${!GIT_*};")
    assert len(ran.split()) > 10, "the carriers carry nothing"


@needs_bubblewrap
@pytest.mark.thorough
async def test_no_setting_that_git_lists_runs_a_program(tmp_path: Path) -> None:
    keys = [key for key in _list_keys() if not git_guard.is_harmless_setting(key)]
    ran, failed = await run(make_local(tmp_path), [*_leave_out_typed(keys, tmp_path), *PROGRAMS])
    assert (ran, failed) == ("", "")


@pytest.mark.thorough
def test_no_harmless_setting_runs_a_program(tmp_path: Path) -> None:
    """Without a guard: what it lets pass must be harmless by itself."""
    place, canary = _make_repository(tmp_path)
    ran = tmp_path / "ran"

    def check(key: str) -> None:
        for words in _TRIED:
            _git(place, "-c", f"{key}={canary} {key}", *words.split())
        assert not ran.exists(), ran.read_text()

    harmless = [key for key in _list_keys() if git_guard.is_harmless_setting(key)]
    assert len(harmless) > 250
    check_each(harmless, check)


@pytest.mark.parametrize("key", PROGRAMS)
def test_a_setting_that_names_a_program_is_not_harmless(key: str) -> None:
    assert not git_guard.is_harmless_setting(key)
    assert not git_guard.is_harmless_setting(key.upper())


_UNUSUAL = """
git init -q a; cd a; git config man.viewer x; git config man.x.cmd 'touch ../ran; :'
git --help log; git -C . --help log; git --no-pager --help log
touch b c d; echo exit > .git/hooks/later; chmod +x .git/hooks/later; git daemon; echo "daemon: $?"
ls ..
"""


@needs_bubblewrap
async def test_pages_of_help_and_unknown_subcommands_are_guarded(tmp_path: Path) -> None:
    command = Command(workspace="anna", argv=("/bin/bash", "-c", _UNUSUAL))
    done = await run_command(make_local(tmp_path), command, seconds=60, most_bytes=100_000)
    lines = done.output.decode().splitlines()
    assert "git: daemon would run the hook" in lines[-3]
    assert lines[-2:] == ["daemon: 128", "a"], lines


@pytest.fixture
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    async with open_backend(request, tmp_path) as backend:
        yield backend


_SHORT = """
cd $WORKSPACE; git --version > /dev/null 2>&1 || { [ $? = 127 ] && echo ok; exit; }
(git init -q a && cd a && echo x > b && git add b) || exit
cd a; printf '#!/bin/sh\\necho ran\\n' > ../hostile; cp ../hostile .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit ../hostile
git config filter.x.clean ../hostile; git config core.fsmonitor ../hostile
echo '* filter=x' > .gitattributes
sh -c 'git status > out 2>&1; git -c user.name=a -c user.email=b commit -am c >> out 2>&1'
cat out; grep -q '^ran' out && exit 3
case $(command -v git) in */git/git|*guard/git|/tmp/*) echo ok ;; esac
"""


@pytest.mark.parametrize(
    "backend",
    [*BACKENDS, pytest.param("unsandboxed", marks=[needs_landlock]), *HOSTED],
    indirect=True,
)
async def test_git_is_guarded_on_every_backend(backend: Backend) -> None:
    command = Command(workspace="anna", argv=("/bin/bash", "-c", _SHORT))
    done = await run_command(backend, command, seconds=60, most_bytes=100_000)
    assert done.output.decode().splitlines()[-1] == "ok", done.output


def _list_keys() -> list[str]:
    words = ("git", "help", "--config-for-completion")
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    keys = [key for key in done.stdout.split() if not key.endswith(".") and "_" not in key]
    return [key for key in keys if key.lower() not in _OWN]


def _leave_out_typed(keys: Sequence[str], folder: Path) -> list[str]:
    """Leave out the settings that git refuses as no number, no file or no known word."""
    place, _ = _make_repository(folder)
    return [
        key
        for key in keys
        if not any(
            done.returncode and _TYPED.search(done.stderr)
            for words in _TRIED
            for done in (_git(place, "-c", f"{key}=/bin/true {key}", *words.split()),)
        )
    ]


def _git(place: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    given = ("git", "-c", "user.name=a", "-c", "user.email=a@a.example", *words)
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(place), "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(
        given,
        cwd=place,
        check=False,
        capture_output=True,
        text=True,
        env=environ,
        stdin=subprocess.DEVNULL,
    )


def _make_repository(folder: Path) -> tuple[Path, Path]:
    """Make a repository with a remote, and a program that writes its first word to `ran`."""
    place, canary = folder / "tried", folder / "canary"
    canary.write_text(f'#!/bin/sh\necho "$1" >> {folder}/ran\n')
    canary.chmod(0o755)
    place.mkdir()
    (place / "a").write_text("a\n")
    for words in ("init -q .", "add a", "commit -qm one", "clone -q --bare . other"):
        assert _git(place, *words.split()).returncode == 0
    _git(place, "remote", "add", "origin", "other")
    (place / "a").write_text("b\n")
    return place, canary
