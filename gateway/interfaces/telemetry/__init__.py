"""OpenTelemetry traces and metrics of turns that have ended."""
