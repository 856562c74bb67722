"""Named agents and teams: everybody may list them, owners make and change them."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Query
from fastapi import Path as UrlPath
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from agent_core.agent.named.editor import Author
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources.changes import open_own, perform
from gateway.interfaces.api.resources.replies import find_person, make_missing, show
from gateway.operations import agents as operations
from gateway.operations.agent_types import (
    ImportAgent,
    ListAgents,
    MoveAgent,
    PutAway,
    WriteAgent,
    WriteTeam,
)
from gateway.operations.wire import load
from gateway.turns.client_calls import Client

_ONLY_OWNER = "Only an owner can make or change agents and teams."
_Name = Annotated[str, UrlPath(max_length=64)]
_Text = Annotated[str, Field(max_length=20_000)]
_Names = Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=50)]
_Verb = Literal["archive", "restore"]
_File = Annotated[bytes, Body(media_type="application/octet-stream")]
_Wanted = Annotated[str, Query(max_length=200)]


class RuleModel(BaseModel):
    """A rule about one tool of an agent. docs/tools.md explains each key."""

    model_config = ConfigDict(extra="forbid")

    tool: str
    callers: list[str] = []
    most_per_turn: int = 0
    must_run_first: bool = False
    ends_turn: bool = False
    then_only: list[str] = []
    only_after: list[str] = []
    must_run_before_end: bool = False


class AgentChange(BaseModel):
    """A change to an agent; omitted fields stay unchanged.

    `any_tools` and `any_blocks` let it use every tool or memory block of its person again.
    """

    model_config = ConfigDict(extra="forbid")

    soul: _Text | None = None
    description: _Text | None = None
    model: _Text | None = None
    tools: _Names | None = None
    disabled: _Names | None = None
    skills: _Names | None = None
    blocks: _Names | None = None
    tags: _Names | None = None
    rules: Annotated[list[RuleModel], Field(max_length=50)] | None = None
    any_tools: bool = False
    any_blocks: bool = False


class NewAgent(AgentChange):
    """A new agent; `soul` says who it is and how it works."""

    name: Annotated[str, Field(min_length=1, max_length=64)]


class AgentDetail(BaseModel):
    """An agent. `tools` and `blocks` are null for all; with a `fault`, it can't be used."""

    name: str
    fault: str
    description: str
    model: str
    tools: list[str] | None
    disabled: list[str]
    skills: list[str]
    blocks: list[str] | None
    tags: list[str]
    rules: list[RuleModel]
    teams: list[str]


class AgentDetails(BaseModel):
    """The named agents. Only owners see those with a fault, and the archived ones."""

    agents: list[AgentDetail]
    archived: list[str]


class TeamChange(BaseModel):
    """A change to a team; omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    manager: Literal["supervisor", "round_robin", "free"] | None = None
    members: _Names | None = None
    supervisor: _Text | None = None
    description: _Text | None = None
    blocks: _Names | None = None
    rounds: int | None = None
    steps: int | None = None
    dollars: float | None = None


class NewTeam(TeamChange):
    """A new team of agents."""

    name: Annotated[str, Field(min_length=1, max_length=64)]


class TeamModel(BaseModel):
    """A team; with a `fault`, it can't be used. `dollars` is 0 without a limit of its own."""

    name: str
    fault: str
    manager: str
    members: list[str]
    supervisor: str
    description: str
    blocks: list[str]
    rounds: int
    steps: int
    dollars: float


class TeamList(BaseModel):
    """The teams of agents. Only owners see those with a fault, and the archived ones."""

    teams: list[TeamModel]
    archived: list[str]


class Move(BaseModel):
    """The team that an agent leaves, and the one that it joins."""

    model_config = ConfigDict(extra="forbid")

    source: str
    target: str


class ImportedAgentModel(BaseModel):
    """An agent that came from a file; `left_out` says what Talaria could not take over."""

    name: str
    blocks: list[str]
    messages: int
    left_out: list[str]


