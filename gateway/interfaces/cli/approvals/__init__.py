"""`talaria approvals`: lists and revokes what tools may do without a question."""

from gateway.interfaces.cli.approvals.verbs import configure as configure
from gateway.interfaces.cli.approvals.verbs import run as run
