"""`talaria jobs`: lists, changes, adds and previews scheduled jobs."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.jobs.arguments import configure as configure
    from gateway.interfaces.cli.jobs.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
