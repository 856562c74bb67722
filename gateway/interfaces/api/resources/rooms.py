"""Groups and channels: owners list them, and choose how each is answered."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources.changes import open_own, perform
from gateway.interfaces.api.resources.replies import Id, find_person, make_missing, show
from gateway.interfaces.contexts import open_context
from gateway.operations import rooms as operations
from gateway.operations.room_types import ChangeRoom, ListRooms
from gateway.turns.client_calls import Client

_ONLY_OWNER = "Only an owner of this Talaria can see and change this."


class RoomChange(BaseModel):
    """A change to a room; omitted fields stay unchanged, and an empty name takes it back.

    The mode `full` needs the consent of its person, in the room.
    """

    model_config = ConfigDict(extra="forbid")

    mode: Literal["person", "room", "off"] | None = None
    name: Annotated[str, Field(max_length=200)] | None = None


class RoomModel(BaseModel):
    """A group or channel: `title` is the one there, `name` the one that an owner gave."""

    number: int
    platform: str
    title: str
    name: str
    mode: Literal["person", "full", "room", "off"]


class RoomModels(BaseModel):
    """The rooms, by platform and title."""

    rooms: list[RoomModel]


def add_rooms(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of rooms."""

    async def find_owner(client: Client) -> str:
        """Return the folder name of an owner. Raises `ApiError` for anybody else."""
        person = await gateway.database.read(find_person, client.person_id)
        if not person.is_owner:
            raise ApiError(HTTPStatus.FORBIDDEN, _ONLY_OWNER, code="owner_only")
        return person.slug

    async def list_all() -> list[RoomModel]:
        found = await operations.list_rooms(open_context(gateway), ListRooms())
        return [show(RoomModel, one) for one in found.rooms]

    @router.get("/rooms", summary="List groups and channels (owners)")
    async def list_rooms(client: ReaderClient) -> RoomModels:
        await find_owner(client)
        return RoomModels(rooms=await list_all())

    @router.patch("/rooms/{room}", summary="Change how a group is answered (owners)")
    async def change_room(room: Id, asked: RoomChange, client: Manager) -> RoomModel:
        by = await find_owner(client)
        if room not in {one.number for one in await list_all()}:
            raise make_missing()
        wish = ChangeRoom(number=room, mode=asked.mode, name=asked.name, by=by)
        return show(RoomModel, await perform(operations.change(open_own(gateway, client), wish)))
