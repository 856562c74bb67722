"""`talaria console`: gives a one-time link to somebody's pages of the console."""

from gateway.interfaces.cli.console.command import configure as configure
from gateway.interfaces.cli.console.command import run as run
