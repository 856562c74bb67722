"""The places of backups: a folder, an S3 bucket or one of a compatible server, or a command."""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol
from urllib.parse import urlsplit

from agent_core.errors import StoreError
from agent_core.state.backups.extras import load_extra
from agent_core.state.engine.complete_backups import list_complete
from agent_core.state.engine.recovery import translate_os_error

NIGHTLY = "nightly-"
"""The prefix of the names of nightly backups; only these are ever deleted."""
NAME = "{name}"
"""The word in a command that is replaced by the name of the backup."""
_RECORD = "newest.json"
_PATIENCE = timedelta(hours=6)
"""The time limit of one transfer."""
_RETRIES = 4
_LONGEST_REASON = 300
_CODE = re.compile(r"<Code>(\w+)</Code>")
_EXPLANATIONS = {
    "AccessDenied": "the key may not do this there",
    "InvalidAccessKeyId": "AWS_ACCESS_KEY_ID is not known there",
    "NoSuchBucket": "there is no such bucket; create it first",
    "NoSuchKey": "there is no such file in the bucket",
    "SignatureDoesNotMatch": "AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID",
}
"""The usual error codes of S3 and of compatible servers, in plain words."""


class BackupPlace(Protocol):
    """A place for backups. All methods block and raise `StoreError`."""

    def store(self, backup: Path) -> str:
        """Store a complete backup there under its own name; return its address there."""

    def prune(self, keep: int) -> None:
        """Delete all but the `keep` newest nightly backups, if the place can do so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderPlace:
    """A folder, in the home or on another disk."""

    folder: Path

    def store(self, backup: Path) -> str:
        """Return the path of the backup, which was made and checked in the folder itself."""
        return str(backup)

    def prune(self, keep: int) -> None:
        """Delete the oldest nightly backups."""
        try:
            made = [one for one in list_complete(self.folder) if one.name.startswith(NIGHTLY)]
            for old in sorted(made)[:-keep]:
                old.unlink()
        except OSError as error:
            raise translate_os_error(error, self.folder) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlace:
    """A bucket. Transfers are signed; the server verifies the SHA-256 of each part."""

    address: str
    """`s3://bucket` or `s3://bucket/prefix`."""
    endpoint: str = ""
    """The address of the server; empty for Amazon S3."""
    region: str = "us-east-1"
    key_id: str = ""
    key: str = ""

    def store(self, backup: Path) -> str:
        """Upload the backup, and check its size on the server."""
        obstore, name = load_extra("obstore"), backup.name

        def upload(store: Any) -> int:
            obstore.put(store, name, backup)
            return int(obstore.head(store, name)["size"])

        if self._do(upload) != backup.stat().st_size:
            raise StoreError(f"{self.address}/{name} has not the size of the backup")
        return f"{self.address}/{name}"

    def fetch(self, name: str, target: Path) -> None:
        """Download a backup to a new file."""
        obstore = load_extra("obstore")

        def download(store: Any) -> None:
            with target.open("xb") as file:
                for block in obstore.get(store, name).stream():
                    file.write(block)

        try:
            self._do(download)
        except OSError as error:
            raise translate_os_error(error, target) from error

    def prune(self, keep: int) -> None:
        """Delete the oldest nightly backups."""
        obstore = load_extra("obstore")

        def clean(store: Any) -> None:
            found = [one["path"] for page in obstore.list(store) for one in page]
            names = sorted(path for path in found if path.startswith(NIGHTLY))
            for old in names[:-keep]:
                obstore.delete(store, old)

        self._do(clean)

    def _do(self, work: Callable[[Any], Any]) -> Any:
        errors = load_extra("obstore.exceptions")
        try:
            return work(self._open(load_extra("obstore.store")))
        except (errors.BaseError, FileNotFoundError) as error:
            raise StoreError(f"{self.address} can't be used: {_explain(str(error))}") from error

    def _open(self, stores: ModuleType) -> Any:
        url = urlsplit(self.address)
        options: dict[str, Any] = {"allow_http": True, "timeout": _PATIENCE}
        return stores.S3Store(
            url.netloc,
            prefix=url.path.strip("/") or None,
            region=self.region,
            access_key_id=self.key_id,
            secret_access_key=self.key,
            client_options=options,
            retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(minutes=5)},
            **({"endpoint": self.endpoint} if self.endpoint else {}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlace:
    """A program that reads the backup from its standard input and stores it as it likes."""

    command: Sequence[str]

    def store(self, backup: Path) -> str:
        """Run the program; it must exit with status 0."""
        words = [word.replace(NAME, backup.name) for word in self.command]
        try:
            with backup.open("rb") as source:
                done = subprocess.run(  # noqa: S603 - the owner's own command
                    words,
                    stdin=source,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=_PATIENCE.total_seconds(),
                    check=False,
                )
        except FileNotFoundError as error:
            raise StoreError(f"backup.command names {words[0]}, which is not installed") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StoreError(f"backup.command failed: {error}") from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
            raise StoreError(
                f"backup.command ended with {done.returncode}: {said[-1][:_LONGEST_REASON]}"
            )
        return f"{words[0]} ({backup.name})"

    def prune(self, keep: int) -> None:
        """Delete nothing: the program manages its own backups."""


def record_newest(folder: Path, where: str, at: int) -> None:
    """Record where the newest backup is, for checks of its age. `at` is in milliseconds, UTC.

    Raises `OSError`.
    """
    draft = folder / f".{_RECORD}.new"
    draft.write_text(json.dumps({"where": where, "at": at}), encoding="utf-8")
    draft.replace(folder / _RECORD)


def find_newest(folder: Path) -> tuple[int, str] | None:
    """Return when the newest backup was made (milliseconds, UTC) and where it is. Blocks.

    A folder or disk that can't be read holds none.
    """
    found = []
    with suppress(OSError):
        found = [(int(path.stat().st_mtime * 1000), str(path)) for path in list_complete(folder)]
    with suppress(OSError, ValueError, KeyError, TypeError):
        record = json.loads((folder / _RECORD).read_bytes())
        where = str(record["where"])
        if not where.startswith("/") or Path(where).exists():
            found.append((int(record["at"]), where))
    return max(found, default=None)


def _explain(fault: str) -> str:
    """Return the message of a bucket or its server, in plain words if the error is a usual one."""
    code = _CODE.search(fault)
    if code:
        return _EXPLANATIONS.get(code[1], f"its server answered {code[1]}")
    if "error sending request" in fault:
        return "its server did not answer; check the network and backup.s3_endpoint"
    # The rest repeats the error in Rust's notation.
    return " ".join(fault.partition("Debug source")[0].split())[:_LONGEST_REASON]
