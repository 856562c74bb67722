"""The settings for watching a running gateway: alerts, logs, webhooks, telemetry."""

from gateway.config.operations.tables import (
    AlertSettings,
    SessionLogSettings,
    TelemetrySettings,
    WebhookSettings,
)

__all__ = ["AlertSettings", "SessionLogSettings", "TelemetrySettings", "WebhookSettings"]
