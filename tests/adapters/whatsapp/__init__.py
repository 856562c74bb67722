"""Tests of the WhatsApp adapter."""
