"""`talaria tools`: lists the tools that people have switched off, and switches them."""

from gateway.interfaces.cli.tools.switches import configure as configure
from gateway.interfaces.cli.tools.switches import run as run
