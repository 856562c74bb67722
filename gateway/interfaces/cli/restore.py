"""`talaria restore`: reads and checks a backup, and replaces the home with it."""

import argparse
import getpass
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_core.errors import StoreBusy
from agent_core.state.backups.encryption import KEY, Keys
from gateway.app.env_file import add_saved
from gateway.errors import Mistaken
from gateway.home import (
    BACKUPS,
    DATABASE,
    ENV_NAME,
    MCP_TOKENS,
    RUNTIME_NAMES,
    SECRETS_CONFIG,
    WORKSPACES,
    find_home,
    make_home,
)
from gateway.interfaces.client import is_served
from gateway.interfaces.parser import Parser, read_path
from gateway.interfaces.waiting import read_settings

if TYPE_CHECKING:
    from agent_core.state.backups.restoring import Restored

_LACKS = {
    ENV_NAME: "keys and tokens (.env). `talaria setup` asks for them.",
    SECRETS_CONFIG: "the secrets that tools use by name, if there were any (secrets.toml).",
    MCP_TOKENS: "logins at MCP servers, if there were any. `talaria mcp list` names the servers.",
    WORKSPACES: "the files of the workspaces.",
}
"""What a backup may leave out, with what to do about it."""
_PASSPHRASE = "BACKUP_PASSPHRASE"  # noqa: S105 - the name of a variable


def configure(parser: Parser) -> None:
    """Add the file, the key and the rehearsal."""
    parser.examples = (
        "talaria restore ~/talaria-2026-11-26.tar.gz --check",
        "talaria restore ~/talaria-2026-11-26.tar.gz",
        "talaria restore ~/talaria.tar.gz.age --identity ~/key.txt",
        "talaria restore s3://bucket/nightly-20261126T033000Z.tar.gz.age",
    )
    parser.add_argument("file", metavar="FILE", help="the backup: a file, or s3://BUCKET/NAME")
    parser.add_argument(
        "--check", action="store_true", help="only rehearse it: unpack and check, change nothing"
    )
    parser.add_argument(
        "--identity",
        metavar="KEYFILE",
        type=read_path,
        help="the private key that opens the backup",
    )


def announce(arguments: argparse.Namespace, _: Mapping[str, str]) -> str:
    """Return a line that says what the command does. Raises `Mistaken` if there is no such file."""
    if arguments.file.startswith("s3://"):
        return f"Downloading {arguments.file} ..."
    backup = read_path(arguments.file)
    if backup.is_dir():
        raise Mistaken(f"{backup} is a folder; name the file of a backup in it.")
    if not backup.is_file():
        raise Mistaken(
            f"There is no file {backup}; the nightly backups are in `backups/` of the home."
        )
    return f"Reading {backup} ..."


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Rehearse or restore. Raises `Mistaken` and `StoreError`, and then restores nothing."""
    from agent_core.state.backups.claims import claim_folder
    from agent_core.state.backups.switching import finish_switch

    home = find_home(environ)
    if finish_switch(home, DATABASE):
        print("An interrupted restore is finished.")
    if not arguments.check:
        _refuse_if_served(home)
    if not arguments.file.startswith("s3://"):
        return _read(read_path(arguments.file), arguments, home, environ)
    beside = home / BACKUPS if home.is_dir() else None
    claimed = claim_folder(beside) if beside else nullcontext()
    with claimed, tempfile.TemporaryDirectory(prefix=".fetched-", dir=beside) as folder:
        backup = Path(folder, PurePosixPath(arguments.file).name)
        _fetch(arguments.file, backup, environ)
        return _read(backup, arguments, home, environ)


def _fetch(address: str, target: Path, environ: Mapping[str, str]) -> None:
    """Download a backup. Raises `StoreError` and `SettingsError`."""
    from gateway.app.backups import make_bucket

    settings = read_settings(dict(environ))
    folder, _, name = address.rpartition("/")
    make_bucket(settings.backup, settings.secrets, folder).fetch(name, target)


def _read(
    backup: Path, arguments: argparse.Namespace, home: Path, environ: Mapping[str, str]
) -> int:
    from agent_core.state.backups.restoring import RestorePlace, rehearse, restore

    place = RestorePlace(home=home, database=DATABASE, kept=RUNTIME_NAMES)
    keys = _find_keys(backup, arguments.identity, add_saved(environ, home))
    if arguments.check:
        print(f"{_describe(rehearse(place, backup, keys))} Nothing was changed.")
        return 0
    is_new = not home.exists()
    if not is_new and not _agrees(home):
        print("Nothing was changed.")
        return 1
    make_home(home)
    aside = _name_aside(home)
    now = int(datetime.now(UTC).timestamp() * 1000)
    restored = restore(place, backup, keys, aside, now=now)
    print(f"{_describe(restored)}\n{home} is restored. Start Talaria with `talaria run`.")
    if not is_new and aside.exists() and any(aside.iterdir()):
        print(f"What was there before is in {aside}; delete it when you don't need it.")
    for line in _name_missing(home, restored):
        print(line)
    return 0


def _agrees(home: Path) -> bool:
    """Ask on a terminal before data that is there makes way."""
    if not (home / DATABASE).exists() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    from gateway.interfaces.dialogue import confirm

    return confirm(f"{home} has data. Put it aside, and restore the backup?", default=False)


def _name_missing(home: Path, restored: "Restored") -> Iterator[str]:
    """Say what the home lacks now, because the backup left it out."""
    for name, said in _LACKS.items():
        if name in restored.left_out and not (home / name).exists():
            yield f"Not in the backup: {said}"


def _refuse_if_served(home: Path) -> None:
    if is_served(home):
        raise StoreBusy(f"Talaria is running for {home}; stop it first, or rehearse with --check")


def _find_keys(backup: Path, identity: Path | None, environ: Mapping[str, str]) -> Keys:
    """Read the key file, or ask for the passphrase if the backup needs one."""
    from agent_core.state.backups.making import find_sign

    if identity:
        try:
            return Keys(identities=(identity.read_text(encoding="utf-8"),))
        except (OSError, UnicodeDecodeError) as error:
            raise Mistaken(
                f"The key file {identity} can't be read; name the one that `age-keygen` wrote."
            ) from error
    with backup.open("rb") as source:
        if find_sign(source) != KEY:
            return Keys()
    known = environ.get(_PASSPHRASE, "")
    if known or not os.isatty(0):
        return Keys(passphrase=known)
    return Keys(passphrase=getpass.getpass("Passphrase of the backup (not shown): "))


def _name_aside(home: Path) -> Path:
    """Return the path of a new folder for the home's present content."""
    name = f"before-restore-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    taken = sum(path.name.startswith(name) for path in (home / BACKUPS).glob("before-restore-*"))
    return home / BACKUPS / (f"{name}-{taken + 1}" if taken else name)


def _describe(restored: "Restored") -> str:
    """Describe the content of a backup."""
    made = datetime.fromtimestamp(restored.made_at / 1000, UTC)
    # Names of files need not be UTF-8.
    names = [os.fsencode(name).decode(errors="replace") for name in restored.unreadable]
    lacks = "".join(f"\nIt lacks {name}, which could not be read." for name in names)
    files = "1 file" if restored.files == 1 else f"{restored.files:,} files"
    return (
        f"The backup of {made:%Y-%m-%d %H:%M} UTC is complete: {files},"
        f" {restored.size / 1e6:,.1f} MB, schema {restored.schema}.{lacks}"
    )
