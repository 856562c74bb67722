"""The settings for watching a running gateway: alerts, logs, webhooks, telemetry."""
