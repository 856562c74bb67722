"""The toolboxes of the agent: in direct conversations, in rooms and in jobs."""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from agent_core.agent.named.editor import AgentEditor
from agent_core.agent.named.manage_tool import ManageAgentsTool
from agent_core.agent.named.tool import MessageAgentTool
from agent_core.agent.prompt.soul_file import SOUL_LIMIT
from agent_core.agent.quotas.reservations import Quotas
from agent_core.agent.toolboxes import Toolboxes
from agent_core.agent.toolset import private_tools, room_tools
from agent_core.digest.tools import make_gather_tool
from agent_core.errors import SkillBroken, SkillMissing
from agent_core.execution.contract import Backend
from agent_core.ids import PersonId
from agent_core.memory.approval import Approval
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.memory_tool import MemoryTool
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.memory.shared import SharedMemory
from agent_core.memory.soul_store import SoulFile
from agent_core.memory.soul_tool import ProposeSoulTool
from agent_core.models.settings import OPENAI
from agent_core.schedule.confirmations import JobMover
from agent_core.schedule.specs import JOB_TOOLS
from agent_core.schedule.tool import JobTool
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.tools.manage import SkillManageTool
from agent_core.skills.tools.scripts import SkillScripts, offers_scripts
from agent_core.skills.tools.toolset import make_skill_tools
from agent_core.state.engine.database import Connection, Database
from agent_core.tool_names import RENAMED, renew_names
from agent_core.tools.chat.group_titles import GroupTitlesTool
from agent_core.tools.chat.send_message import Messenger, SendMessageTool
from agent_core.tools.chat.todo import TodoTool
from agent_core.tools.contract import Tool
from agent_core.tools.delegation import DelegateTool
from agent_core.tools.mcp.accounts import SendLink
from agent_core.tools.mcp.contract import McpServer
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.mcp.pins import Judged
from agent_core.tools.pictures.chart_tool import ChartTool
from agent_core.tools.pictures.image_tool import ImageTool, PicturePrice
from agent_core.tools.pictures.server import PictureServer
from agent_core.tools.policy.policy import Policy
from agent_core.tools.policy.protected import Protected
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.selection.built_in import BUILT_IN, is_in_rooms
from agent_core.tools.settings_tool import SettingsTool
from agent_core.tools.toolbox import Toolbox, ToolSetup, ToolSource
from agent_core.tools.user_questions import AskTool
from agent_core.tools.web.catalog import make_web_tools
from agent_core.tools.workspace.background import BackgroundCommands
from agent_core.tools.workspace.catalog import make_workspace_tools
from agent_core.tools.workspace.named_secrets import NamedSecrets
from agent_core.tools.workspace.places import CommandPlaces
from agent_core.tools.workspace.versions import FileVersions
from agent_core.tools.workspace.workspaces import Workspaces
from gateway.app.factories import make_web_options
from gateway.app.job_rules import make_rules
from gateway.app.mcp_file import locate_mcp_programs, locate_mcp_tokens, read_mcp_servers
from gateway.app.named_backends import find_most_seconds
from gateway.app.scheduling import make_calendars, make_digest_options
from gateway.app.settings import Settings
from gateway.errors import SettingsError, StartError, suggest
from gateway.home import MCP_CONFIG
from gateway.jobs.destinations import name_places
from gateway.outbound.quiet_hours import make_rescheduler
from gateway.people.owner_notices import Notices
from gateway.texts.connections import describe_link
from gateway.texts.mcp import describe_waiting
from gateway.texts.skills import find_name
from gateway.turns.server_forms import ServerForms
from gateway.turns.user_prompts import UserPrompts

