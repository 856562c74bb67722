"""An editor of named agents over a bench."""

from collections.abc import Awaitable, Callable

from agent_core.agent.caches import SessionCache
from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.named.agent_files import AgentFiles
from agent_core.agent.named.definition import KnownNames
from agent_core.agent.named.editor import AgentEditor
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.teams import TeamFolder
from agent_core.tools.selection.built_in import BUILT_IN
from tests.agent_core.agent.bench import Bench

LoadIds = Callable[[], Awaitable[IdAllocator]]


def make_editor(bench: Bench, load_ids: LoadIds | None = None) -> AgentEditor:
    agents = AgentFolder(bench.home, KnownNames(tools=tuple(sorted(BUILT_IN))))
    return AgentEditor(
        database=bench.database,
        files=AgentFiles(agents),
        teams=TeamFolder(bench.home, agents),
        now=lambda: bench.time,
        load_ids=load_ids or SessionCache(bench.database).id_allocator,
    )
