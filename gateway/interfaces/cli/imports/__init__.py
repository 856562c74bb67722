"""`talaria import`: takes over what another assistant knows."""

from gateway.interfaces.cli.imports.command import configure, run

__all__ = ["configure", "run"]
