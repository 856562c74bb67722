"""The tools of the agent: which it has in a direct talk, and which in a room."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.agent.active_turn import Toolboxes
from agent_core.agent.prompt.persona import SOUL_LIMIT
from agent_core.agent.toolset import private_tools, room_tools
from agent_core.digest.tools import DigestOptions, digest_tools
from agent_core.memory.approval import Approval
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.shared import SharedMemory
from agent_core.memory.soul.proposal_tool import ProposeSoulTool
from agent_core.memory.soul.soul import SoulFile
from agent_core.schedule.tool import ScheduleTool
from agent_core.state.engine.database import Database
from agent_core.tools.contract import Tool
from agent_core.tools.settings_tool import SettingsTool
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.user_questions import AskTool
from gateway.bootstrap.factories import load_reranker
from gateway.config import Settings
from gateway.jobs.resources import make_rules, name_places
from gateway.outbound.quiet_hours import easing_in
from gateway.turns.user_prompts import UserPrompts


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What tools work on. `forget_people` is for a change of what a person wants, `wake_jobs` for
    one of what is due.
    """

    settings: Settings
    database: Database
    memory: SharedMemory
    user_prompts: UserPrompts
    external_memory: ExternalMemory | None
    zone: str
    forget_people: Callable[[], None]
    wake_jobs: Callable[[], None]


def make_toolboxes(stock: Stock, extra: Sequence[Tool]) -> Toolboxes:
    """The boxes; `extra` is in both. Raises `StartError` where recall lacks what it was set to."""
    database, user_prompts = stock.database, stock.user_prompts
    approval = Approval(database, user_prompts)
    inventory = Inventory(database)
    reranker = load_reranker(stock.settings)
    schedule = ScheduleTool(
        database,
        user_prompts,
        zone=stock.zone,
        rules=make_rules(stock.settings),
        changed=stock.wake_jobs,
        name_places=name_places,
    )

    def changed() -> None:
        stock.forget_people()
        stock.wake_jobs()

    shared: tuple[Tool, ...] = (AskTool(user_prompts), schedule, *extra)
    identity = SoulFile(database, stock.settings.home)
    private: tuple[Tool, ...] = (
        *private_tools(database, stock.memory, approval, inventory, reranker),
        SettingsTool(database, changed=changed, ease=easing_in(stock.zone)),
        ProposeSoulTool(identity, approval, SOUL_LIMIT),
        *(stock.external_memory.tools if stock.external_memory else ()),
    )
    room = room_tools(database, stock.memory, approval, inventory, reranker)
    kit = _make_kit(stock)
    gathering = digest_tools(database, kit, in_room=False)
    open_gathering = digest_tools(database, kit, in_room=True)
    return Toolboxes(
        private=Toolbox((*private, *shared), prompter=user_prompts),
        room=Toolbox((*room, *shared), prompter=user_prompts),
        inventory=inventory,
        private_job=Toolbox((*private, *shared, *gathering), prompter=user_prompts),
        room_job=Toolbox((*room, *shared, *open_gathering), prompter=user_prompts),
    )


def _make_kit(stock: Stock) -> DigestOptions:
    settings = stock.settings
    return DigestOptions(
        home=settings.home,
        zone=stock.zone,
        github_url=settings.digest.github_url,
        github_token=settings.secrets.github_token or "",
        allow_private=settings.digest.allow_private,
    )
