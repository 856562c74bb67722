"""The routes of OpenAI's two APIs: chat completions and responses."""

import re
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated

from fastapi import FastAPI, Header
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from agent_core.agent.wishes import ProgramWishes
from gateway.app.gateway import Gateway
from gateway.interfaces.api import chat_completions, model_responses
from gateway.interfaces.api.chats import AskedChat, Chats
from gateway.interfaces.api.clients import ERRORS, STREAM, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.models import (
    LONGEST_TEXT,
    MODEL,
    ChatMessage,
    ChatRequest,
    Metadata,
    ResponseRequest,
    read_newest,
)
from gateway.interfaces.api.requests import Question, Requests, make_name
from gateway.interfaces.api.streams import end_with_error
from gateway.turns.client_calls import Client

_NO_MODEL = f'The only model is "{MODEL}".'
_NO_TEXT = (
    "The newest message has to be the user's, with text or a picture in it, or the result of a"
    " call."
)
_TOO_LONG = f"The message is longer than {LONGEST_TEXT} characters."
_BAD_NAME = "A conversation's name has at most 64 letters, digits, dots, dashes and underscores."
_NAME = re.compile(r"[A-Za-z0-9._-]{0,64}")
_MOST_KEY = 200
_EVENTS = "text/event-stream"
_OPEN_WEBUI_CHAT = "X-OpenWebUI-Chat-Id"
"""The header with the chat's id that Open WebUI sends if it forwards its user's information."""
_RETRY = "X-Stainless-Retry-Count"
"""The header in which OpenAI's libraries count the tries of one request."""


Key = Annotated[str, Header(alias="Idempotency-Key", max_length=_MOST_KEY)]
Name = Annotated[str, Header(alias="Talaria-Conversation")]


def add_api(application: FastAPI, gateway: Gateway, requests: Requests) -> None:
    """Add the routes below `/v1/`."""
    _add_models(application)
    chats = Chats(gateway, requests)

    @application.post(
        "/v1/chat/completions",
        summary="Ask, and get a chat completion",
        responses=ERRORS | STREAM,
    )
    async def complete(
        asked: ChatRequest,
        request: Request,
        client: ReaderClient,
        key: Key = "",
        conversation: Name = "",
    ) -> Response:
        _check_model(asked.model)
        wishes = asked.list_wishes()
        question = _make_question(client, asked.messages, key, conversation, wishes)
        of_chat = _read_chat(request, asked.metadata, asked.messages, conversation)
        question = await chats.submit(question, of_chat)
        if not asked.stream:
            answer = await requests.wait(question, request.is_disconnected)
            return JSONResponse(chat_completions.compose(question, answer, gateway.now()))
        wants_usage = bool(asked.stream_options and asked.stream_options.include_usage)
        lines = chat_completions.stream(requests, question, gateway.now(), wants_usage=wants_usage)
        return StreamingResponse(end_with_error(lines), media_type=_EVENTS)

    @application.post("/v1/responses", summary="Ask for a response", responses=ERRORS | STREAM)
    async def respond(
        asked: ResponseRequest,
        request: Request,
        client: ReaderClient,
        key: Key = "",
        conversation: Name = "",
    ) -> Response:
        _check_model(asked.model)
        messages, name = _list_messages(asked), asked.conversation_name or conversation
        question = _make_question(client, messages, key, name, asked.list_wishes())
        of_chat = replace(
            _read_chat(request, asked.metadata, messages, name),
            response=asked.previous_response_id or "",
        )
        question = await chats.submit(question, of_chat)
        if not asked.stream:
            answer = await requests.wait(question, request.is_disconnected)
            return JSONResponse(model_responses.compose(question, answer, gateway.now()))
        lines = model_responses.stream(requests, question, gateway.now())
        return StreamingResponse(end_with_error(lines), media_type=_EVENTS)


def _add_models(application: FastAPI) -> None:
    @application.get("/v1/models", summary="List the models", responses=ERRORS)
    async def list_models(_: ReaderClient) -> Response:
        return JSONResponse({"object": "list", "data": [_describe_model()]})

    @application.get("/v1/models/{model}", summary="Describe a model", responses=ERRORS)
    async def describe_model(model: str, _: ReaderClient) -> Response:
        _check_model(model)
        return JSONResponse(_describe_model())


def _list_messages(asked: ResponseRequest) -> list[ChatMessage]:
    try:
        return asked.list_messages()
    except ValueError as error:
        raise _refuse_content(error, "input") from error


def _refuse_content(error: ValueError, param: str) -> ApiError:
    code = "unsupported_content"
    return ApiError(HTTPStatus.BAD_REQUEST, str(error), code=code, param=param)


def _make_question(
    client: Client,
    messages: Sequence[ChatMessage],
    key: str,
    conversation: str,
    wishes: ProgramWishes,
) -> Question:
    try:
        said = read_newest(messages)
    except ValueError as error:
        raise _refuse_content(error, "messages") from error
    if not (said.text.strip() or said.pictures or said.results):
        raise ApiError(HTTPStatus.BAD_REQUEST, _NO_TEXT, code="no_text", param="messages")
    if len(said.text) > LONGEST_TEXT:
        raise ApiError(HTTPStatus.BAD_REQUEST, _TOO_LONG, code="too_long", param="messages")
    if not _NAME.fullmatch(conversation):
        raise ApiError(HTTPStatus.BAD_REQUEST, _BAD_NAME, code="invalid_conversation")
    return Question(
        client=client,
        text=said.text,
        pictures=said.pictures,
        name=make_name(key) if key else "",
        wishes=replace(wishes, results=said.results),
    )


def _read_chat(
    request: Request, metadata: Metadata | None, messages: Sequence[ChatMessage], name: str
) -> AskedChat:
    """Read what a request says about its chat, in its headers and its metadata."""
    given = metadata or Metadata()
    header = request.headers.get(_OPEN_WEBUI_CHAT, "")
    retries = request.headers.get(_RETRY, "")
    return AskedChat(
        messages=messages,
        conversation=name,
        chat=header or given.chat_id or given.conversation_id or "",
        is_retry=retries.isdecimal() and int(retries[:6]) > 0,
    )


def _check_model(model: str) -> None:
    if model != MODEL:
        raise ApiError(HTTPStatus.NOT_FOUND, _NO_MODEL, code="model_not_found", param="model")


def _describe_model() -> dict[str, object]:
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": "talaria"}
