"""`talaria top`: shows what the running gateway does, and keeps the picture current."""

from gateway.interfaces.cli.top.command import configure as configure
from gateway.interfaces.cli.top.command import run as run