_FONTS = Path("cache") / "fonts"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolboxMaker:
    """Makes the toolboxes from the services that tools use.

    `forget_people` drops cached people after their settings have changed. `wake_jobs` wakes the
    scheduler after a job has changed.
    """

    settings: Settings
    database: Database
    memory: SharedMemory
    user_prompts: UserPrompts
    external_memory: ExternalMemory | None
    now: Callable[[], int]
    backend: Backend | None
    """The place where commands run; None without tools that act."""
    purposes: Mapping[str, Backend]
    """The backends of single jobs and skills; see `Toolboxes.purposes`."""
    background: BackgroundCommands | None
    messenger: Messenger
    zone: str
    secret_mask: SecretMask
    forget_people: Callable[[], None]
    wake_jobs: Callable[[], None]
    agents: AgentEditor
    skills: SkillDirectory
    quotas: Quotas
    versions: FileVersions | None = None
    places: CommandPlaces = field(default_factory=CommandPlaces)

    def make_all(self, mcp: McpServers, extra: Sequence[Tool]) -> Toolboxes:
        """Make the toolboxes, with the tools of MCP servers and of skills' scripts.

        Raises `StartError`, also if a plug-in's tool has the same name as another tool.
        """
        try:
            return self.make(extra, list_sources(self.settings, mcp))
        except ValueError as error:
            raise StartError(
                f"The tools of a plug-in can't be used: {error}. Take it out of plugins.enabled."
            ) from error

    def _list_scripts(self) -> Sequence[ToolSource]:
        """Return the tools that skills' scripts offer; empty if no skill offers one now."""
        if self.backend is None or not offers_scripts(self.skills.catalog):
            return ()
        seconds = find_most_seconds(self.settings.tools)
        return (
            SkillScripts(
                self.skills,
                self.database,
                self.backend,
                seconds,
                self.places,
                self.versions,
                self.purposes,
            ),
        )

    def _name_backend(self, skill: str) -> str:
        """Return the backend that a skill's file names; "" for none. Blocks."""
        try:
            return self.skills.catalog.load(skill).backend
        except (SkillMissing, SkillBroken):
            return ""

    def _make_readers(self) -> tuple[Tool, ...]:
        """Make the tools that read skills, whose scripts run in this backend or in their own."""
        return make_skill_tools(
            self.skills,
            self.database,
            self.backend,
            find_name=find_name,
            elsewhere=self.purposes,
        )

    def make(self, extra: Sequence[Tool], sources: Sequence[ToolSource] = ()) -> Toolboxes:
        """Make the toolboxes. Raises `StartError`.

        The `extra` tools are in all toolboxes except those of helpers and of agents that were
        asked. Only private conversations and private jobs can search the tools of `sources`.
        """
        database, user_prompts = self.database, self.user_prompts
        approval = Approval(database, user_prompts)
        inventory = Inventory(database)
        kit = make_digest_options(self.settings, self.zone)
        web = make_web_tools(make_web_options(self.settings), kit.readers)
        messages = MessageAgentTool(self.agents.files.agents, self.agents.teams)
        reading = self._make_readers()
        shared: tuple[Tool, ...] = (
            *(AskTool(user_prompts), TodoTool(database), messages),
            *self._make_job_tools(),
            GroupTitlesTool(database, self.messenger),
            ChartTool(database, kit.readers, kit.home / _FONTS),
            *self._make_image_tools(),
            *(*web, *reading),
        )
        usual = (*self._make_private(approval, inventory), *shared)
        helping = self._make_helping()
        acting: tuple[Tool, ...] = (*helping, DelegateTool()) if helping else ()
        gathering = (make_gather_tool(database, kit, in_room=False),)
        room_versions = (
            *room_tools(database, self.memory, approval, inventory),
            make_gather_tool(database, kit, in_room=True),
        )
        in_rooms = partial(_pick_for_rooms, room_versions)
        policy = self._make_policy()
        whole = (*usual, *extra, *gathering, *acting)
        _check_names(self.settings, [tool.spec.name for tool in whole])
        make_toolbox = partial(self._make_toolbox, policy, user_prompts)

        def make_purpose(backend: Backend) -> Toolbox:
            # No helpers and no other agents: they would work in the person's usual backend.
            place = replace(self, backend=backend, purposes={}, background=None)
            mine = place._make_readers()
            other = (messages, *reading)
            own = [*(one for one in (*shared, *extra, *gathering) if one not in other), *mine]
            tools = (*place._make_private(approval, inventory), *own, *place._make_helping())
            found = (*sources, *place._list_scripts())
            return place._make_toolbox(policy, user_prompts, tools, found)

        everywhere = (*sources, *self._list_scripts())
        return Toolboxes(
            private=make_toolbox((*usual, *extra, *acting), everywhere),
            room=make_toolbox((*in_rooms(usual), *extra)),
            inventory=inventory,
            private_job=make_toolbox(whole, everywhere),
            purposes={name: make_purpose(one) for name, one in self.purposes.items()},
            name_backend=self._name_backend,
            room_job=make_toolbox((*in_rooms(usual), *extra, *in_rooms(gathering))),
            helper=self._make_toolbox(policy, None, (*helping, *web)),
            asked=self._make_toolbox(policy, None, self._list_asked((*helping, *web, messages))),
        )

    def _list_asked(self, common: Sequence[Tool]) -> Sequence[Tool]:
        """List the tools of an agent that was asked; it writes to the blocks of its teams only."""
        noting = MemoryTool(self.memory, Approval(self.database))
        return (*common, RecallTool(self.database), noting)

    def _make_image_tools(self) -> tuple[ImageTool, ...]:
        """Make the tool for pictures; empty without a model that makes them."""
        images, secrets = self.settings.images, self.settings.secrets
        if not images.model:
            return ()
        server = PictureServer(
            address=secrets.openai_base_url or OPENAI,
            key=secrets.openai_api_key,
            model=images.model,
            size=images.size,
            quality=images.quality,
            seconds=images.seconds,
        )
        price = PicturePrice(
            micro_dollars=math.ceil(images.price_usd * 1_000_000), most_per_day=images.most_per_day
        )
        return (ImageTool(self.database, server, price, self.quotas.reserve_price),)

    def _make_private(self, approval: Approval, inventory: Inventory) -> tuple[Tool, ...]:
        """Make the tools for a person's private conversations and jobs."""
        database = self.database
        return (
            *private_tools(database, self.memory, approval, inventory, self.backend),
            SettingsTool(
                database,
                changed=self._note_settings,
                on_quiet_times=make_rescheduler(self.zone),
                follower=JobMover(database, self.user_prompts, self.zone, self.wake_jobs),
            ),
            SendMessageTool(database, self.messenger, self.backend),
            ProposeSoulTool(SoulFile(database, self.settings.home), approval, SOUL_LIMIT),
            SkillManageTool(self.skills.catalog, database, approval),
            ManageAgentsTool(self.agents, database, approval),
            *(self.external_memory.tools if self.external_memory else ()),
        )

    def _make_helping(self) -> tuple[Tool, ...]:
        """Make the workspace tools, which helpers have, too; empty without a backend."""
        if self.backend is None:
            return ()
        return make_workspace_tools(
            self.backend,
            self.background,
            command_seconds=find_most_seconds(self.settings.tools),
            secrets=NamedSecrets(self.settings.named_secrets, self.settings.hidden),
            places=self.places,
            versions=self.versions,
        )

    def _make_toolbox(
        self,
        policy: Policy,
        prompter: UserPrompts | None,
        tools: Sequence[Tool],
        sources: Sequence[ToolSource] = (),
    ) -> Toolbox:
        """Make a toolbox with each tool's limits, without the tools that the owner disabled."""
        chosen = self.settings.tools
        return Toolbox(
            [tool for tool in tools if tool.spec.name not in renew_names(chosen.disabled)],
            prompter=prompter,
            mask=self.secret_mask,
            policy=policy,
            setup=ToolSetup(
                sources=tuple(sources),
                rules=tuple(
                    replace(rule, tool=new)
                    for rule in chosen.limits
                    for new in renew_names([rule.tool])
                ),
                hides_rare=True,
                overflow=Workspaces(self.backend) if self.backend else None,
            ),
        )

    def _make_job_tools(self) -> tuple[JobTool, ...]:
        """Make the tools for reminders and jobs."""
        make = partial(
            JobTool,
            database=self.database,
            prompter=self.user_prompts,
            zone=self.zone,
            rules=make_rules(self.settings),
            changed=self.wake_jobs,
            name_places=name_places,
            calendars=make_calendars(
                self.settings, self.database, self.zone, changed=self.wake_jobs, now=self.now
            ),
        )
        return tuple(make(spec) for spec in JOB_TOOLS)

    def _make_policy(self) -> Policy:
        """Make the policy of all tools: the owner's rules, and the files that no rule can open."""
        settings = self.settings
        return Policy(
            self.database,
            rules=settings.tools.rules,
            protected=Protected(
                home=str(settings.home.absolute()), user_home=settings.environ.get("HOME", "")
            ),
        )

    def _note_settings(self) -> None:
        """Let everybody know that a person's settings have changed."""
        self.forget_people()
        self.wake_jobs()


