"""Finds faults of a running gateway, and alerts its owners to them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.scheduler.alerts.conditions import AlertSources as AlertSources
    from gateway.scheduler.alerts.conditions import is_backup_old as is_backup_old
    from gateway.scheduler.alerts.conditions import measure_space as measure_space
    from gateway.scheduler.alerts.lost_store import LOST_STORE_LOOK as LOST_STORE_LOOK
    from gateway.scheduler.alerts.lost_store import LostStoreAlarm as LostStoreAlarm
    from gateway.scheduler.alerts.watch import LOOK as LOOK
    from gateway.scheduler.alerts.watch import AlertWatch as AlertWatch
else:
    __getattr__ = export_lazily(__name__, __file__)
