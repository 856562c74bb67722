"""`talaria skills`: list, install and check skills, show their changes, and undo them."""

from gateway.interfaces.cli.skills.verbs import configure, run

__all__ = ["configure", "run"]
