"""The curator: how tidy memory and skills are, what it suggests, and a person's decision."""

from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi import Path as UrlPath
from pydantic import BaseModel

from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.resources.changes import open_own, perform
from gateway.interfaces.api.resources.replies import find_person, show
from gateway.operations import curator as operations
from gateway.operations.curator_types import (
    DecideProposal,
    ListProposals,
    RunCurator,
    ShowReport,
)
from gateway.turns.client_calls import Client

_Key = Annotated[str, UrlPath(max_length=24)]


class ListSizeModel(BaseModel):
    """Says how full one list of the memory is, in characters."""

    list: Literal["user", "memory"]
    notes: int
    characters: int
    limit: int


class ProposalModel(BaseModel):
    """A suggestion: `removed` are the notes that go, or the skills that are merged `into` one.

    `text` replaces them, empty for nothing; the note `kept` stays instead.
    """

    key: str
    kind: Literal["merge", "duplicate", "contradiction", "shorten"]
    reason: str
    removed: list[str]
    text: str
    kept: str
    into: str


class CuratorModel(BaseModel):
    """When the curator ran and runs next, how full your memory is, and what it suggests."""

    last: int | None
    following: int | None
    lists: list[ListSizeModel]
    proposals: list[ProposalModel]


class StartedModel(BaseModel):
    """Says what is looked at now; a member's run looks at their own memory only."""

    scope: Literal["everything", "own_memory"]


class DecidedModel(BaseModel):
    """Says what became of a suggestion; `rows` are its changes of memory, in order of undo."""

    state: Literal["open", "accepted", "declined", "outdated"]
    rows: list[int]


def add_curator(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of the curator."""

    async def find_slug(client: Client) -> str:
        return (await gateway.database.read(find_person, client.person_id)).slug

    @router.get("/curator", summary="Show how tidy your memory is, and suggestions")
    async def show_curator(client: ReaderClient) -> CuratorModel:
        context, slug = open_own(gateway, client), await find_slug(client)
        found = await operations.report(context, ShowReport(person=slug))
        waiting = await operations.list_proposals(context, ListProposals(person=slug))
        return CuratorModel(
            last=found.last,
            following=found.following,
            lists=[show(ListSizeModel, one) for one in found.lists],
            proposals=[show(ProposalModel, one) for one in waiting.proposals],
        )

    @router.post("/curator/run", summary="Tidy up now")
    async def run_curator(client: Manager) -> StartedModel:
        wish = RunCurator(person=await find_slug(client))
        return show(StartedModel, await perform(operations.run(open_own(gateway, client), wish)))

    @router.post("/curator/proposals/{key}/{choice}", summary="Accept or decline a suggestion")
    async def decide_proposal(
        key: _Key, choice: Literal["accept", "decline"], client: Manager
    ) -> DecidedModel:
        slug = await find_slug(client)
        wish = DecideProposal(person=slug, key=key, accepts=choice == "accept")
        return show(DecidedModel, await perform(operations.decide(open_own(gateway, client), wish)))
