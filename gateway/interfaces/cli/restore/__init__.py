"""Reads a backup, checks it, and puts it in the place of the home."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.restore.restoring import restore_home as restore_home
else:
    __getattr__ = export_lazily(__name__, __file__)
