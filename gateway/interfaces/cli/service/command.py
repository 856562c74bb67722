"""`talaria service`: each verb runs commands of the machine's service manager."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from gateway.errors import Declined, StartError
from gateway.home import find_home, make_home
from gateway.interfaces.cli.service.autostart import (
    Service,
    ServiceManager,
    make_launchd,
    make_systemd,
)
from gateway.interfaces.client import is_served
from gateway.interfaces.waiting import read_settings, showing

_PATIENCE = 60.0
"""Seconds for a command of the service manager; a stop takes up to 45 seconds."""
_START = 60.0
"""Seconds for a start; a small or busy machine can take half a minute."""
_LOOK = 0.1
"""Seconds between two checks whether the gateway has started."""
_NO_SESSION = "Failed to connect to bus"
"""The error of systemctl if no user manager is running."""
_OUTPUT = Path("logs", "service.log")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb. Raises `StartError` and `Declined`."""
    given = dict(environ)
    is_new = arguments.verb == "install"
    home = read_settings(given).home if is_new else find_home(given)
    manager = find_manager(home, given)
    if is_new:
        return _install(manager, home)
    if arguments.verb == "remove":
        return remove(manager)
    if not manager.path.exists():
        raise Declined("There is no service yet. `talaria service install` makes one.")
    if arguments.verb == "status":
        return _show(manager.status)
    return _show_logs(manager, is_followed=arguments.follow)


def find_manager(home: Path, environ: Mapping[str, str]) -> ServiceManager:
    """Return the machine's service manager. Raises `StartError` if it has none."""
    program = Path(sys.executable).with_name("talaria")
    command = (
        (str(program), "run") if program.exists() else (sys.executable, "-m", "gateway", "run")
    )
    service = Service(command=command, home=home, log=home / _OUTPUT)
    user_home = Path(environ.get("HOME") or Path.home())
    configuration = Path(environ.get("XDG_CONFIG_HOME") or user_home / ".config")
    manager = (
        make_launchd(service, user_home, os.getuid())
        if sys.platform == "darwin"
        else make_systemd(service, configuration)
    )
    if which(manager.program) is None:
        raise StartError(
            f"This machine has no {manager.program}, so it needs another way to keep Talaria"
            " running. docs/always-on.md shows Docker."
        )
    return manager


def _install(manager: ServiceManager, home: Path) -> int:
    """Write the file and start the service. Raises `Declined` if somebody else wrote the file."""
    if manager.path.exists() and not manager.is_ours():
        raise Declined(
            f"{manager.path} was not written by Talaria. Remove it, or keep using it instead."
        )
    is_new = not manager.path.exists()
    if is_new and is_served(home):
        raise Declined("Talaria is running already. Stop it first, and run this again.")
    make_home(home)
    (home / _OUTPUT).parent.mkdir(mode=0o700, exist_ok=True)
    try:
        manager.path.parent.mkdir(parents=True, exist_ok=True)
        manager.path.write_text(manager.text, "utf-8")
    except OSError as error:
        raise StartError(f"{manager.path} can't be written: {error.strerror}.") from error
    if not is_new:
        for words in manager.unload:
            _show(words, is_quiet=True)
    try:
        _run(manager.install[0])
    except StartError:
        if is_new:  # the service manager has not read the file, and may never do so
            manager.path.unlink()
        raise
    for words in manager.install[1:]:
        _run(words)
    _wait_for_start(manager, home)
    print(f"Talaria runs now, and starts with the machine. The service is {manager.path}.")
    if manager.program == "systemctl":
        print('To keep it running while you are logged out: sudo loginctl enable-linger "$USER"')
    print("`talaria service logs` shows its output, with the one-time code for your first hello.")
    return 0


def remove(manager: ServiceManager) -> int:
    """Stop the service and delete its file; the data stays. Raises `Declined`."""
    if not manager.path.exists():
        raise Declined("There is no service.")
    if not manager.is_ours():
        raise Declined(f"{manager.path} was not written by Talaria. Remove it by hand.")
    for words in manager.remove[:1]:
        _run(words)
    manager.path.unlink()
    for words in manager.remove[1:]:
        _run(words)
    print("The service is removed. Your data is still in the home directory.")
    return 0


def _wait_for_start(manager: ServiceManager, home: Path) -> None:
    """Wait until the gateway answers. Raises `StartError` if it exits or takes too long."""
    end = time.monotonic() + _START
    with showing("Starting Talaria"):
        while not is_served(home):
            if manager.probe and _show(manager.probe, is_quiet=True):
                raise StartError(
                    "The service is installed, but Talaria ended at once. `talaria service logs`"
                    " shows why."
                )
            if time.monotonic() > end:
                raise StartError(
                    f"The service is installed, but Talaria is not ready after {_START:g} s."
                    " `talaria service logs` shows its output."
                )
            time.sleep(_LOOK)


def _show_logs(manager: ServiceManager, *, is_followed: bool) -> int:
    """Show the output. Raises `Declined` if this user can't see any of it."""
    if is_followed:
        code = _show(manager.follow)
    else:
        shown = subprocess.run(  # noqa: S603 - our own words
            manager.logs, check=False, stdout=subprocess.PIPE
        )
        sys.stdout.write(shown.stdout.decode("utf-8", errors="replace"))
        code = shown.returncode or (0 if shown.stdout.strip() else 1)
    if code == 0:
        return 0
    raise Declined(
        f"The service shows this user no output. Try `{manager.unseen}`, or `talaria logs` for"
        " Talaria's own log."
    )


def _show(words: tuple[str, ...], *, is_quiet: bool = False) -> int:
    """Run a command with the output in this terminal, and return its exit code."""
    out = subprocess.DEVNULL if is_quiet else None
    return subprocess.run(  # noqa: S603 - our own words
        words, check=False, stdout=out, stderr=out
    ).returncode


def _run(words: tuple[str, ...]) -> None:
    """Run a command of the service manager. Raises `StartError` with its error output."""
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            words, check=False, capture_output=True, text=True, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired as error:
        raise StartError(f"`{' '.join(words)}` did not end within {_PATIENCE:g} s.") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        if _NO_SESSION in said:
            raise StartError(
                "This user has no session of systemd. Log in as this user, and not through su or"
                " sudo, then try again. docs/always-on.md shows Docker instead."
            )
        raise StartError(f"`{' '.join(words)}` failed: {said}")
