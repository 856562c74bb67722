"""Telegram, through the Bot API."""

from collections.abc import Mapping

from adapters.contract import ChatAdapter
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import read_settings


def create(options: Mapping[str, str]) -> ChatAdapter:
    """Make the adapter from settings: token, base_url, messages_per_second, edit_interval,
    poll_timeout. Raises `ValueError` with a sentence on a setting that can't be used.
    """
    return TelegramAdapter(read_settings(options))