def _pick_for_rooms(versions: Sequence[Tool], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Pick the tools that rooms have, each in its version for rooms if there is one."""
    by_name = {tool.spec.name: tool for tool in versions}
    return tuple(by_name.get(tool.spec.name, tool) for tool in tools if is_in_rooms(tool.spec.name))


def _check_names(settings: Settings, known: Sequence[str]) -> None:
    """Raise `StartError` if a setting names a tool that can't exist.

    Names with two underscores are allowed: they are tools of MCP servers, which come and go.
    """
    names = {*known, *BUILT_IN}
    limited = [
        name
        for rule in settings.tools.limits
        for name in (rule.tool, *rule.then_only, *rule.only_after)
    ]
    for setting, given in (
        ("tools.disabled", settings.tools.disabled),
        ("tools.limits", limited),
    ):
        for name in given:
            if new := RENAMED.get(name):
                _log.warning("%s: %s means %s now", setting, name, ", ".join(new))
            elif name not in names and "__" not in name:
                raise StartError(f"{setting}: there is no tool {name}; {suggest(name, names)}")


def list_sources(settings: Settings, mcp: McpServers) -> Sequence[ToolSource]:
    """Return the sources of MCP tools.

    Without `mcp.toml` there are none, so that prompts don't contain a tool search.
    """
    return (mcp,) if (settings.home / MCP_CONFIG).exists() else ()


def make_link_sender(database: Database, notices: Notices, now: Callable[[], int]) -> SendLink:
    """Build what sends people links to sign in at MCP servers, in their direct chats only."""

    async def send(person_id: PersonId, server: str, link: str) -> bool:
        notice = partial(describe_link, server, link)
        rows = await database.write(
            "mcp.link", notices.enqueue_for_person, person_id, notice, now()
        )
        notices.dispatcher.enqueue(rows)
        return bool(rows)

    return send


def make_mcp_servers(
    settings: Settings,
    *,
    database: Database,
    notices: Notices,
    prompts: UserPrompts,
    send_link: SendLink,
    now: Callable[[], int],
) -> McpServers:
    """Build the MCP servers of `mcp.toml`, without connecting to any yet."""
    home, environ = settings.home, settings.environ
    seen: list[object] = []

    def read() -> list[McpServer] | None:
        path = home / MCP_CONFIG
        try:
            state = path.stat() if path.exists() else None
            mark = (state.st_mtime_ns, state.st_size, state.st_ino) if state else None
            if seen == [mark]:
                return None
            seen[:] = [mark]
            return read_mcp_servers(home, environ)
        except (OSError, SettingsError) as error:
            raise ValueError(str(error)) from error

    def notify(connection: Connection, server: McpServer, judged: Judged) -> Callable[[], None]:
        notice = partial(describe_waiting, server.name, judged)
        rows = notices.enqueue_for_owners(connection, notice, now())
        return partial(notices.dispatcher.enqueue, rows)

    surroundings = locate_mcp_programs(home, environ)
    return McpServers(
        database,
        surroundings,
        read=read,
        notify=notify,
        now=now,
        tokens=locate_mcp_tokens(home),
        asker=ServerForms(prompts),
        send_link=send_link,
    )
