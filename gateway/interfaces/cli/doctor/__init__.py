"""The command of the doctor: its options and its report."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.doctor.arguments import configure as configure
    from gateway.interfaces.cli.doctor.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
