"""`talaria backup`: writes a home into one file, even while a gateway uses it."""

from gateway.interfaces.cli.backup.command import configure, run

__all__ = ["configure", "run"]
