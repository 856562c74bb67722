"""Traces and metrics for OpenTelemetry, of turns that have ended."""
