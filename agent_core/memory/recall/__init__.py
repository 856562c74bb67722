"""Search over all past messages."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.memory.recall.formatting import View as View
    from agent_core.memory.recall.formatting import excerpt as excerpt
    from agent_core.memory.recall.formatting import find_match as find_match
    from agent_core.memory.recall.formatting import format_hits as format_hits
    from agent_core.memory.recall.formatting import list_held as list_held
    from agent_core.memory.recall.query import Query as Query
    from agent_core.memory.recall.query import read_moment as read_moment
    from agent_core.memory.recall.query import read_query as read_query
    from agent_core.memory.recall.ranking import Clock as Clock
    from agent_core.memory.recall.ranking import Ranking as Ranking
    from agent_core.memory.recall.search import search_messages as search_messages
    from agent_core.memory.recall.tool import RecallTool as RecallTool
    from agent_core.memory.recall.turn_recall import CHARACTERS_A_TOKEN as CHARACTERS_A_TOKEN
    from agent_core.memory.recall.turn_recall import RecalledMessages as RecalledMessages
    from agent_core.memory.recall.turn_recall import TurnRecall as TurnRecall
else:
    __getattr__ = export_lazily(__name__, __file__)
