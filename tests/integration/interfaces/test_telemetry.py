"""Ended turns reach a receiver of OTLP as spans and metrics of the GenAI conventions."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from agent_core.errors import ModelRejected
from agent_core.state.conversations import turns
from gateway.interfaces.telemetry.loading import load_telemetry
from tests.fakes.model import FakeModel, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.harness import Harness, running
from tests.integration.processes import free_port

Attributes = dict[str, str | int]
SECRET = "my-boiler-is-broken"


@dataclass
class Receiver:
    """A receiver of OTLP over HTTP on loopback, which parses what it gets."""

    url: str = ""
    status: int = 200
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)
    metrics: list[ExportMetricsServiceRequest] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def take_traces(self, request: web.Request) -> web.Response:
        assert request.content_type == "application/x-protobuf"
        self.bodies.append(await request.read())
        self.traces.append(ExportTraceServiceRequest.FromString(self.bodies[-1]))
        body = ExportTraceServiceResponse().SerializeToString()
        return web.Response(status=self.status, body=body, content_type="application/x-protobuf")

    async def take_metrics(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        self.metrics.append(ExportMetricsServiceRequest.FromString(self.bodies[-1]))
        body = ExportMetricsServiceResponse().SerializeToString()
        return web.Response(status=self.status, body=body, content_type="application/x-protobuf")

    def spans(self) -> list[Span]:
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def measured(self) -> dict[str, Metric]:
        return {
            metric.name: metric
            for request in self.metrics
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    found = Receiver()
    application = web.Application()
    application.router.add_post("/v1/traces", found.take_traces)
    application.router.add_post("/v1/metrics", found.take_metrics)
    runner = web.AppRunner(application)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    found.url = f"http://127.0.0.1:{port}"
    yield found
    await runner.cleanup()


class Begun(logging.Handler):
    """Notes that the exporter has looked once, which it logs."""

    is_over = False

    def emit(self, record: logging.LogRecord) -> None:
        self.is_over = True


@asynccontextmanager
async def exporting(harness: Harness) -> AsyncIterator[None]:
    """Export what ends while the block runs; the end of the block sends all of it."""
    export = await load_telemetry()
    begun = Begun()
    logger = logging.getLogger("gateway.interfaces.telemetry.exporter")
    logger.addHandler(begun)
    level = logger.level
    logger.setLevel(logging.INFO)
    task = asyncio.create_task(export(harness.gateway))
    await harness.until(lambda: begun.is_over)
    logger.removeHandler(begun)
    logger.setLevel(level)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()


def attributes_of(pairs: list[KeyValue]) -> Attributes:
    return {
        one.key: one.value.string_value
        if one.value.HasField("string_value")
        else one.value.int_value
        for one in pairs
    }


def read_span(span: Span) -> Attributes:
    return attributes_of(list(span.attributes))


async def test_a_turn_is_a_span_above_its_model_calls_and_tools(
    tmp_path: Path, receiver: Receiver
) -> None:
    model = FakeModel(ask(call("look")), say("Done."))
    environ = {"TALARIA_TELEMETRY__ENDPOINT": receiver.url}
    async with running(tmp_path, model, tools=(FakeTool("look"),), **environ) as harness:
        async with exporting(harness):
            await harness.chat.says(SECRET)
            await harness.chat.sees_text("Done.")
            await harness.at_rest()
        (turn,) = await harness.read(lambda c: turns.list_recent(c, limit=5))
    spans = {span.name: span for span in receiver.spans()}
    whole, tool = spans["invoke_agent talaria"], spans["execute_tool look"]
    chats = [span for span in receiver.spans() if span.name.startswith("chat ")]
    assert len(receiver.spans()) == 4
    assert not whole.parent_span_id
    for span in (tool, *chats):
        assert (span.trace_id, span.parent_span_id) == (whole.trace_id, whole.span_id)
        assert whole.start_time_unix_nano <= span.start_time_unix_nano
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= whole.end_time_unix_nano
    assert turn.ended_at
    assert whole.end_time_unix_nano == turn.ended_at * 1_000_000
    found = read_span(whole)
    assert found["gen_ai.operation.name"] == "invoke_agent"
    assert found["gen_ai.agent.name"] == "talaria"
    assert found["gen_ai.conversation.id"] == str(turn.conversation_id)
    assert (found["talaria.turn.id"], found["talaria.turn.state"]) == (turn.id, "answered")
    found = read_span(tool)
    assert found["gen_ai.operation.name"] == "execute_tool"
    assert found["gen_ai.tool.name"] == "look"
    assert found["gen_ai.tool.call.id"] == "c1"
    for span in chats:
        found = read_span(span)
        assert span.kind == Span.SPAN_KIND_CLIENT
        assert found["gen_ai.operation.name"] == "chat"
        assert found["gen_ai.provider.name"] == harness.gateway.settings.model.provider
        assert found["gen_ai.request.model"] == harness.gateway.settings.model.name
        assert found["gen_ai.response.model"] == "fake-1"
        assert int(found["gen_ai.usage.input_tokens"]) > 0
    (resource,) = {
        one.SerializeToString()
        for request in receiver.traces
        for one in [request.resource_spans[0].resource]
    }
    assert b"service.name" in resource
    assert not any(SECRET.encode() in body or b"Ana" in body for body in receiver.bodies)


async def test_tokens_and_durations_are_histograms(tmp_path: Path, receiver: Receiver) -> None:
    environ = {"TALARIA_TELEMETRY__ENDPOINT": f"{receiver.url}/"}
    async with (
        running(tmp_path, FakeModel(say("Hello.")), **environ) as harness,
        exporting(harness),
    ):
        await harness.chat.says("hi")
        await harness.chat.sees_text("Hello.")
        await harness.at_rest()
    (chat,) = [span for span in receiver.spans() if span.name.startswith("chat ")]
    tokens = receiver.measured()["gen_ai.client.token.usage"]
    assert tokens.unit == "{token}"
    counted = {
        attributes_of(list(point.attributes))["gen_ai.token.type"]: point.sum
        for point in tokens.histogram.data_points
    }
    assert counted == {
        "input": read_span(chat)["gen_ai.usage.input_tokens"],
        "output": read_span(chat)["gen_ai.usage.output_tokens"],
    }
    durations = receiver.measured()["gen_ai.client.operation.duration"]
    assert durations.unit == "s"
    names = {
        attributes_of(list(point.attributes))["gen_ai.operation.name"]
        for point in durations.histogram.data_points
    }
    assert names == {"invoke_agent", "chat"}


async def test_a_failed_turn_has_an_error(tmp_path: Path, receiver: Receiver) -> None:
    environ = {"TALARIA_TELEMETRY__ENDPOINT": receiver.url}
    model = FakeModel([ModelRejected("no")])
    async with running(tmp_path, model, **environ) as harness, exporting(harness):
        await harness.chat.says("hi")
        await harness.until(lambda: bool(harness.chat.shown))
        await harness.at_rest()
    (whole,) = receiver.spans()
    assert whole.status.code == Status.STATUS_CODE_ERROR
    assert read_span(whole)["error.type"] == "model_rejected"


async def test_a_receiver_that_fails_harms_no_turn(tmp_path: Path, receiver: Receiver) -> None:
    receiver.status = 400
    environ = {"TALARIA_TELEMETRY__ENDPOINT": receiver.url}
    async with (
        running(tmp_path, FakeModel(say("Hello.")), **environ) as harness,
        exporting(harness),
    ):
        await harness.chat.says("hi")
        await harness.chat.sees_text("Hello.")
        await harness.at_rest()
    assert receiver.traces


@pytest.mark.thorough
@pytest.mark.process
def test_nothing_of_it_is_imported_while_it_is_off() -> None:
    program = (
        "import sys, gateway.interfaces.foreground, gateway.app.build\n"
        "found = [name for name in sys.modules if name.startswith('opentelemetry')]\n"
        "found += [name for name in sys.modules if name.startswith('gateway.interfaces.tele')]\n"
        "print(' '.join(sorted(found)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [
        "gateway.interfaces.telemetry",
        "gateway.interfaces.telemetry.loading",
    ]
