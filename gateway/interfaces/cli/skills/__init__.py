"""The verbs of `talaria skills`: list skills, show and undo changes, archive and restore."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.skills.local import run_locally as run_locally
    from gateway.interfaces.cli.skills.verbs import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
