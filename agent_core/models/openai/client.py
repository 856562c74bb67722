"""The client of chat-completions servers; only this package imports OpenAI's SDK and maps its
errors.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from urllib.parse import quote

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelMisplaced,
    ModelRejected,
    ModelUnknown,
    ModelUnreachable,
)
from agent_core.models.addresses import explain_nothing, has_api, is_nothing_there
from agent_core.models.answer_schema import is_about_choice, is_about_schema, is_bad_schema
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.dialect import Attempts, avoid
from agent_core.models.http import chunk_large, parse_retry_after
from agent_core.models.image_support import ImageSupport
from agent_core.models.interruptions import Interruptions
from agent_core.models.local.servers import is_near
from agent_core.models.openai.answer import AnswerReader
from agent_core.models.openai.state import PROVIDER
from agent_core.models.openai.stream import ChunkStream
from agent_core.models.openai.translate import (
    Dialect,
    IdForm,
    TokenLimitName,
    adapt,
    render_shaped,
)
from agent_core.models.profiles import WINDOW, ModelProfile, Profiles
from agent_core.models.refusals import judge_words
from agent_core.models.settings import OpenAISettings
from agent_core.models.watched_body import watch
from agent_core.models.windows import find_window

_NO_KEY = "no-key"
"""The key sent to servers that need none, because the SDK requires one."""
_CONNECT_SECONDS = 10.0
_CHECK_SECONDS = 15.0
_CONNECTIONS = 10_000
"""The most concurrent turns; the SDK's default of 1,000 would make people wait."""
_ROUTE = "/chat/completions"
_BEGINS_IN_THOUGHT, _ENDS_SILENTLY = "begins_in_thought", "ends_silently"
"""The kinds of facts of models whose answers begin within a thought, and whose server never says
that an answer has ended: the end of the body has to do.
"""
_KEPT_SECONDS = 30.0
"""Seconds to keep an idle connection; the SDK's default of 5 costs a handshake per message.

None is kept to a server nearby: llama.cpp closes each one after a stream, whatever it announces,
and a new one costs nothing there.
"""

WIRE_ERRORS = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    aiohttp.ClientError,
    OSError,
    # A malformed chunk: not JSON, not UTF-8, nested too deeply, or without a required field.
    ValueError,
    RecursionError,
)
"""Errors that a call can raise."""

_BY_STATUS: Mapping[int, type[ModelError]] = {
    401: ModelDenied,
    402: ModelDenied,
    403: ModelDenied,
    404: ModelUnknown,
    408: ModelBusy,
    409: ModelBusy,
    425: ModelBusy,
    429: ModelBusy,
    498: ModelBusy,
    499: ModelBusy,
    501: ModelRejected,
}
"""Other statuses: 500 and above mean busy, the rest rejected."""

_BY_CODE: Mapping[str, type[ModelError]] = {
    "insufficient_quota": ModelDenied,
    "billing_hard_limit_reached": ModelDenied,
    "invalid_api_key": ModelDenied,
    "model_not_found": ModelUnknown,
}
"""A body's code or type takes precedence over its status."""

_OTHER_LIMIT: Mapping[TokenLimitName, TokenLimitName] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}

_UNKNOWN_FIELD = re.compile(
    "not supported|unsupported|unknown|unrecognized|unexpected|extra inputs|not permitted|"
    "not allowed|extra fields|additional propert",
    re.IGNORECASE,
)
"""Error messages for an unknown field, as opposed to a bad value."""

_UNREACHED = (
    openai.APIConnectionError,
    openai.APIResponseValidationError,
    httpx2.TransportError,
    httpx2.DecodingError,
    httpx2.StreamError,
    aiohttp.ClientError,
    OSError,
    ValueError,
    RecursionError,
)


