"""`talaria service`: the files it writes, the commands it runs, and what it leaves alone."""

import asyncio
import plistlib
import subprocess
from pathlib import Path
from shutil import which

import pytest

from gateway.interfaces.cli.service.autostart import Service, make_launchd, make_systemd
from tests.integration.processes import PATIENCE, Done, running, talaria

STAND_IN = """#!/bin/sh
echo "$0 $*" >> "$(dirname "$0")/calls"
case " $FAIL " in *" $2 "*) echo "${SAYS:-Unit is masked}" >&2; exit 1;; esac
[ "$2" = is-active ] || echo "${SHOWN-shown: $*}"
"""


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stand-in for systemd's programs, which notes how it is called."""
    folder = tmp_path_factory.mktemp("s") / "bin"  # short, as a control socket's path must be
    folder.mkdir()
    for name in ("systemctl", "journalctl"):
        folder.joinpath(name).write_text(STAND_IN)
        folder.joinpath(name).chmod(0o755)
    return folder


def service(programs: Path, *words: str, **variables: str) -> Done:
    home = programs.parent / "home"
    return talaria(home, "service", *words, PATH=f"{programs}:/usr/bin:/bin", **variables)


def calls(programs: Path) -> list[str]:
    """Return the calls since the last look, without those that only wait for the start."""
    path = programs / "calls"
    noted = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    shown = [one.rpartition("/")[2] for one in noted]
    return [one for one in shown if "is-active" not in one]


async def starting(programs: Path) -> None:
    """Wait until the service manager is asked whether the service still runs."""
    async with asyncio.timeout(PATIENCE):
        while "is-active" not in await asyncio.to_thread(_noted, programs):
            await asyncio.sleep(0.01)


def _noted(programs: Path) -> str:
    path = programs / "calls"
    return path.read_text() if path.exists() else ""


def unit(programs: Path) -> Path:
    return programs.parent / ".config" / "systemd" / "user" / "talaria.service"


async def test_a_service_is_installed_shown_and_removed(programs: Path) -> None:
    assert "There is no service yet" in service(programs, "status").err
    installing = asyncio.create_task(asyncio.to_thread(service, programs, "install"))
    await starting(programs)
    async with running(programs.parent / "home"):
        done = await installing
        again = await asyncio.to_thread(service, programs, "install")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Talaria runs now, and starts with the machine. The service is ")
    assert again.code == 0, "again, after an upgrade"
    assert calls(programs) == 2 * [
        "systemctl --user daemon-reload",
        "systemctl --user enable talaria",
        "systemctl --user restart talaria",
    ]
    written = unit(programs).read_text()
    assert f'Environment="TALARIA_HOME={programs.parent / "home"}"' in written
    assert service(programs, "status").code == 0
    assert service(programs, "logs", "--follow").code == 0
    assert calls(programs) == [
        "systemctl --user status --no-pager talaria",
        "journalctl --quiet --user-unit talaria --lines 100 --follow",
    ]
    assert service(programs, "remove").code == 0
    assert calls(programs) == [
        "systemctl --user disable --now talaria",
        "systemctl --user daemon-reload",
    ]
    assert not unit(programs).exists()
    assert service(programs, "remove").code == 1


def test_a_unit_of_somebody_else_is_left_alone(programs: Path) -> None:
    unit(programs).parent.mkdir(parents=True)
    unit(programs).write_text("[Service]\n")
    for verb in ("install", "remove"):
        done = service(programs, verb)
        assert done.code == 1
        assert "was not written by Talaria" in done.err
    assert unit(programs).read_text() == "[Service]\n"
    assert calls(programs) == []


def test_what_the_manager_says_is_passed_on(programs: Path) -> None:
    done = service(programs, "install", FAIL="enable")
    assert done.code == 2
    assert done.err == ("`systemctl --user enable talaria` failed: Unit is masked.\n")


def test_a_service_that_ends_at_once_is_reported(programs: Path) -> None:
    done = service(programs, "install", FAIL="is-active")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "The service is installed, but Talaria ended at once. `talaria service logs` shows why.\n"
    )
    assert unit(programs).exists()


@pytest.mark.parametrize("hidden", [{"FAIL": "--user-unit"}, {"SHOWN": ""}])
def test_a_journal_that_shows_nothing_is_reported(programs: Path, hidden: dict[str, str]) -> None:
    service(programs, "install", FAIL="is-active")
    done = service(programs, "logs", **hidden)
    assert (done.code, done.out.strip()) == (1, "")
    assert done.err.endswith(
        "The service shows this user no output. Try `sudo journalctl"
        " _SYSTEMD_USER_UNIT=talaria.service`, or `talaria logs` for Talaria's own log.\n"
    )


def test_a_user_without_a_session_gets_one_plain_sentence(programs: Path) -> None:
    said = "Failed to connect to bus: No medium found"
    done = service(programs, "install", FAIL="daemon-reload", SAYS=said)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "This user has no session of systemd. Log in as this user, and not through su or sudo, then"
        " try again. docs/always-on.md shows Docker instead.\n"
    )
    assert not unit(programs).exists()


def test_a_machine_without_a_manager_gets_another_way(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "service", "install", PATH=str(tmp_path))
    assert done.code == 2
    assert "has no systemctl" in done.err
    assert not (tmp_path / "home").exists()


@pytest.mark.skipif(which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("folder", ["plain", "odd 100% folder"])
def test_systemd_reads_the_unit_as_it_is_meant(tmp_path: Path, folder: str) -> None:
    program = tmp_path / folder / "talaria"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    manager = make_systemd(
        Service(command=(str(program), "run"), home=tmp_path / 'a "$b" %h', log=tmp_path), tmp_path
    )
    manager.path.parent.mkdir(parents=True)
    manager.path.write_text(manager.text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", str(manager.path)],
        check=False,
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "talaria.service" not in done.stderr


def test_launchd_gets_an_agent_that_starts_with_the_login(tmp_path: Path) -> None:
    given = Service(command=("/x/talaria", "run"), home=tmp_path, log=tmp_path / "log")
    manager = make_launchd(given, tmp_path, 501)
    agent = plistlib.loads(manager.text.encode())
    assert agent["ProgramArguments"] == ["/x/talaria", "run"]
    assert agent["EnvironmentVariables"] == {"TALARIA_HOME": str(tmp_path)}
    assert manager.install[0][:3] == ("launchctl", "bootstrap", "gui/501")
    manager.path.parent.mkdir(parents=True)
    manager.path.write_text(manager.text)
    assert manager.is_ours()
