"""The settings of what owners use to watch a running gateway."""

from gateway.config.operations.tables import AlertSettings, SessionLogSettings, TelemetrySettings

__all__ = ["AlertSettings", "SessionLogSettings", "TelemetrySettings"]