def create(settings: OpenAISettings, profiles: Profiles | None = None) -> "OpenAIModel":
    """Create the provider; what it learns of models is noted in `profiles`."""
    timeout, is_server_near = settings.timeout, is_near(settings.base_url)
    kept = 0.0 if is_server_near else _KEPT_SECONDS

    async def watch_body(response: httpx2.Response) -> None:
        watch(response, timeout)

    client = AsyncOpenAI(
        api_key=settings.api_key or _NO_KEY,
        base_url=settings.base_url,
        timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
        max_retries=0,
        # aiohttp's pool stays cheap with hundreds of calls at once; httpx2's does not.
        http_client=openai.DefaultAioHttpClient(
            limits=httpx2.Limits(max_connections=_CONNECTIONS, keepalive_expiry=kept),
            event_hooks={"response": [watch_body]},
        ),
    )
    is_openai = settings.is_openai
    is_mistral = settings.host.endswith(".mistral.ai")
    form: IdForm = "short" if is_openai else "nine" if is_mistral else "any"
    dialect = Dialect(
        limit="max_completion_tokens" if is_openai else "max_tokens",
        id_form=form,
        notes_behind=is_server_near,
    )
    return OpenAIModel(
        client,
        dialect=dialect,
        effort=settings.effort,
        profiles=profiles or Profiles(),
        server=settings.base_url,
    )


