"""The client of Anthropic's Messages API; only this package imports its SDK and maps its errors."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

import aiohttp
import anthropic
import httpx2
from anthropic import AsyncAnthropic

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
from agent_core.models.answer_schema import (
    is_about_choice,
    is_about_schema,
    is_bad_schema,
    is_closable,
    parse_schema,
)
from agent_core.models.anthropic import batches
from agent_core.models.anthropic.answer import AnswerReader, EventStream, make_error
from agent_core.models.anthropic.translate import (
    CLOSED_SCHEMA,
    PROVIDER,
    MessagesDialect,
    Prefix,
    leave_out_thoughts,
    leave_out_unsigned,
    read_shaped,
    render_behind,
    render_count,
    render_request,
    render_shaped,
)
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.dialect import Attempts, avoid
from agent_core.models.http import chunk_large, most_letters, parse_retry_after
from agent_core.models.image_support import ImageSupport
from agent_core.models.interruptions import Interruptions
from agent_core.models.prefix_cache import PrefixCache
from agent_core.models.profiles import WINDOW, ModelProfile, Profiles
from agent_core.models.refusals import judge_words
from agent_core.models.settings import AnthropicSettings
from agent_core.models.shapes import read_shape
from agent_core.models.watched_body import watch
from agent_core.models.windows import find_window

_SHORT = 8
"""For conversations with at most this many messages, rendering again is cheaper than caching."""


class RenderedPrefixes:
    """Renders requests, and caches the rendered beginnings of conversations."""

    def __init__(self) -> None:
        self._prefixes: PrefixCache[Prefix] = PrefixCache()

    def render(self, request: ModelRequest) -> bytes:
        """Return the body of a request; equal to `render_shaped`."""
        request, options = read_shaped(request)
        messages = request.messages
        if len(messages) <= _SHORT:
            return render_request(request, **options)
        key = request.model, messages[0]
        _, before = self._prefixes.take(key, messages) or (0, Prefix())
        body, longer = render_behind(before, request, **options)
        # The weight counts the text twice: once as text, once as the messages that it came from.
        self._prefixes.keep(key, messages[: longer.count], longer, 2 * len(longer.text))
        return body


_MOST_BAD = 1000
"""Schemas to remember as refused."""


def _seal(schema: str) -> str | None:
    """Return a schema as the API wants it, with closed objects; None if that is impossible."""
    parsed = parse_schema(schema)
    if not is_closable(parsed):
        return None
    with suppress(ValueError, AssertionError, AttributeError, TypeError):
        return json.dumps(anthropic.transform_schema(parsed), ensure_ascii=False)
    return None


_STREAMING, _REFUSED = 200, 400
"""The status of an error within a stream, and the one that it would have outside."""
_ROUTE = "/v1/messages"
_VERSION = "2023-06-01"
_CONNECT_SECONDS = 10.0
_CHECK_SECONDS = 15.0
_COUNT_SECONDS = 10.0
_DRAIN_SECONDS = 0.25
_BATCH_SECONDS = 60.0
_CONNECTIONS = 10_000
"""The most concurrent turns; the SDK's default of 1,000 would make people wait."""
_KEPT_SECONDS = 30.0
"""Seconds to keep an idle connection; the SDK's default of 5 costs a handshake per message."""

WIRE_ERRORS = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    aiohttp.ClientError,
    OSError,
    # A malformed event: not JSON, not UTF-8, or without a required field.
    ValueError,
    RecursionError,
)
"""Errors that a call can raise. The SDK wraps errors before the stream, but not within it."""

_BY_STATUS: Mapping[int, type[ModelError]] = {
    400: ModelRejected,
    401: ModelDenied,
    402: ModelDenied,
    403: ModelDenied,
    404: ModelUnknown,
    408: ModelBusy,
    409: ModelBusy,
    412: ModelRejected,
    413: ModelRejected,
    422: ModelRejected,
    429: ModelBusy,
    431: ModelRejected,
    499: ModelBusy,
    501: ModelRejected,
}
"""Other statuses: 500 and above mean busy, the rest rejected."""

