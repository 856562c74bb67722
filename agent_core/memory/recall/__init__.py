"""Search over all past messages."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.memory.recall.formatting import View, excerpt, find_match, format_hits
    from agent_core.memory.recall.query import Query, read_moment, read_query
    from agent_core.memory.recall.ranking import Clock, Ranking
    from agent_core.memory.recall.search import search_messages
    from agent_core.memory.recall.tool import RecallTool
    from agent_core.memory.recall.turn_recall import (
        CHARACTERS_A_TOKEN,
        RecalledMessages,
        TurnRecall,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
