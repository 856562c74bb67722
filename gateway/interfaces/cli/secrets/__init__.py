"""`talaria secrets`: lists the secrets that tools use by name, never their values."""

from gateway.interfaces.cli.secrets.verbs import configure as configure
from gateway.interfaces.cli.secrets.verbs import run as run