_BY_TYPE: Mapping[str, type[ModelError]] = {
    "invalid_request_error": ModelRejected,
    "authentication_error": ModelDenied,
    "billing_error": ModelDenied,
    "permission_error": ModelDenied,
    "not_found_error": ModelUnknown,
}
"""Types of error events within a stream, whose status is 200; others mean interrupted."""

_DENIED_CODES = frozenset(
    {
        "cmek_key_disabled",
        "cmek_key_network_blocked",
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "organization_on_hold",
        "organization_type_not_supported",
    }
)
"""Codes with status 400 or 429 that neither waiting nor a changed request can resolve."""

_CREDIT = "credit balance"

_DENIED_CLASSES = (
    anthropic.CredentialsError,
    anthropic.APIWebhookValidationError,
)
_BUSY_CLASSES = (
    anthropic.APIConnectionError,
    anthropic.APIResponseValidationError,
    anthropic.RetryableError,
    httpx2.RequestError,
    httpx2.StreamError,
    aiohttp.ClientError,
    OSError,
    ValueError,
    RecursionError,
)


def connect(settings: AnthropicSettings, profiles: Profiles) -> "AnthropicModel":
    """Create the provider, which notes in `profiles` what it learns of models."""
    timeout = settings.timeout
    waits = httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
    # aiohttp's pool stays cheap with hundreds of calls at once; httpx2's does not.
    http_client = anthropic.DefaultAioHttpClient(
        timeout=waits,
        limits=httpx2.Limits(max_connections=_CONNECTIONS, keepalive_expiry=_KEPT_SECONDS),
    )
    client = AsyncAnthropic(
        api_key=settings.api_key,
        base_url=settings.base_url,
        timeout=waits,
        max_retries=0,
        open_telemetry=False,
        http_client=http_client,
    )
    return AnthropicModel(client, http_client, settings=settings, profiles=profiles)