class OpenAIModel:
    """The `Model` for OpenAI and compatible servers."""

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        dialect: Dialect,
        effort: str,
        profiles: Profiles,
        server: str,
    ) -> None:
        self._client = client
        self._profiles = profiles
        self._server = server.rstrip("/")
        self._headers = {"Authorization": f"Bearer {client.api_key}"}
        self._dialect = dialect
        """The dialect of the server, without what is learned of a model."""
        self._options = {"effort": effort}
        self._image_support = ImageSupport()
        self._interruptions = Interruptions()

    @property
    def provider(self) -> str:
        """The package's name."""
        return PROVIDER

    def profile(self, model: str) -> ModelProfile:
        """Return what is known of a model; see the contract."""
        return self._profiles.find(self._server, model)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call; see the contract.

        An interruption raises `ModelBusy` before the first chunk, and `ModelInterrupted` after it.
        An answer with a stop reason is complete, even if its usage is lost. If the same request
        breaks off twice in the same way, the answer is what came.
        """
        known = self.profile(request.model)
        begins_in_thought = bool(known.values.get(_BEGINS_IN_THOUGHT))
        reader = AnswerReader(request, begins_in_thought=begins_in_thought)
        attempts = Attempts(request, base=self._dialect, profile=known, images=self._image_support)
        chunks: ChunkStream | None = None
        is_kept = False
        try:
            chunks, chunk = await self._open(attempts)
            # `async for` would leave a suspended generator for the garbage collector.
            while chunk is not None:
                text = reader.read(chunk)
                if text:
                    yield TextDelta(text=text)
                chunk = None if reader.is_too_long else await anext(chunks, None)
            reader.has_ended = chunks.has_ended
            is_kept = await self._judge_end(reader, request)
        except WIRE_ERRORS as error:
            # The answer is complete and paid for; only the end of the stream is missing.
            if not reader.is_whole:
                is_kept = isinstance(error, _UNREACHED) and bool(reader.words)
                if not is_kept or not self._interruptions.is_second(request, error, reader.words):
                    raise await self._explain(error, reader.has_begun) from error
        except ModelMisplaced as error:
            raise await self._explain_nothing(str(error)) from error
        finally:
            if chunks is not None:
                # Closing a broken connection may fail.
                with suppress(*WIRE_ERRORS):
                    await chunks.close()
        if not (reader.is_whole or is_kept):
            kind = ModelInterrupted if reader.has_begun else ModelBusy
            raise kind("The model server's stream ended before the answer did.")
        if rest := reader.end(is_broken=is_kept):
            yield TextDelta(text=rest)
        learned = {_BEGINS_IN_THOUGHT: reader.has_lost_opening or None}
        await self._profiles.learn(self._server, request.model, learned)
        yield replace(reader.finish(), shape=attempts.shape(self._options).shape)

    async def _judge_end(self, reader: AnswerReader, request: ModelRequest) -> bool:
        """Judge the end of a body; return True to keep an answer that the server did not end.

        If its server never ends one, the end of the body does.
        """
        is_silent = reader.is_silent
        if is_silent and self.profile(request.model).values.get(_ENDS_SILENTLY):
            reader.has_ended = True
            return False
        is_kept = reader.has_content and not reader.is_whole
        is_kept = is_kept and self._interruptions.is_second(request)
        if reader.is_whole or (is_kept and is_silent):
            learned = {_ENDS_SILENTLY: is_silent or None}
            await self._profiles.learn(self._server, request.model, learned)
        return is_kept

    async def check(self, model: str) -> None:
        """Request the model, or else the list of models; see the contract.

        Passes if the server supports neither, but takes calls: then the first real call finds any
        error.
        """
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                if await self._get(f"/models/{quote(model, safe='')}") is not None:
                    return
                listed = await self._get("/models")
                if listed is None and not await has_api(self._server + _ROUTE, self._headers):
                    raise await self._explain_nothing()
                _look_for(model, listed)
        except TimeoutError as error:
            raise ModelUnreachable(
                f"The model server gave no answer within {_CHECK_SECONDS:g} s."
            ) from error
        except WIRE_ERRORS as error:
            raise await self._explain(error, False) from error

    async def _explain(self, error: Exception, has_begun: bool) -> ModelError:
        """Return the core's error; if nothing lies at the address, say where an API does."""
        if has_begun or not isinstance(error, openai.APIError):
            return translate_error(error, has_begun, time.time())
        if is_nothing_there(_find_status(error), error.message):
            return await self._explain_nothing(error.message)
        return translate_error(error, has_begun, time.time())

    async def _explain_nothing(self, said: str = "") -> ModelError:
        base = self._server.removesuffix("/chat/completions")
        plain = base.removesuffix("/v1")
        others = [one for one in (base, f"{plain}/v1", plain) if one != self._server]
        return await explain_nothing(self._server, others, _ROUTE, self._headers, said)

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    async def _open(self, attempts: Attempts[Dialect]) -> tuple[ChunkStream, object | None]:
        """Start the call in a form that the server takes; return its stream with the first chunk.

        Some servers refuse a request within the stream.
        """
        while True:
            shown = attempts.shape(self._options)
            try:
                begun = await self._begin(render_shaped(shown))
            except openai.APIError as error:
                _complete(error)
                await self._learn_window(shown.model, error.message)
                change = partial(self._adapt, error, shown)
                is_once = is_bad_schema(error.message)
                if not attempts.refuse(_find_status(error), error.message, change, is_once=is_once):
                    raise
            else:
                await self._profiles.learn(self._server, shown.model, attempts.accept())
                return begun

    async def _learn_window(self, model: str, said: str) -> None:
        if window := find_window(said):
            await self._profiles.learn(self._server, model, {WINDOW: window})

    async def _begin(self, body: bytes) -> tuple[ChunkStream, object | None]:
        """Send a request; return its stream with the first chunk. Raises the SDK's errors."""
        chunks = await self._client.post(
            _ROUTE,
            cast_to=object,
            content=chunk_large(body),
            stream=True,
            stream_cls=ChunkStream,
            options={
                "security": {"bearer_auth": True},
                "headers": {"Content-Length": str(len(body))},
            },
        )
        try:
            return chunks, await anext(chunks, None)
        except BaseException:
            with suppress(*WIRE_ERRORS):
                await chunks.close()
            raise

    def _adapt(self, error: openai.APIError, shown: ModelRequest, dialect: Dialect) -> Dialect:
        """Return the dialect that avoids an error; unchanged for one that no dialect avoids."""
        status, said = _find_status(error), error.message
        plainer = _adapt_form(dialect, shown, status, said)
        if plainer == dialect and status in (400, 422):
            plainer = _simplify(dialect, find_refused(error), self._dialect.limit)
        if plainer == dialect:
            plainer = adapt(dialect, status, said, shown)
        return plainer if plainer != dialect else avoid(dialect, status, said, shown)

    async def _get(self, path: str) -> object | None:
        """Return the resource at a path; None if the server doesn't have it."""
        try:
            found = await self._client.get(
                path, cast_to=object, options={"security": {"bearer_auth": True}}
            )
            return found if isinstance(found, dict) and "error" not in found else None
        except openai.APIStatusError as error:
            if error.status_code in (404, 405, 501):
                return None
            raise


