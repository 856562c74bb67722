"""Anthropic's Message Batches on loopback: create, list, retrieve, results, cancel.

A batch stays `in_progress` until a test ends it. Limits and shapes:
https://platform.claude.com/docs/en/build-with-claude/batch-processing (2026-11-26).
"""

import itertools
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from aiohttp import web

from tests.emulators.anthropic_rules import complain
from tests.emulators.streaming import Json

PATH = "/v1/messages/batches"
_MARK = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KINDS = ("succeeded", "errored", "canceled", "expired")
_SENT_ERROR = {"type": "invalid_request_error", "message": "it can't be answered"}
_LASTS = timedelta(hours=24)


@dataclass(kw_only=True)
class Batch:
    """A batch and, once it has ended, the kind of each of its results."""

    id: str
    requests: list[Json]
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    kind: str = ""
    results: list[Json] = field(default_factory=list)


class Batches:
    """The batches of one key. `compose` makes the message that answers a request.

    `arriving` is awaited before a batch is created, `created` before its answer leaves.
    """

    def __init__(self, compose: Callable[[Json], Json]) -> None:
        self._compose = compose
        self._numbers = itertools.count(1)
        self.all: dict[str, Batch] = {}
        self.refusal: Json | None = None
        """The error with which the next creations are refused, with 400."""
        self.arriving: Callable[[], Awaitable[None]] | None = None
        self.created: Callable[[], Awaitable[None]] | None = None

    def end(self, kind: str = "succeeded") -> None:
        """End every batch that is in progress."""
        assert kind in _KINDS
        for batch in self.all.values():
            if not batch.kind:
                batch.kind = kind
                batch.results = [
                    {"custom_id": one["custom_id"], "result": self._finish(one["params"], kind)}
                    for one in batch.requests
                ]

    def _finish(self, params: Json, kind: str) -> Json:
        match kind:
            case "succeeded":
                return {"type": kind, "message": self._compose(params)}
            case "errored":
                return {"type": kind, "error": {"type": "error", "error": _SENT_ERROR}}
        return {"type": kind}

    async def respond(self, request: web.BaseRequest) -> web.Response:
        """Answer one HTTP request below `PATH`."""
        rest = request.path.removeprefix(PATH).strip("/")
        if not rest:
            return await self._create(request) if request.method == "POST" else self._list(request)
        batch_id, _, what = rest.partition("/")
        batch = self.all.get(batch_id)
        if batch is None:
            return _refuse(404, "not_found_error", f"batch {batch_id} not found")
        match (request.method, what):
            case ("GET", ""):
                return web.json_response(_show(batch, request))
            case ("GET", "results") if batch.kind:
                lines = "".join(json.dumps(one) + "\n" for one in batch.results)
                return web.Response(text=lines, content_type="application/x-jsonl")
            case ("POST", "cancel"):
                self.end("canceled")
                return web.json_response(_show(batch, request))
        return _refuse(404, "not_found_error", "Not found")

    async def _create(self, request: web.BaseRequest) -> web.Response:
        given = (await request.json())["requests"]
        if self.refusal:
            return web.json_response({"type": "error", "error": self.refusal}, status=400)
        marks = [one["custom_id"] for one in given]
        said = next(filter(None, (complain(one["params"]) for one in given)), None)
        if not all(map(_MARK.fullmatch, marks)) or len(set(marks)) < len(marks):
            said = "requests: each needs a custom_id of its own"
        if any(one["params"].get("stream") for one in given):
            said = "requests: streaming is not supported in batches"
        if said or not given:
            return _refuse(400, "invalid_request_error", said or "requests: it is empty")
        if self.arriving:
            await self.arriving()
        batch = Batch(id=f"msgbatch_{next(self._numbers):04d}", requests=given)
        self.all[batch.id] = batch
        if self.created:
            await self.created()
        return web.json_response(_show(batch, request))

    def _list(self, request: web.BaseRequest) -> web.Response:
        shown = [_show(one, request) for one in reversed(self.all.values())]
        first, last = (shown[0]["id"], shown[-1]["id"]) if shown else (None, None)
        return web.json_response(
            {"data": shown, "has_more": False, "first_id": first, "last_id": last}
        )


def _show(batch: Batch, request: web.BaseRequest) -> Json:
    counts = dict.fromkeys(("processing", *_KINDS), 0)
    counts[batch.kind or "processing"] = len(batch.requests)
    address = f"http://{request.host}{PATH}/{batch.id}/results"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.kind else "in_progress",
        "request_counts": counts,
        "created_at": batch.created.isoformat(),
        "expires_at": (batch.created + _LASTS).isoformat(),
        "ended_at": batch.created.isoformat() if batch.kind else None,
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": address if batch.kind else None,
    }


def _refuse(status: int, kind: str, message: str) -> web.Response:
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return web.json_response(body, status=status)