class AnthropicModel:
    """The `Model` for Anthropic."""

    def __init__(
        self,
        client: AsyncAnthropic,
        http_client: httpx2.AsyncClient,
        *,
        settings: AnthropicSettings,
        profiles: Profiles,
    ) -> None:
        """`http_client` is the client that `client` sends with."""
        self._client = client
        self._http_client = http_client
        # Built once: the SDK builds it for each call, which takes a fifth of a call's CPU time.
        self._messages = httpx2.URL(f"{str(client.base_url).rstrip('/')}/v1/messages")
        # The SDK has no public access to the transport for this address, which may go through a
        # proxy. The SDK's other steps (authentication, cookies, events) do nothing for this call.
        self._transport = http_client._transport_for_url(self._messages)
        given = client.default_headers.items()
        self._headers = httpx2.Headers(http_client.headers, encoding="utf-8")
        self._headers.update({name: text for name, text in given if isinstance(text, str)})
        self._waits = {"timeout": http_client.timeout.as_dict()}
        self._silence = settings.timeout
        self._options: dict[str, str] = {"effort": settings.effort}
        if settings.cache_ttl != "5m":
            self._options["cache_ttl"] = settings.cache_ttl
        self._profiles = profiles
        self._server = settings.base_url.rstrip("/")
        self._probe = {"x-api-key": settings.api_key, "anthropic-version": _VERSION}
        self._image_support = ImageSupport()
        self._prefixes = RenderedPrefixes()
        self._interruptions = Interruptions()
        self._bad: OrderedDict[str, None] = OrderedDict()
        """Closed schemas that the API refused."""

    @property
    def provider(self) -> str:
        """The package's name."""
        return PROVIDER

    def profile(self, model: str) -> ModelProfile:
        """Return what is known of a model; see the contract."""
        return self._profiles.find(self._server, model)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call; see the contract.

        An interruption raises `ModelBusy` before the first event, and `ModelInterrupted` after it.
        An answer that lacks only the stream's last event is complete. If the same request breaks
        off twice in the same way, the answer is what came.
        """
        attempts = self._attempt(request)
        reader = AnswerReader(request.model, most_letters(request.max_output_tokens))
        events: EventStream | None = None
        is_kept = False
        try:
            events, event = await self._open(attempts)
            while event is not None:
                text = reader.read(event)
                if text:
                    yield TextDelta(text=text)
                event = None if reader.has_ended else await events.next()
            is_kept = reader.has_content and not reader.is_whole
            is_kept = is_kept and self._interruptions.is_second(request, words=reader.words)
            if not reader.is_too_long:
                await _drain(events)
        except WIRE_ERRORS as error:
            # The answer is complete and paid for; only the end of the stream is missing.
            if not reader.is_whole:
                is_kept = isinstance(error, _BUSY_CLASSES) and bool(reader.words)
                if not is_kept or not self._interruptions.is_second(request, error, reader.words):
                    raise await self._explain(error, reader.has_begun) from error
        except ModelMisplaced as error:
            raise await self._explain_nothing(str(error)) from error
        finally:
            if events is not None:
                await _close(events)
        if not (reader.is_whole or is_kept):
            kind = ModelInterrupted if reader.has_begun else ModelBusy
            raise kind("Anthropic's stream ended before the answer did.")
        answer = reader.finish(is_broken=is_kept)
        yield replace(answer, shape=self._shape(attempts).shape)

    def _attempt(self, request: ModelRequest) -> Attempts[MessagesDialect]:
        return Attempts(
            request,
            base=MessagesDialect(),
            profile=self.profile(request.model),
            images=self._image_support,
        )

    def _shape(self, attempts: Attempts[MessagesDialect]) -> ModelRequest:
        """Return the request with its shape; a wished schema is closed, as the API wants it."""
        schema = attempts.request.response_schema
        closed = _seal(schema) if schema and attempts.dialect.takes_schemas else None
        is_known = closed is not None and closed not in self._bad
        return attempts.shape({**self._options, CLOSED_SCHEMA: closed if is_known else ""})

    async def _open(self, attempts: Attempts[MessagesDialect]) -> tuple[EventStream, object | None]:
        """Start the call in a form that the server takes; return its stream with the first event.

        Some servers refuse a request within the stream, whose status is 200.
        """
        while True:
            shown = self._shape(attempts)
            try:
                begun = await self._begin(self._prefixes.render(shown))
            except anthropic.APIStatusError as error:
                said = error.api_message or error.message
                status = _REFUSED if error.status_code == _STREAMING else error.status_code
                if window := find_window(said):
                    await self._profiles.learn(self._server, shown.model, {WINDOW: window})
                change = partial(_adapt, status, said, shown)
                # Thoughts that are signed come from another server, perhaps in this chat only.
                is_once = _is_about_thoughts(status, said) and leave_out_unsigned(shown) is shown
                if not (
                    self._note_bad(shown, status, said)
                    or attempts.refuse(status, said, change, is_once=is_once)
                ):
                    raise
            else:
                await self._profiles.learn(self._server, shown.model, attempts.accept())
                return begun

    async def _begin(self, body: bytes) -> tuple[EventStream, object | None]:
        """Send a request; return its stream with the first event. Raises the SDK's errors."""
        events = EventStream(await self._post(body))
        try:
            return events, await events.next()
        except BaseException:
            await _close(events)
            raise

    def _note_bad(self, shown: ModelRequest, status: int, said: str) -> bool:
        """Note a schema that the API refuses; False if the refusal is about anything else."""
        schema = read_shape(shown.shape).get(CLOSED_SCHEMA)
        if not (schema and is_about_schema(shown, status, said) and is_bad_schema(said)):
            return False
        self._bad[schema] = None
        if len(self._bad) > _MOST_BAD:
            self._bad.popitem(last=False)
        return True

    async def _post(self, body: bytes) -> httpx2.Response:
        """Send a request with the SDK's connections and headers. Raises the SDK's error."""
        headers = self._headers.copy()
        headers["Content-Length"] = str(len(body))
        request = httpx2.Request(
            "POST",
            self._messages,
            headers=headers,
            content=chunk_large(body),
            extensions=self._waits,
        )
        # If no encoding is set, each access to the headers decodes all of them to detect it.
        request.headers.encoding = "utf-8"
        response = await self._transport.handle_async_request(request)
        response.headers.encoding = "iso-8859-1"
        if response.has_redirect_location:
            await response.aclose()
            response = await self._http_client.send(request, stream=True)
        watch(response, self._silence)
        if response.is_success:
            return response
        try:
            said = await response.aread()
        finally:
            await response.aclose()
        raise make_error(response, said)

    async def check(self, model: str) -> None:
        """Request the model's description, which is free; see the contract.

        Passes if the server has no descriptions, but takes calls.
        """
        async with _within(_CHECK_SECONDS, "gave no answer", late=ModelUnreachable):
            try:
                found = await self._client.models.retrieve(model)
            except anthropic.APIStatusError as error:
                if not is_nothing_there(error.status_code, error.api_message or error.message):
                    raise
                found = None
            is_described = getattr(found, "id", None) is not None
            if not (is_described or await has_api(f"{self._server}{_ROUTE}", self._probe)):
                raise await self._explain_nothing()

    async def _explain(self, error: Exception, has_begun: bool) -> ModelError:
        """Return the core's error; if nothing lies at the address, say where an API does."""
        if isinstance(error, anthropic.APIStatusError) and not has_begun:
            said = error.api_message or error.message
            if is_nothing_there(error.status_code, said):
                return await self._explain_nothing(said)
        return translate_error(error, has_begun, time.time())

    async def _explain_nothing(self, said: str = "") -> ModelError:
        base = self._server.removesuffix("/messages")
        plain = base.removesuffix("/v1")
        others = [one for one in (plain, f"{plain}/anthropic") if one != self._server]
        return await explain_nothing(self._server, others, _ROUTE, self._probe, said)

    async def count(self, request: ModelRequest) -> int:
        """Return the input tokens of a request, as the API counts them; see the contract."""
        shown, _ = read_shaped(self._shape(self._attempt(request)))
        body = render_count(shown)
        async with _within(_COUNT_SECONDS, "gave no count"):
            answer = await self._client.post(
                "/v1/messages/count_tokens",
                cast_to=object,
                content=chunk_large(body),
                options={"headers": {"Content-Length": str(len(body))}},
            )
        tokens = answer.get("input_tokens") if isinstance(answer, dict) else None
        if not isinstance(tokens, int):
            raise ModelBusy("Anthropic's answer holds no count of tokens.")
        return tokens

    async def submit(self, request: ModelRequest, mark: str) -> str:
        """Submit a request as a batch of one; see the contract."""
        body = render_shaped(self._shape(self._attempt(request)))
        async with _within(_BATCH_SECONDS, "took no batch"):
            return await batches.submit(self._client, body, mark)

    async def find_batch(self, model: str, mark: str, since: int) -> str | None:
        """Find the batch of a request; see the contract."""
        del model  # one key's batches contain the requests of all models
        async with _within(_BATCH_SECONDS, "listed no batches"):
            return await batches.find(self._client, mark, since)

    async def collect(self, model: str, batch_id: str, mark: str) -> ModelAnswer | None:
        """Return the answer of a batch; see the contract."""
        async with _within(_BATCH_SECONDS, "gave no result of a batch"):
            return await batches.collect(self._client, model, batch_id, mark)

    async def cancel(self, model: str, batch_id: str) -> None:
        """Cancel a batch; see the contract."""
        del model
        async with _within(_BATCH_SECONDS, "cancelled no batch"):
            await self._client.messages.batches.cancel(batch_id)

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()


