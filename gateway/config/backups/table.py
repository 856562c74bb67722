"""The table `[backup]`: the content, the place and the encryption of backups."""

from pathlib import Path

from agent_core.state.backups.encryption import Lock
from agent_core.state.backups.places import (
    BackupPlace,
    BucketPlace,
    CommandPlace,
    FolderPlace,
)
from gateway.config.credentials import Secrets
from gateway.config.paths import RUNTIME_NAMES, SECRET_NAMES, WORKSPACES, expand
from gateway.config.tables import Table
from gateway.config.types import BucketAddress, PublicAddress, Text, Texts
from gateway.errors import SettingsError


class BackupSettings(Table, title="Backups"):
    """Content, place and encryption of backups. `jobs.backups` says how many are kept."""

    recipients: Texts = ()
    """Public keys that can open backups, of age (`age1...`) or SSH. Without one, and without
    `BACKUP_PASSPHRASE`, backups are not encrypted.
    """
    folder: Text = ""
    """A folder for the backups, for instance on another disk; empty for `backups/`."""
    s3: BucketAddress = ""
    """A bucket to put the backups into instead, such as `s3://bucket/prefix`. It needs
    `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and the extra `backup`.
    """
    s3_endpoint: PublicAddress = ""
    """The address of an S3-compatible server; empty for Amazon's."""
    s3_region: Text = "us-east-1"
    """The region of the bucket."""
    command: Texts = ()
    """A program, with its arguments, that receives each backup on standard input instead, such as
    `["rclone", "rcat", "box:talaria/{name}"]`. The program has to delete old backups itself.
    """
    secrets: bool = False
    """Put keys and tokens into unencrypted backups, too: `.env`, `secrets.toml`, `http_token` and
    `mcp_tokens/`. Encrypted backups always contain them.
    """
    workspaces: bool = True
    """Put the files of `workspaces/` into backups. There may be many of them."""


def make_lock(settings: BackupSettings, secrets: Secrets) -> Lock:
    """Return the encryption of backups by the settings."""
    return Lock(recipients=settings.recipients, passphrase=secrets.backup_passphrase or "")


def make_place(settings: BackupSettings, secrets: Secrets, usual: Path) -> BackupPlace:
    """Return the place that backups go to; `usual` is the folder in the home. Raises
    `SettingsError`.
    """
    chosen = {"folder": settings.folder, "s3": settings.s3, "command": settings.command}
    given = [f"backup.{name}" for name, value in chosen.items() if value]
    if len(given) > 1:
        raise SettingsError(f"{' and '.join(given)} exclude each other; keep one of them.")
    if settings.command:
        return CommandPlace(command=settings.command)
    if not settings.s3:
        try:
            folder = expand(settings.folder) if settings.folder else usual
        except ValueError as error:
            raise SettingsError(f"backup.folder can't be used: {error}.") from error
        if not folder.is_absolute():
            raise SettingsError(f"backup.folder must be an absolute path, but is {folder}.")
        return FolderPlace(folder=folder)
    return make_bucket(settings, secrets, settings.s3)


def make_bucket(settings: BackupSettings, secrets: Secrets, address: str) -> BucketPlace:
    """Return the bucket with this address. Raises `SettingsError` without its keys."""
    if not (secrets.aws_access_key_id and secrets.aws_secret_access_key):
        raise SettingsError(
            f"{address} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in `.env` or the"
            " environment."
        )
    return BucketPlace(
        address=address.rstrip("/"),
        endpoint=settings.s3_endpoint,
        region=settings.s3_region,
        key_id=secrets.aws_access_key_id,
        key=secrets.aws_secret_access_key,
    )


def list_left_out(settings: BackupSettings, *, has_secrets: bool) -> frozenset[str]:
    """Return the names in a home that a backup leaves out.

    With `has_secrets`, the backup contains keys and tokens, whatever the settings say.
    """
    secrets = frozenset() if has_secrets or settings.secrets else SECRET_NAMES
    return RUNTIME_NAMES | secrets | (frozenset() if settings.workspaces else {WORKSPACES})