def _adapt_form(dialect: Dialect, request: ModelRequest, status: int, said: str) -> Dialect:
    """Return the dialect that asks for the answer's form in a plainer way, if that was refused."""
    if dialect.forces_calls and is_about_choice(request, status, said):
        return replace(dialect, forces_calls=False)
    if is_about_schema(request, status, said):
        return dialect.without_schema_form(request)
    return dialect


def _simplify(dialect: Dialect, refused: str, first: TokenLimitName) -> Dialect:
    """Return the dialect without the refused field; unchanged if that is impossible.

    `first` is the server's usual name of the limit, which is changed only once. So the attempts
    end if a server refuses both names.
    """
    if refused == "stream_options" and dialect.counts_streams:
        return replace(dialect, counts_streams=False)
    if refused == dialect.limit == first:
        return replace(dialect, limit=_OTHER_LIMIT[first])
    return dialect


def _look_for(model: str, listed: object) -> None:
    """Raise `ModelUnknown` if a list of models does not contain this one."""
    data = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(data, list):
        return
    names = {entry.get("id") for entry in data if isinstance(entry, dict)}
    # Ollama lists `llama3:latest`, but also accepts `llama3`.
    if names and not {model, f"{model}:latest"} & names:
        raise ModelUnknown(f'The model server has no model "{model}".')


def _complete(error: openai.APIError) -> None:
    """Give an error its words, which the SDK finds in an object only; Gemini sends a list."""
    if isinstance(error.body, list):
        error.message = f"{error.message}: {json.dumps(error.body, ensure_ascii=False)}"


def translate_error(error: Exception, has_begun: bool, now: float) -> ModelError:
    """Map any of `WIRE_ERRORS` to the core's errors. `now` is in seconds since the epoch."""
    if isinstance(error, openai.APIStatusError):
        text = f"The model server answered {error.status_code}: {error.message}"
        kind = _judge(error, error.status_code)
        wait = parse_retry_after(error.response.headers.get("retry-after"), now)
        return ModelBusy(text, retry_after=wait) if kind is ModelBusy else kind(text)
    if isinstance(error, _UNREACHED):
        what = f"{type(error).__name__}: {error}"
        if has_begun:
            return ModelInterrupted(f"The model server's stream broke off ({what}).")
        return ModelUnreachable(f"The model server can't be reached ({what}).")
    if isinstance(error, openai.APIError):
        # An error object within the stream.
        code = str(error.code or "")
        kind = _judge(error, _find_status(error, unknown=500))
        if kind is ModelBusy and has_begun:
            kind = ModelInterrupted
        return kind(f"The model server's stream holds an error {code}: {error.message}")
    return ModelRejected(f"OpenAI's SDK refuses the request: {type(error).__name__}: {error}")


def find_refused(error: openai.APIError) -> str:
    """Return the name of the request field that a server doesn't know, or ""."""
    if not _UNKNOWN_FIELD.search(error.message):
        return ""
    said = f"{error.param or ''} {error.message}"
    # The error's advice may mention the limit's other name, after the refused one.
    found = [
        (place, word)
        for word in ("stream_options", "max_completion_tokens", "max_tokens")
        if (place := said.find(word)) >= 0
    ]
    return min(found)[1] if found else ""


def _find_status(error: openai.APIError, unknown: int = 400) -> int:
    """Return an error's status; within a stream, its code may be one (OpenRouter)."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code
    code = str(error.code or "")
    return int(code) if code.isdecimal() else unknown


def _judge(error: openai.APIError, status: int) -> type[ModelError]:
    code, category = str(error.code or ""), str(error.type or "")
    by_code = _BY_CODE.get(code) or _BY_CODE.get(category)
    if by_code is not None:
        return by_code
    by_words = judge_words(status, error.message, code, category)
    return by_words or _BY_STATUS.get(status, ModelBusy if status >= 500 else ModelRejected)