def _is_about_thoughts(status: int, said: str) -> bool:
    return status == 400 and ("signature" in said.lower() or "`thinking`" in said)


def _adapt(
    status: int, said: str, shown: ModelRequest, dialect: MessagesDialect
) -> MessagesDialect:
    """Return the dialect that avoids a refusal; unchanged for one that no dialect avoids."""
    if _is_about_thoughts(status, said):
        if dialect.returns_unsigned and leave_out_unsigned(shown) is not shown:
            return replace(dialect, returns_unsigned=False)
        if dialect.returns_thoughts and leave_out_thoughts(shown) is not shown:
            return replace(dialect, returns_thoughts=False)
    if status in (400, 422) and "cache_control" in said:
        return replace(dialect, takes_breakpoints=False)
    if dialect.takes_choices and is_about_choice(shown, status, said):
        return replace(dialect, takes_choices=False)
    if dialect.takes_schemas and is_about_schema(shown, status, said):
        return replace(dialect, takes_schemas=False)
    return avoid(dialect, status, said, shown)


@asynccontextmanager
async def _within(
    seconds: float, what: str, late: type[ModelError] = ModelBusy
) -> AsyncIterator[None]:
    """Limit the time of a call, and turn its errors into the core's errors."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise late(f"Anthropic {what} within {seconds:g} s.") from error
    except WIRE_ERRORS as error:
        raise translate_error(error, False, time.time()) from error


async def _drain(events: EventStream) -> None:
    """Read the rest of the body, so that the connection can be reused.

    Usually, the end has already arrived. If a server doesn't end its body, only the connection is
    lost.
    """
    with suppress(TimeoutError, *WIRE_ERRORS):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while await events.next() is not None:
                pass


async def _close(events: EventStream) -> None:
    """Close the call, even if its connection is broken."""
    with suppress(*WIRE_ERRORS):
        await events.close()


def translate_error(error: Exception, has_begun: bool, now: float) -> ModelError:
    """Map any of `WIRE_ERRORS` to the core's errors. `now` is in seconds since the epoch."""
    if isinstance(error, anthropic.APIStatusError):
        return _translate_status(error, has_begun, now)
    if isinstance(error, _DENIED_CLASSES):
        return ModelDenied(f"Anthropic's SDK has no credentials to send: {error}")
    if isinstance(error, _BUSY_CLASSES):
        what = f"{type(error).__name__}: {error}"
        if has_begun:
            return ModelInterrupted(f"Anthropic's stream broke off ({what}).")
        return ModelUnreachable(f"Anthropic can't be reached ({what}).")
    return ModelRejected(f"Anthropic's SDK refuses the request: {type(error).__name__}: {error}")


def _translate_status(error: anthropic.APIStatusError, has_begun: bool, now: float) -> ModelError:
    said = error.api_message or error.message
    text = f"Anthropic answered {error.status_code} {error.type or ''}: {said}"
    if error.request_id:
        text += f" (request {error.request_id})"
    lowered = said.lower()
    if error.error_code in _DENIED_CODES or _CREDIT in lowered:
        return ModelDenied(text)
    by_words = judge_words(error.status_code, said)
    if by_words is not None:
        return by_words(text)
    if error.status_code == 200:
        kind = _BY_TYPE.get(error.type or "", ModelInterrupted if has_begun else ModelBusy)
    else:
        fallback = ModelBusy if error.status_code >= 500 else ModelRejected
        kind = _BY_STATUS.get(error.status_code, fallback)
    if kind is ModelBusy:
        wait = parse_retry_after(error.response.headers.get("retry-after"), now)
        return ModelBusy(text, retry_after=wait)
    return kind(text)
