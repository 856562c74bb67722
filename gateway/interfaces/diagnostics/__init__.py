"""Checks of an installation that contact no service and change nothing."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.diagnostics.finding import Finding as Finding
    from gateway.interfaces.diagnostics.offline import examine as examine
    from gateway.interfaces.diagnostics.report import Report as Report
    from gateway.interfaces.diagnostics.runtime import examine_python as examine_python
else:
    __getattr__ = export_lazily(__name__, __file__)
