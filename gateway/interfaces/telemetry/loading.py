"""Loads OpenTelemetry only where an endpoint is set: its packages are an extra."""

import asyncio
from importlib import import_module
from typing import cast

from gateway.bootstrap.lifecycle import Companion
from gateway.errors import StartError


async def load_telemetry() -> Companion:
    """Import the exporter on a thread. Raises `StartError` without the extra."""
    try:
        module = await asyncio.to_thread(import_module, "gateway.interfaces.telemetry.exporter")
    except ModuleNotFoundError as error:
        raise StartError(
            "telemetry.endpoint needs the extra `otel`; run pip install 'talaria[otel]'."
        ) from error
    return cast(Companion, module.export_telemetry)
