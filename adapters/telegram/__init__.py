"""Telegram, through the Bot API."""
