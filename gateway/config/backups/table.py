"""The table `[backup]`: what is in a backup, and how it is encrypted."""

from pydantic import Field

from agent_core.state.backups.encryption import Lock
from gateway.config.credentials import Secrets
from gateway.config.paths import RUNTIME_NAMES, SECRET_NAMES, WORKSPACES
from gateway.config.tables import Table
from gateway.config.types import Texts


class BackupSettings(Table, title="Backups"):
    """What is in a backup, and how it is encrypted. `jobs.backups` says how many are kept."""

    recipients: Texts = Field(
        (),
        description="Public keys that can open backups, of age (`age1...`) or SSH. Without one,"
        " and without `BACKUP_PASSPHRASE`, backups are not encrypted.",
    )
    secrets: bool = Field(
        False,
        description="Put keys and tokens into backups that are not encrypted, too: `.env`,"
        " `secrets.toml`, `http_token` and `mcp_tokens/`. Encrypted ones always have them.",
    )
    workspaces: bool = Field(
        True, description="Put the files of `workspaces/` into backups, which may be many."
    )


def make_lock(settings: BackupSettings, secrets: Secrets) -> Lock:
    """Return how the settings encrypt a backup."""
    return Lock(recipients=settings.recipients, passphrase=secrets.backup_passphrase or "")


def list_left_out(settings: BackupSettings, *, has_secrets: bool) -> frozenset[str]:
    """Return the names in a home that stay out of a backup; it may be without its secrets."""
    secrets = frozenset() if has_secrets or settings.secrets else SECRET_NAMES
    return RUNTIME_NAMES | secrets | (frozenset() if settings.workspaces else {WORKSPACES})
