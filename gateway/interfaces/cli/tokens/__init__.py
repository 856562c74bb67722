"""`talaria tokens`: makes, lists and revokes the tokens of people's other programs."""

from gateway.interfaces.cli.tokens.verbs import configure as configure
from gateway.interfaces.cli.tokens.verbs import run as run
