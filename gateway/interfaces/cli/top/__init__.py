"""`talaria top`: shows what the running gateway is doing, and refreshes the display."""

from gateway.interfaces.cli.top.command import configure as configure
from gateway.interfaces.cli.top.command import run as run
