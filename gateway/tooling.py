"""The tools of the agent: which it has in a direct talk, and which in a room."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.archive.inventory import Inventory
from agent_core.builtin import private_tools, room_tools
from agent_core.digest.kit import Kit, digest_tools
from agent_core.furnishing import Toolboxes
from agent_core.memory.approval import Approval
from agent_core.memory.identity import Identity
from agent_core.memory.proposing import ProposeIdentity
from agent_core.memory.shared import SharedMemory
from agent_core.mirror.outside import Outside
from agent_core.prompt.soul import SOUL_LIMIT
from agent_core.schedule.tool import Around, ScheduleTool
from agent_core.state.database import Database
from agent_core.tools.asking import AskTool
from agent_core.tools.contract import Tool
from agent_core.tools.settings import SettingsTool
from agent_core.tools.toolbox import Toolbox
from gateway.asking import Asking
from gateway.assembly import load_nearness
from gateway.easing import easing_in
from gateway.means import make_rules
from gateway.places import name_places
from gateway.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What tools work on. `forget_people` is for a change of what a person wants, `wake_jobs` for
    one of what is due.
    """

    settings: Settings
    database: Database
    memory: SharedMemory
    asking: Asking
    outside: Outside | None
    zone: str
    forget_people: Callable[[], None]
    wake_jobs: Callable[[], None]


def make_toolboxes(stock: Stock, extra: Sequence[Tool]) -> Toolboxes:
    """The boxes; `extra` is in both. Raises `StartError` where recall lacks what it was set to."""
    database, asking = stock.database, stock.asking
    approval = Approval(database, asking)
    inventory = Inventory(database)
    nearness = load_nearness(stock.settings)
    schedule = ScheduleTool(
        database,
        asking,
        Around(
            zone=stock.zone,
            rules=make_rules(stock.settings),
            changed=stock.wake_jobs,
            name_places=name_places,
        ),
    )

    def changed() -> None:
        stock.forget_people()
        stock.wake_jobs()

    shared: tuple[Tool, ...] = (AskTool(asking), schedule, *extra)
    identity = Identity(database, stock.settings.home)
    private: tuple[Tool, ...] = (
        *private_tools(database, stock.memory, approval, inventory, nearness),
        SettingsTool(database, changed=changed, ease=easing_in(stock.zone)),
        ProposeIdentity(identity, approval, SOUL_LIMIT),
        *(stock.outside.tools if stock.outside else ()),
    )
    room = room_tools(database, stock.memory, approval, inventory, nearness)
    kit = _make_kit(stock)
    gathering = digest_tools(database, kit, in_room=False)
    open_gathering = digest_tools(database, kit, in_room=True)
    return Toolboxes(
        private=Toolbox((*private, *shared), inquirer=asking),
        room=Toolbox((*room, *shared), inquirer=asking),
        inventory=inventory,
        private_job=Toolbox((*private, *shared, *gathering), inquirer=asking),
        room_job=Toolbox((*room, *shared, *open_gathering), inquirer=asking),
    )


def _make_kit(stock: Stock) -> Kit:
    settings = stock.settings
    return Kit(
        home=settings.home,
        zone=stock.zone,
        github_url=settings.digest.github_url,
        github_token=settings.secrets.github_token or "",
        allow_private=settings.digest.allow_private,
    )
