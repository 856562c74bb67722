"""Write, check, encrypt and restore a home as one file.

`making` and `restoring` are the entry points; `switching` finishes an interrupted restore.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.state.backups.switching import finish_switch as finish_switch
else:
    __getattr__ = export_lazily(__name__, __file__)
