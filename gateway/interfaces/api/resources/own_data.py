"""A person's data: a copy of all of it, and words to delete for good."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager
from gateway.interfaces.api.resources.changes import open_own, perform
from gateway.interfaces.api.resources.replies import find_person, show
from gateway.operations import privacy as operations
from gateway.operations.privacy_types import ExportPerson, FindWords, ForgetWords
from gateway.people.data_export import discard
from gateway.turns.client_calls import Client


class WordsToForget(BaseModel):
    """Words as `/forget` reads them. Without `delete`, the answer says what would go.

    With `has_messages`, messages, reminders, tool results and files go, too.
    """

    model_config = ConfigDict(extra="forbid")

    words: Annotated[str, Field(min_length=1, max_length=1000)]
    has_messages: bool = False
    delete: bool = False


class GroupNotesModel(BaseModel):
    """Notes of a group that rest on your own words; `name` is "" without one.

    `past` is the number of those that are deleted, but that an undo could bring back.
    """

    name: str
    lines: list[str]
    past: int


class ForgottenModel(BaseModel):
    """Counts what holds the words, and shows a few lines; `groups` have further notes.

    `has_past`: an undo could bring the words back. `is_begun`: the deletion has begun.
    """

    entries: int
    messages: int
    jobs: int
    blocks: int
    lines: list[str]
    groups: list[GroupNotesModel]
    has_past: bool
    is_begun: bool


def add_own_data(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of a person's data."""

    async def find_slug(client: Client) -> str:
        return (await gateway.database.read(find_person, client.person_id)).slug

    @router.get(
        "/export",
        summary="Get a copy of all your data",
        response_class=FileResponse,
        responses={200: {"content": {"application/zip": {}}}},
    )
    async def export(client: Manager) -> FileResponse:
        asked = ExportPerson(slug=await find_slug(client))
        path = Path((await perform(operations.export(open_own(gateway, client), asked))).target)
        return FileResponse(
            path,
            media_type="application/zip",
            filename=path.name,
            background=BackgroundTask(discard, path),
        )

    @router.post("/forget", summary="Find words in your data, and delete them for good")
    async def forget(asked: WordsToForget, client: Manager) -> ForgottenModel:
        context, slug = open_own(gateway, client), await find_slug(client)
        wish = FindWords(slug=slug, words=asked.words)
        found = await perform(operations.find_words(context, wish))
        if asked.delete:
            order = ForgetWords(slug=slug, words=asked.words, has_messages=asked.has_messages)
            await perform(operations.forget(context, order))
        return show(ForgottenModel, found, is_begun=asked.delete)
