"""`talaria logs`: shows the newest entries of the log, and follows it."""

from gateway.interfaces.cli.logs.command import configure as configure
from gateway.interfaces.cli.logs.command import run as run
