"""Imports OpenTelemetry if an endpoint is set; its packages are an extra."""

import asyncio
from importlib import import_module
from typing import cast

from agent_core.errors import name_installation
from gateway.app.lifecycle import Companion
from gateway.errors import StartError


async def load_telemetry() -> Companion:
    """Import the exporter on a thread. Raises `StartError` without the extra."""
    try:
        module = await asyncio.to_thread(import_module, "gateway.interfaces.telemetry.exporter")
    except ModuleNotFoundError as error:
        raise StartError(
            f"telemetry.endpoint needs the extra `otel`; run {name_installation('otel')}"
        ) from error
    return cast(Companion, module.export_telemetry)
