"""Telegram, through the Bot API."""

from adapters.telegram.adapter import create

__all__ = ["create"]
