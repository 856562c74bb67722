"""Names of the files in the home directory, and functions that find and create it."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agent_core.privacy.export.signer import KEY_NAME
from agent_core.state.backups.left_out_names import REHEARSAL, STAGING
from gateway.errors import SettingsError, StartError

HOME_VARIABLE = "TALARIA_HOME"

DATABASE = "state.db"
CONSOLE_SOCKET = "console.sock"
CONTROL_SOCKET = "gateway.sock"
HTTP_TOKEN = "http_token"  # noqa: S105 - the name of a file
CHAT_HISTORY = "chat_history"
BACKUPS = "backups"
MEMORIES = "memories"
SKILLS = "skills"
WORKSPACES = "workspaces"
VERSIONS = "versions"
"""Earlier versions of the files in workspaces."""
SESSIONS = "sessions"
"""The session logs, which copy turns from the database."""
MODEL_TABLE = "models.json"
LOG = Path("logs", "talaria.log")
KEPT_LOGS = 5
"""Rotated files beside the log: `talaria.log.1` is the newest of them."""
MCP_TOKENS = "mcp_tokens"
"""The folder of the home with the tokens of servers at which an owner has signed in."""
ENV_NAME = ".env"
CONFIG_NAME = "config.toml"
MCP_CONFIG = "mcp.toml"
SECRETS_CONFIG = "secrets.toml"

RUNTIME_NAMES = frozenset(
    {
        *(BACKUPS, LOG.parts[0], SESSIONS, VERSIONS, CONSOLE_SOCKET, CONTROL_SOCKET),
        *("state.lock", STAGING, REHEARSAL),
    }
)
"""Files that belong to the machine and not to the data. No backup contains them, and a restore does
not move them.
"""
SECRET_NAMES = frozenset({ENV_NAME, SECRETS_CONFIG, HTTP_TOKEN, MCP_TOKENS, KEY_NAME})
"""Files with keys and tokens. Encrypted backups contain them; unencrypted ones only on request."""

LONGEST_SOCKET_PATH = 103
"""Bytes. With its end, `sun_path` holds 104 on macOS and the BSDs, and 108 on Linux."""

_UMASK = 0o077
"""The umask, so that other users have no access to new files."""


def find_home(environ: Mapping[str, str], given: Path | None = None) -> Path:
    """Return the home directory, which need not exist. Raises `SettingsError`."""
    user_home = environ.get("HOME") or str(Path.home())
    named = str(given) if given is not None else environ.get(HOME_VARIABLE, "").strip()
    try:
        home = expand(named or "~/.talaria", user_home).absolute()
    except ValueError as error:
        raise SettingsError(f"{HOME_VARIABLE} can't be used: {error}.") from error
    if _is_closed(home):
        raise SettingsError(
            f"The home {home} is closed to you. Run this as its owner, or set {HOME_VARIABLE} to a"
            " folder of yours."
        )
    if home.exists() and not home.is_dir():
        raise SettingsError(f"The home {home} is a file; {HOME_VARIABLE} has to name a folder.")
    return home


def _is_closed(home: Path) -> bool:
    """Return whether the home, or a folder above it, can't be opened."""
    try:
        home.stat()
    except PermissionError:
        return True
    except OSError:  # the home does not exist yet
        return False
    return home.is_dir() and not os.access(home, os.R_OK | os.X_OK)


def open_home(environ: Mapping[str, str], given: Path | None = None) -> Path:
    """Return the home directory, after finishing an interrupted restore.

    For commands that need no settings. Raises `SettingsError`, and `StoreError` if the restore
    can't be finished.
    """
    home = find_home(environ, given)
    if (home / STAGING).exists():
        from agent_core.state.backups.switching import finish_switch

        finish_switch(home, DATABASE)
    return home


def expand(text: str, user_home: str = "~") -> Path:
    """Return a path, with a leading `~` replaced by `user_home`, and `~name` by that user's home.

    Raises `ValueError` with a clause if there is no such home.
    """
    path = user_home + text[1:] if text == "~" or text.startswith("~/") else text
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ValueError(f"there is no home directory for {text}") from error


def make_home(home: Path) -> str:
    """Create the home directory if it is missing, and close it to other users.

    Return a warning if other users could open it, else "". Raises `StartError` if the
    directory can't be used or can't be closed, and then changes nothing in it.

    A volume of a container often belongs to root and is open to a group that only this container
    has, as with Kubernetes' `fsGroup` and OpenShift's random user ids. That one is used as it is.
    """
    os.umask(_UMASK)
    problem = explain_length(home)
    if problem:
        raise StartError(problem)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(describe_unwritable(home, error)) from error
    mode = find_open_mode(home)
    if not mode:
        return ""
    with suppress(OSError):
        home.chmod(0o700)
    if not find_open_mode(home):
        return (
            f"The home {home} was open to other users of this computer. Now only you can open it."
        )
    if not mode & stat.S_IRWXO:
        return f"The home {home} belongs to another user, and its group can open it."
    raise StartError(
        f"The home {home} is open to other users (mode {mode:o}), and that can't be changed."
        f" Run `chmod 700 {home}` as its owner, or set TALARIA_HOME to a new folder inside it."
    )


def find_open_mode(home: Path) -> int:
    """Return the mode of a home that other users can open; 0 if it is private."""
    mode = stat.S_IMODE(home.stat().st_mode)
    return mode if mode & (stat.S_IRWXG | stat.S_IRWXO) else 0


def describe_unwritable(home: Path, error: OSError) -> str:
    """Explain why the home directory can't be written, and what to do."""
    return (
        f"The home {home} can't be written: {error.strerror}."
        " Set TALARIA_HOME to a folder that is yours, or make room on its disk."
    )


def explain_length(home: Path) -> str:
    """Explain why the home's path is too long for its sockets; "" if it is not."""
    longest = max(len(os.fsencode(home / name)) for name in (CONSOLE_SOCKET, CONTROL_SOCKET))
    if longest <= LONGEST_SOCKET_PATH:
        return ""
    return (
        f"The home {home} is too long a path: a socket in it would have {longest} bytes,"
        f" and {LONGEST_SOCKET_PATH} are the limit. Set TALARIA_HOME to a shorter path."
    )
