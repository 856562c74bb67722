"""A home as one file: writing, checking, encrypting and restoring it.

`making` and `restoring` are the entry points; `switching` finishes a restore that was interrupted.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.state.backups.switching import finish_switch as finish_switch
else:
    __getattr__ = export_lazily(__name__, __file__)
