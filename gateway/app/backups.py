"""Reads the settings of backups: their place, their encryption, and the files left out."""

from pathlib import Path

from agent_core.state.backups.encryption import Lock
from agent_core.state.backups.places import BackupPlace, BucketPlace, CommandPlace, FolderPlace
from gateway.app.credentials import Secrets
from gateway.app.tables import BackupSettings
from gateway.errors import SettingsError
from gateway.home import RUNTIME_NAMES, SECRET_NAMES, WORKSPACES, expand


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
