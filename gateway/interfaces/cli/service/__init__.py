"""`talaria service`: keeps Talaria running through systemd or launchd."""

from gateway.interfaces.cli.service.command import configure, run

__all__ = ["configure", "run"]
