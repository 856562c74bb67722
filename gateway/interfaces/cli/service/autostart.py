"""Service managers: the file that each of them reads, and its commands."""

import plistlib
from dataclasses import dataclass
from pathlib import Path

LABEL = "talaria"
_MARK = "Written by `talaria service install`"

_UNIT = """\
# {mark}; `talaria service remove` deletes it.
[Unit]
Description=Talaria
After=network-online.target
StartLimitIntervalSec=0

[Service]
Environment={home}
ExecStart={command}
Restart=on-failure
RestartPreventExitStatus=2
RestartSec=5
TimeoutStopSec=45
NoNewPrivileges=true

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The program to keep running. `log` is a file that launchd writes its output to."""

    command: tuple[str, ...]
    home: Path
    log: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceManager:
    """A service manager, with its commands as lists of words.

    `unload` removes an old installation, and may fail. `probe` fails if the service is not running;
    launchd has no such command. `unseen` is another command that shows the output, for users who
    may not see it with `logs`.
    """

    program: str
    path: Path
    text: str
    unload: tuple[tuple[str, ...], ...]
    install: tuple[tuple[str, ...], ...]
    probe: tuple[str, ...]
    remove: tuple[tuple[str, ...], ...]
    status: tuple[str, ...]
    logs: tuple[str, ...]
    follow: tuple[str, ...]
    unseen: str

    def is_ours(self) -> bool:
        """True if `talaria service install` has written the file. Raises `OSError`."""
        return _MARK in self.path.read_text("utf-8", errors="replace")


def make_systemd(service: Service, configuration: Path) -> ServiceManager:
    """Describe systemd's user manager; `configuration` is the user's `~/.config`."""
    user = ("systemctl", "--user")
    # Not `--user`: it shows no logs that are only in memory, even if this user may read them.
    logs = ("journalctl", "--quiet", "--user-unit", LABEL, "--lines", "100")
    return ServiceManager(
        program="systemctl",
        path=configuration / "systemd" / "user" / f"{LABEL}.service",
        text=_UNIT.format(
            mark=_MARK,
            home=_quote(f"TALARIA_HOME={service.home}"),
            command=" ".join(_quote(word, is_command=True) for word in service.command),
        ),
        unload=(),
        install=((*user, "daemon-reload"), (*user, "enable", LABEL), (*user, "restart", LABEL)),
        probe=(*user, "is-active", "--quiet", LABEL),
        remove=((*user, "disable", "--now", LABEL), (*user, "daemon-reload")),
        status=(*user, "status", "--no-pager", LABEL),
        logs=logs,
        follow=(*logs, "--follow"),
        unseen=f"sudo journalctl _SYSTEMD_USER_UNIT={LABEL}.service",
    )


def make_launchd(service: Service, user_home: Path, user_id: int) -> ServiceManager:
    """Describe launchd's user agents."""
    domain = f"gui/{user_id}"
    path = user_home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    content = {
        "Label": LABEL,
        "ProgramArguments": list(service.command),
        "EnvironmentVariables": {"TALARIA_HOME": str(service.home)},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ExitTimeOut": 45,
        "StandardOutPath": str(service.log),
        "StandardErrorPath": str(service.log),
        "Comment": _MARK,
    }
    return ServiceManager(
        program="launchctl",
        path=path,
        text=plistlib.dumps(content).decode(),
        unload=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
        install=(("launchctl", "bootstrap", domain, str(path)),),
        probe=(),
        remove=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
        status=("launchctl", "print", f"{domain}/{LABEL}"),
        logs=("tail", "-n", "100", str(service.log)),
        follow=("tail", "-n", "100", "-f", str(service.log)),
        unseen=f"cat {service.log}",
    )


def _quote(word: str, *, is_command: bool = False) -> str:
    """Quote a word for a systemd unit. `$` begins a variable in commands."""
    quoted = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{quoted.replace("$", "$$") if is_command else quoted}"'
