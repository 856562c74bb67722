"""Exports ended turns as spans and metrics, by the GenAI conventions of OpenTelemetry.

It reads everything from the database, so no turn waits for it. It exports no names and no texts of
people. The SDK reads its own variables, such as `OTEL_EXPORTER_OTLP_HEADERS`.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from agent_core.errors import StoreError
from agent_core.ids import TurnId
from agent_core.models.router import split_name
from agent_core.state.conversations import transcripts
from agent_core.state.conversations.transcripts import TimedCall, TimedStep, TimedTurn
from agent_core.state.engine.database import Connection
from gateway.app.gateway import Gateway
from gateway.interfaces.timelines import find_starts

_log = logging.getLogger(__name__)

_LOOK = 2.0
"""Seconds between two checks for turns that have ended."""
_MOST = 200
"""Most turns that one check reads."""
_PATIENCE = 5
"""Seconds in which the receiver has to answer a request."""
_NAME = "talaria"
_TOKENS = tuple(4.0**power for power in range(14))
_SECONDS = tuple(0.01 * 2**power for power in range(14))
"""Bucket boundaries of the histograms, as the conventions set them."""

Attributes = Mapping[str, str | int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """An ended turn with its tool calls and model calls."""

    turn: TimedTurn
    steps: list[TimedStep]
    calls: list[TimedCall]


class TurnFeed:
    """Finds the turns that have ended since the last read. The first read only notes the start."""

    def __init__(self) -> None:
        self._newest: int | None = None
        self._open: set[TurnId] = set()

    def read(self, connection: Connection) -> list[_Ended]:
        """Return the turns that have ended since the last read."""
        if self._newest is None:
            self._newest, self._open = transcripts.find_running(connection)
            return []
        found = transcripts.list_timed_turns(
            connection, after=self._newest, open_turns=sorted(self._open), limit=_MOST
        )
        ended = [
            _Ended(
                turn=turn,
                steps=transcripts.list_timed_steps(connection, turn_id=turn.id),
                calls=transcripts.list_timed_calls(connection, turn_id=turn.id),
            )
            for turn in found
            if turn.ended_at is not None
        ]
        self._open -= {one.id for one in found}
        self._open |= {one.id for one in found if one.ended_at is None}
        self._newest = max((self._newest, *(one.id for one in found)))
        return ended


class Exporter:
    """Converts ended turns to spans and measurements."""

    def __init__(self, endpoint: str, provider: str) -> None:
        """`provider` is used for models whose name does not begin with a provider."""
        self._provider = provider
        resource = Resource.create({"service.name": _NAME, "service.version": version(_NAME)})
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=_PATIENCE)
        self._traces.add_span_processor(BatchSpanProcessor(spans))
        self._tracer = self._traces.get_tracer(_NAME)
        metrics = OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics", timeout=_PATIENCE)
        self._metrics = MeterProvider(
            [PeriodicExportingMetricReader(metrics)], resource=resource, shutdown_on_exit=False
        )
        meter = self._metrics.get_meter(_NAME)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens of model calls.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._durations = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "Seconds of model calls and turns.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    def record(self, ended: _Ended) -> None:
        """Record a turn with its model calls and tool calls."""
        turn = ended.turn
        end = turn.ended_at or turn.started_at
        asked = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": self._provider}
        fault = turn.reason or turn.state if turn.state in ("failed", "exhausted") else ""
        whole = self._add_span(
            f"invoke_agent {_NAME}",
            (turn.started_at, end),
            {
                **asked,
                "gen_ai.agent.name": _NAME,
                "gen_ai.conversation.id": str(turn.conversation_id),
                "talaria.turn.id": turn.id,
                "talaria.turn.state": turn.state,
                "talaria.platform": turn.platform,
            },
            fault=fault,
        )
        self._durations.record((end - turn.started_at) / 1000, asked)
        for step in ended.steps:
            self._add_span(
                f"execute_tool {step.name}",
                (step.started_at, step.ended_at or end),
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": step.name,
                    "gen_ai.tool.call.id": step.call_id,
                    "gen_ai.tool.type": "function",
                },
                parent=whole,
                fault="tool_error" if step.is_error else "",
            )
        starts = find_starts(turn.started_at, end, ended.steps, ended.calls)
        for start, call in zip(starts, ended.calls, strict=True):
            self._record_call(start, call, whole)

    def _record_call(self, start: int, call: TimedCall, parent: Context) -> None:
        provider, model = split_name(call.asked)
        common: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider or self._provider,
            "gen_ai.request.model": model,
            "gen_ai.response.model": call.model,
        }
        self._add_span(
            f"chat {model}",
            (start, call.at),
            {
                **common,
                "gen_ai.usage.input_tokens": call.read,
                "gen_ai.usage.output_tokens": call.written,
                "gen_ai.usage.cache_read.input_tokens": call.cached,
            },
            kind=SpanKind.CLIENT,
            parent=parent,
        )
        self._durations.record((call.at - start) / 1000, common)
        for name, count in (("input", call.read), ("output", call.written)):
            self._tokens.record(count, {**common, "gen_ai.token.type": name})

    def _add_span(
        self,
        name: str,
        span: tuple[int, int],
        attributes: Attributes,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        parent: Context | None = None,
        fault: str = "",
    ) -> Context:
        """Add a span; `span` is its start and its end in milliseconds UTC. Return its context."""
        start, end = span
        made = self._tracer.start_span(
            name, parent or Context(), kind, attributes, start_time=start * 1_000_000
        )
        if fault:
            made.set_attribute("error.type", fault)
            made.set_status(Status(StatusCode.ERROR))
        made.end(max(start, end) * 1_000_000)
        return set_span_in_context(made, Context())

    async def close(self) -> None:
        """Send the rest. If the receiver is down, this waits once for the time limit."""
        await asyncio.gather(
            asyncio.to_thread(self._traces.shutdown), asyncio.to_thread(self._metrics.shutdown)
        )


async def export_telemetry(gateway: Gateway) -> None:
    """Export turns as they end, until cancelled."""
    settings = gateway.settings
    exporter = Exporter(settings.telemetry.endpoint.rstrip("/"), settings.model.provider)
    feed = TurnFeed()

    async def look() -> None:
        try:
            ended = await gateway.database.read(feed.read)
        except StoreError as error:
            _log.error("telemetry waits for the store: %s", error)
            return
        for one in ended:
            exporter.record(one)

    await look()
    _log.info("finished turns are exported to %s", settings.telemetry.endpoint)
    try:
        while True:
            await asyncio.sleep(_LOOK)
            await look()
    finally:
        await look()  # turns that ended while the gateway was stopping
        await exporter.close()
