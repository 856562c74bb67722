"""`talaria doctor`: checks everything, asks the services too, and applies safe fixes."""

from gateway.interfaces.cli.doctor.command import configure, run

__all__ = ["configure", "run"]