class _Desk:
    """Reads agents and teams for a client, and says which owner changes them."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def list_all(self, client: Client) -> tuple[AgentDetails, TeamList]:
        """List what the client may see."""
        person = await self._gateway.database.read(find_person, client.person_id)
        found = await perform(operations.list_agents(open_own(self._gateway, client), ListAgents()))
        return AgentDetails(
            agents=[
                show(AgentDetail, one, rules=[show(RuleModel, rule) for rule in one.rules])
                for one in found.agents
                if person.is_owner or not one.fault
            ],
            archived=list(found.archived) if person.is_owner else [],
        ), TeamList(
            teams=[show(TeamModel, one) for one in found.teams if person.is_owner or not one.fault],
            archived=list(found.archived_teams) if person.is_owner else [],
        )

    async def find_owner(self, client: Client) -> str:
        """Return the folder name of an owner. Raises `ApiError` for anybody else."""
        person = await self._gateway.database.read(find_person, client.person_id)
        if not person.is_owner:
            raise ApiError(HTTPStatus.FORBIDDEN, _ONLY_OWNER, code="owner_only")
        return person.slug

    async def show_agent(self, name: str, client: Client) -> AgentDetail:
        """Show an agent. Raises `ApiError` if there is none."""
        agents, _ = await self.list_all(client)
        found = next((one for one in agents.agents if one.name == name), None)
        if found is None:
            raise make_missing()
        return found

    async def show_team(self, name: str, client: Client) -> TeamModel:
        """Show a team. Raises `ApiError` if there is none."""
        _, teams = await self.list_all(client)
        found = next((one for one in teams.teams if one.name == name), None)
        if found is None:
            raise make_missing()
        return found


def add_agents(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that read agents and teams."""
    desk = _Desk(gateway)

    @router.get("/agents", summary="List named agents")
    async def list_agents(client: ReaderClient) -> AgentDetails:
        return (await desk.list_all(client))[0]

    @router.get("/agents/{name}", summary="Show a named agent")
    async def show_agent(name: _Name, client: ReaderClient) -> AgentDetail:
        return await desk.show_agent(name, client)

    @router.get(
        "/agents/{name}/file",
        summary="Export an agent with its blocks and your messages (owners)",
        response_class=Response,
        responses={"200": {"content": {"application/json": {}}}},
    )
    async def export(name: _Name, client: ReaderClient) -> Response:
        await desk.find_owner(client)
        work = operations.export_file_as(gateway.agent_editor, client.person_id, name)
        return Response(await perform(work), media_type="application/json")

    @router.get("/teams", summary="List teams of agents")
    async def list_teams(client: ReaderClient) -> TeamList:
        return (await desk.list_all(client))[1]

    @router.get("/teams/{name}", summary="Show a team of agents")
    async def show_team(name: _Name, client: ReaderClient) -> TeamModel:
        return await desk.show_team(name, client)


def add_agent_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes with which owners change agents."""
    desk = _Desk(gateway)

    async def write(action: str, name: str, asked: AgentChange, client: Client) -> AgentDetail:
        given = asked.model_dump(exclude_none=True) | {"action": action, "name": name}
        wish = load(WriteAgent, given | {"by": await desk.find_owner(client)})
        await perform(operations.write_agent(open_own(gateway, client), wish))
        return await desk.show_agent(name, client)

    @router.post("/agents", summary="Make an agent (owners)", status_code=201)
    async def create(asked: NewAgent, client: Manager) -> AgentDetail:
        return await write("create", asked.name.strip(), asked, client)

    @router.post(
        "/agents/import", summary="Bring in an agent from an agent file (owners)", status_code=201
    )
    async def bring(
        data: _File, client: Manager, name: _Wanted = "", agent: _Wanted = ""
    ) -> ImportedAgentModel:
        await desk.find_owner(client)
        author = Author(person_id=client.person_id, actor="person")
        wish = ImportAgent(path="", name=name, chosen=agent)
        work = operations.import_file_as(gateway.agent_editor, author, client.person_id, data, wish)
        return show(ImportedAgentModel, await perform(work))

    @router.patch("/agents/{name}", summary="Change an agent (owners)")
    async def change(name: _Name, asked: AgentChange, client: Manager) -> AgentDetail:
        return await write("change", name, asked, client)

    @router.post("/agents/{name}/move", summary="Move an agent to another team (owners)")
    async def move(name: _Name, asked: Move, client: Manager) -> AgentDetail:
        by = await desk.find_owner(client)
        wish = MoveAgent(name=name, source=asked.source, target=asked.target, by=by)
        await perform(operations.move(open_own(gateway, client), wish))
        return await desk.show_agent(name, client)

    @router.post(
        "/agents/{name}/{verb}", summary="Archive or restore an agent (owners)", status_code=204
    )
    async def put_away(name: _Name, verb: _Verb, client: Manager) -> None:
        by = await desk.find_owner(client)
        wish = PutAway(kind="agent", action=verb, name=name, by=by)
        await perform(operations.put_away(open_own(gateway, client), wish))


def add_team_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes with which owners change teams."""
    desk = _Desk(gateway)

    async def write(action: str, name: str, asked: TeamChange, client: Client) -> TeamModel:
        given = asked.model_dump(exclude_none=True) | {"action": action, "name": name}
        wish = load(WriteTeam, given | {"by": await desk.find_owner(client)})
        await perform(operations.write_team(open_own(gateway, client), wish))
        return await desk.show_team(name, client)

    @router.post("/teams", summary="Make a team of agents (owners)", status_code=201)
    async def create(asked: NewTeam, client: Manager) -> TeamModel:
        return await write("create", asked.name.strip(), asked, client)

    @router.patch("/teams/{name}", summary="Change a team (owners)")
    async def change(name: _Name, asked: TeamChange, client: Manager) -> TeamModel:
        return await write("change", name, asked, client)

    @router.post(
        "/teams/{name}/{verb}", summary="Archive or restore a team (owners)", status_code=204
    )
    async def put_away(name: _Name, verb: _Verb, client: Manager) -> None:
        by = await desk.find_owner(client)
        wish = PutAway(kind="team", action=verb, name=name, by=by)
        await perform(operations.put_away(open_own(gateway, client), wish))
