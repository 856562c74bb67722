"""`talaria setup`: connects a model and chat apps, step by step or from the environment."""

from gateway.interfaces.cli.setup.command import configure, offer, run
from gateway.interfaces.cli.setup.hello import wait_for_hello

__all__ = ["configure", "offer", "run", "wait_for_hello"]
