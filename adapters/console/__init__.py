"""The terminal and the console page, through a Unix socket in the home."""

from collections.abc import Mapping

from adapters.console.adapter import ConsoleAdapter
from adapters.console.settings import read_settings
from adapters.contract import ChatAdapter


def create(options: Mapping[str, str]) -> ChatAdapter:
    """Make the adapter from its one setting, socket.

    Raises `ValueError` with a sentence on a setting that can't be used.
    """
    return ConsoleAdapter(read_settings(options))
