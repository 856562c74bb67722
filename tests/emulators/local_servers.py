"""Model servers of one machine: their own APIs, as they tell who they are and what they have.

The shapes are those of the servers' documents: Ollama's docs/api.md, LM Studio's REST API v0,
llama.cpp's tools/server/README.md, and vLLM's OpenAI-compatible server.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from aiohttp import web

from tests.emulators.server import LoopbackServer

Json = dict[str, Any]


class LocalServerEmulator(LoopbackServer):
    """Answers each known path with its JSON, and any other as `unknown` says.

    `silent` paths never answer; the others take `latency` seconds. `asked` are the requests so far.
    """

    ends_left_requests = True

    def __init__(
        self,
        routes: Mapping[str, Json],
        *,
        unknown: tuple[int, Json | str] = (404, "404 page not found"),
        silent: Sequence[str] = (),
        latency: float = 0,
        pulls: Sequence[Json | int] = (),
    ) -> None:
        super().__init__()
        self.routes = dict(routes)
        self.unknown = unknown
        self.silent = set(silent)
        self.latency = latency
        self.pulls = list(pulls)
        self.asked: list[str] = []
        self.was_stopped = asyncio.Event()
        """Set when a client has left a download before its end."""
        self._ended = asyncio.Event()

    def application(self) -> web.Application:
        """Return the routes."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    async def stop(self) -> None:
        """Let silent requests go, and stop."""
        self._ended.set()
        await super().stop()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        if request.path in self.silent:
            await self._ended.wait()
        if self.latency:
            await asyncio.sleep(self.latency)
        if request.path == "/api/pull":
            return await self._pull(request)
        if request.path == "/api/show":
            name = (await request.json())["model"]
            shown = self.routes.get(f"/api/show {name}")
            if shown is None:
                return web.json_response({"error": f"model '{name}' not found"}, status=404)
            return web.json_response(shown)
        if request.path in self.routes:
            return web.json_response(self.routes[request.path])
        status, told = self.unknown
        if isinstance(told, str):
            return web.Response(status=status, text=told)
        return web.json_response(told, status=status)

    async def _pull(self, request: web.Request) -> web.StreamResponse:
        """Stream the planned lines; the line `{"wait": true}` waits until the client leaves."""
        answer = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await answer.prepare(request)
        try:
            for line in self.pulls:
                if isinstance(line, dict) and "wait" in line:
                    await self._ended.wait()
                await answer.write(json.dumps(line).encode() + b"\n")
        except (asyncio.CancelledError, ConnectionError):
            self.was_stopped.set()
            raise
        return answer


def ollama(**models: Sequence[str]) -> dict[str, Json]:
    """The routes of an Ollama with models; each has its abilities."""
    names = {name.replace("__", ":"): abilities for name, abilities in models.items()}
    routes: dict[str, Json] = {
        "/api/version": {"version": "0.12.6"},
        "/api/tags": {"models": [_tag(name) for name in names]},
        "/api/ps": {"models": []},
        "/v1/models": {
            "object": "list",
            "data": [
                {"id": name, "object": "model", "created": 1, "owned_by": "library"}
                for name in names
            ],
        },
    }
    for name, abilities in names.items():
        routes[f"/api/show {name}"] = {"capabilities": list(abilities), "details": {}}
    return routes


def _tag(name: str) -> Json:
    size = name.rpartition(":")[2].upper()
    return {
        "name": name,
        "model": name,
        "modified_at": "2026-11-01T10:00:00Z",
        "size": int(float(size.removesuffix("B").removesuffix("b")) * 0.65e9),
        "digest": "ab" * 32,
        "details": {"format": "gguf", "family": "qwen3", "parameter_size": size},
    }


def lm_studio() -> dict[str, Json]:
    """The routes of an LM Studio with one model that calls tools, and two that don't count."""
    return {
        "/api/v0/models": {
            "object": "list",
            "data": [
                {
                    "id": "qwen2.5-7b-instruct",
                    "object": "model",
                    "type": "llm",
                    "publisher": "lmstudio-community",
                    "arch": "qwen2",
                    "compatibility_type": "gguf",
                    "quantization": "Q4_K_M",
                    "state": "loaded",
                    "max_context_length": 32768,
                    "loaded_context_length": 8192,
                    "capabilities": ["tool_use"],
                },
                {
                    "id": "gemma-2-9b-it",
                    "object": "model",
                    "type": "llm",
                    "arch": "gemma2",
                    "state": "not-loaded",
                    "max_context_length": 8192,
                },
                {
                    "id": "text-embedding-nomic-embed-text-v1.5",
                    "object": "model",
                    "type": "embeddings",
                    "arch": "nomic-bert",
                    "state": "not-loaded",
                    "max_context_length": 2048,
                },
            ],
        },
        "/v1/models": {"object": "list", "data": [{"id": "qwen2.5-7b-instruct"}]},
    }


LM_STUDIO_UNKNOWN: tuple[int, Json] = (
    200,
    {"error": "Unexpected endpoint or method. (GET /api/version)"},
)


def llama_cpp(
    *, caps: Json | None = None, template: str = "{% if tools %}…{% endif %}", slots: int = 1
) -> dict[str, Json]:
    """The routes of a llama.cpp server; older ones have no `chat_template_caps`."""
    props: Json = {
        "default_generation_settings": {"id": 0, "n_ctx": 8192, "params": {"n_predict": -1}},
        "total_slots": slots,
        "model_path": "/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        "chat_template": template,
        "build_info": "b6500-abcdef",
    }
    if caps is not None:
        props["chat_template_caps"] = caps
    meta = {"n_ctx_train": 32768, "n_params": 1_543_714_304, "size": 1_060_000_000}
    return {
        "/props": props,
        "/v1/models": {
            "object": "list",
            "data": [
                {
                    "id": "qwen2.5-coder-1.5b",
                    "object": "model",
                    "created": 1,
                    "owned_by": "llamacpp",
                    "meta": meta,
                }
            ],
        },
    }


def vllm() -> dict[str, Json]:
    """The routes of a vLLM server."""
    return {
        "/version": {"version": "0.11.0"},
        "/v1/models": {
            "object": "list",
            "data": [
                {
                    "id": "Qwen/Qwen3-8B",
                    "object": "model",
                    "created": 1,
                    "owned_by": "vllm",
                    "root": "Qwen/Qwen3-8B",
                    "parent": None,
                    "max_model_len": 40960,
                    "permission": [],
                }
            ],
        },
    }


async def drain(lines: AsyncIterator[Any]) -> list[Any]:
    """Collect everything."""
    return [line async for line in lines]
