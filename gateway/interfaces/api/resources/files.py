"""The files of the person's own workspace: list a folder, read a file, add one."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.changes import perform
from gateway.interfaces.api.resources.replies import find_person, show
from gateway.operations import workspaces as operations

_FilePath = Annotated[str, Query(max_length=1000)]
_Upload = Annotated[bytes, Body(media_type="application/octet-stream")]


def add_files(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that read a workspace."""

    @router.get("/files", summary="List a folder of your workspace")
    async def list_files(client: ReaderClient, folder: _FilePath = "") -> models.WorkspaceFolder:
        person = await gateway.database.read(find_person, client.person_id)
        found = await perform(operations.list_files(gateway.backend, person, _clean(folder)))
        return models.WorkspaceFolder(files=[show(models.WorkspaceFile, one) for one in found])

    @router.get(
        "/files/content",
        summary="Read a file of your workspace",
        response_class=Response,
        responses={"200": {"content": {"*/*": {}}}},
    )
    async def read_file(client: ReaderClient, path: _FilePath) -> Response:
        person = await gateway.database.read(find_person, client.person_id)
        data = await perform(operations.read_file(gateway.backend, person, _clean(path)))
        return Response(data, media_type="application/octet-stream")


def add_file_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the route that adds a file."""

    @router.post("/files", summary="Add a file to your workspace", status_code=HTTPStatus.CREATED)
    async def add_file(client: Manager, path: _FilePath, data: _Upload) -> models.AddedFile:
        person = await gateway.database.read(find_person, client.person_id)
        kept = await perform(operations.add_file(gateway.backend, person, _clean(path), data))
        return models.AddedFile(path=kept)


def _clean(path: str) -> str:
    return path.replace("\0", "").strip("/")
