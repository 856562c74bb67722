"""Tests of the Telegram folder."""
