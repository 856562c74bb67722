"""The settings of backups, and the choice of what a backup contains."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.config.backups.table import BackupSettings as BackupSettings
    from gateway.config.backups.table import list_left_out as list_left_out
    from gateway.config.backups.table import make_bucket as make_bucket
    from gateway.config.backups.table import make_lock as make_lock
    from gateway.config.backups.table import make_place as make_place
else:
    __getattr__ = export_lazily(__name__, __file__)
