"""`talaria agents`: lists named agents, and says what is wrong with their files."""

from gateway.interfaces.cli.agents.verbs import configure as configure
from gateway.interfaces.cli.agents.verbs import run as run
