"""Checks that contact services and read the whole database, and fixes that are safe."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.doctor.live import examine_live as examine_live
    from gateway.interfaces.doctor.probes import check_model as check_model
    from gateway.interfaces.doctor.probes import check_platform as check_platform
    from gateway.interfaces.doctor.repairs import repair as repair
else:
    __getattr__ = export_lazily(__name__, __file__)
