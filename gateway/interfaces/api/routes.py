"""The routes of OpenAI's two APIs: chat completions and responses."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import FastAPI, Header
from starlette.responses import JSONResponse, Response, StreamingResponse

from gateway.app.lifecycle import Gateway
from gateway.interfaces.api import chat_completions, model_responses
from gateway.interfaces.api.clients import ERRORS, STREAM, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.models import (
    LONGEST_TEXT,
    MODEL,
    ChatMessage,
    ChatRequest,
    ResponseRequest,
    read_newest,
)
from gateway.interfaces.api.requests import Question, Requests, make_name
from gateway.interfaces.api.streams import end_with_error
from gateway.turns.client_calls import Client

_NO_MODEL = f'The only model is "{MODEL}".'
_NO_TOOLS = "Tools run in Talaria. Send no tools with the request."
_NO_TEXT = "The newest message has to be the user's, with text or a picture in it."
_TOO_LONG = f"The message is longer than {LONGEST_TEXT} characters."
_BAD_NAME = "A conversation's name has at most 64 letters, digits, dots, dashes and underscores."
_NAME = re.compile(r"[A-Za-z0-9._-]{0,64}")
_MOST_KEY = 200
_EVENTS = "text/event-stream"


def add_api(application: FastAPI, gateway: Gateway, requests: Requests) -> None:
    """Add the routes below `/v1/`."""
    Key = Annotated[str, Header(alias="Idempotency-Key", max_length=_MOST_KEY)]  # noqa: N806
    Name = Annotated[str, Header(alias="Talaria-Conversation")]  # noqa: N806

    @application.get("/v1/models", summary="List the models", responses=ERRORS)
    async def list_models(_: ReaderClient) -> Response:
        return JSONResponse({"object": "list", "data": [_describe_model()]})

    @application.get("/v1/models/{model}", summary="Describe a model", responses=ERRORS)
    async def describe_model(model: str, _: ReaderClient) -> Response:
        _check_model(model)
        return JSONResponse(_describe_model())

    @application.post(
        "/v1/chat/completions",
        summary="Ask, and get a chat completion",
        responses=ERRORS | STREAM,
    )
    async def complete(
        asked: ChatRequest, client: ReaderClient, key: Key = "", conversation: Name = ""
    ) -> Response:
        _check(asked.model, has_tools=bool(asked.tools))
        question = _make_question(client, asked.messages, key, conversation)
        await requests.submit(question)
        if not asked.stream:
            answer = await requests.wait(question)
            return JSONResponse(chat_completions.compose(question, answer, gateway.now()))
        wants_usage = bool(asked.stream_options and asked.stream_options.include_usage)
        lines = chat_completions.stream(requests, question, gateway.now(), wants_usage=wants_usage)
        return StreamingResponse(end_with_error(lines), media_type=_EVENTS)

    @application.post("/v1/responses", summary="Ask for a response", responses=ERRORS | STREAM)
    async def respond(
        asked: ResponseRequest, client: ReaderClient, key: Key = "", conversation: Name = ""
    ) -> Response:
        _check(asked.model, has_tools=bool(asked.tools))
        given = asked.input
        messages = [ChatMessage(content=given)] if isinstance(given, str) else given
        question = _make_question(client, messages, key, conversation)
        await requests.submit(question)
        if not asked.stream:
            answer = await requests.wait(question)
            return JSONResponse(model_responses.compose(question, answer, gateway.now()))
        lines = model_responses.stream(requests, question, gateway.now())
        return StreamingResponse(end_with_error(lines), media_type=_EVENTS)


def _make_question(
    client: Client, messages: Sequence[ChatMessage], key: str, conversation: str
) -> Question:
    try:
        said = read_newest(messages)
    except ValueError as error:
        code = "unsupported_content"
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error), code=code, param="messages") from error
    if not (said.text.strip() or said.pictures):
        raise ApiError(HTTPStatus.BAD_REQUEST, _NO_TEXT, code="no_text", param="messages")
    if len(said.text) > LONGEST_TEXT:
        raise ApiError(HTTPStatus.BAD_REQUEST, _TOO_LONG, code="too_long", param="messages")
    if not _NAME.fullmatch(conversation):
        raise ApiError(HTTPStatus.BAD_REQUEST, _BAD_NAME, code="invalid_conversation")
    return Question(
        client=client,
        text=said.text,
        pictures=said.pictures,
        name=make_name(key),
        conversation=conversation,
    )


def _check(model: str, *, has_tools: bool) -> None:
    _check_model(model)
    if has_tools:
        raise ApiError(HTTPStatus.BAD_REQUEST, _NO_TOOLS, code="no_tools", param="tools")


def _check_model(model: str) -> None:
    if model != MODEL:
        raise ApiError(HTTPStatus.NOT_FOUND, _NO_MODEL, code="model_not_found", param="model")


def _describe_model() -> dict[str, object]:
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": "talaria"}
