"""`talaria restore`: replaces a home by a backup, or rehearses it."""

from gateway.interfaces.cli.restore.command import configure, run

__all__ = ["configure", "run"]
