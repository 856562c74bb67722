"""`talaria backup`: packs a copy of the database with the files of the home."""

import argparse
import getpass
import os
import secrets as random
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.state.backups.contents import HomeContent, Manifest
from agent_core.state.backups.encryption import Lock, read_recipient
from gateway.errors import Mistaken
from gateway.home import DATABASE, SECRET_NAMES, make_home, open_home
from gateway.interfaces import client
from gateway.interfaces.client import require_database
from gateway.interfaces.parser import Parser, read_path
from gateway.interfaces.waiting import read_settings
from gateway.operations.backup_types import CopiedDatabase, CopyDatabase

if TYPE_CHECKING:
    from gateway.app.settings import Settings
    from gateway.jobs.system_jobs import BackupPlan

_BY_HAND = "manual-"
"""Prefix of a backup's name if the user gives no file; Talaria never deletes these."""
_NOBODY = (
    "The passphrase is asked for twice, and there is nobody to answer."
    " Without a terminal, set BACKUP_PASSPHRASE and leave out --passphrase."
)
_PATIENCE = 3600.0
"""Seconds; a database of many gigabytes takes minutes to copy and check."""


def configure(parser: Parser) -> None:
    """Add the arguments for the file, its encryption and its content."""
    parser.examples = (
        "talaria backup",
        "talaria backup ~/talaria-2026-11-26.tar.gz",
        "talaria backup ~/talaria.tar.gz.age --passphrase",
        "talaria backup ~/talaria.tar.gz.age --recipient age1...",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        type=read_path,
        help="the backup, which must not exist yet; without it, where nightly ones go, but kept",
    )
    parser.add_argument(
        "--passphrase", action="store_true", help="ask for a passphrase, and encrypt with it"
    )
    parser.add_argument(
        "--recipient",
        action="append",
        default=[],
        metavar="KEY",
        help="encrypt for a public key of age or SSH; may be repeated",
    )
    parser.add_argument(
        "--secrets",
        action="store_true",
        help="put keys and tokens into a backup that is not encrypted, too",
    )


def announce(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Return a line that says what the command does.

    Raises `Mistaken` instead of overwriting a file, and `StartError`.
    """
    if arguments.file and arguments.file.exists():
        raise Mistaken(f"{arguments.file} exists already; name a new file.")
    home = open_home(environ)
    require_database(home)
    return f"Backing up {home} ..."


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Write the backup to a new file or to its usual place, then read it again as a check."""
    from agent_core.state.backups.making import make_backup
    from gateway.app.backups import list_left_out
    from gateway.app.scheduling import plan_backups
    from gateway.jobs.system_jobs import deliver_backup

    settings, target = read_settings(environ), arguments.file
    lock = _choose_lock(arguments, settings)
    left_out = list_left_out(settings.backup, has_secrets=bool(lock) or arguments.secrets)
    now = time.time_ns() // 1_000_000
    plan = replace(plan_backups(settings), lock=lock, left_out=left_out)
    with _copied(plan) as copy:
        if target:
            content = HomeContent(
                home=settings.home, database=DATABASE, copy=copy, left_out=left_out
            )
            where, written = str(target), make_backup(content, target, lock, now)
        else:
            where, written = deliver_backup(plan, copy, now, prefix=_BY_HAND)
    print(_describe(where, written, has_secrets=not SECRET_NAMES & left_out))
    for path in written.unreadable:
        print(f"Not in it, because it can't be read: {path}", file=sys.stderr)
    return 0


def _choose_lock(arguments: argparse.Namespace, settings: "Settings") -> Lock:
    from gateway.app.backups import make_lock

    lock = make_lock(settings.backup, settings.secrets)
    lock = replace(lock, recipients=(*lock.recipients, *arguments.recipient))
    for recipient in lock.recipients:
        read_recipient(recipient)
    return replace(lock, passphrase=_ask_twice()) if arguments.passphrase else lock


def _ask_twice() -> str:
    if not os.isatty(0):
        raise Mistaken(_NOBODY)
    try:
        first = getpass.getpass("Passphrase of the backup (not shown): ")
        if not first:
            raise Mistaken("A passphrase can't be empty.")
        if getpass.getpass("Once more: ") != first:
            raise Mistaken("The two passphrases differ.")
    except EOFError:
        raise Mistaken(_NOBODY) from None
    return first


@contextmanager
def _copied(plan: "BackupPlan") -> Iterator[Path]:
    """Yield a checked copy of the database, and delete the copy at the end."""
    make_home(plan.home)
    with plan.claim():
        copy = plan.folder / f".copy-{random.token_hex(4)}.db"
        try:
            asked = CopyDatabase(target=str(copy))
            client.perform_typed(plan.home, "backup", asked, CopiedDatabase, timeout=_PATIENCE)
            yield copy
        finally:
            copy.unlink(missing_ok=True)


def _describe(where: str, written: Manifest, *, has_secrets: bool) -> str:
    """Describe the content of the backup, and what it leaves out."""
    count = "1 file" if written.files == 1 else f"{written.files:,} files"
    about = (
        f"{where} holds {count} ({written.size / 1e6:,.1f} MB before packing)."
        " It was read again and is complete."
    )
    if has_secrets:
        return about
    return f"{about}\nKeys and tokens are not in it; encrypt it or use --secrets to include them."
