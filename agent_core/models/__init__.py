"""Model providers behind one contract, with images, fingerprints, prices and token estimates.

Each provider is a plug-in package; nothing imports it by name.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.models.arguments import read_object as read_object
    from agent_core.models.catalog import SOURCE as SOURCE
    from agent_core.models.catalog import Cost as Cost
    from agent_core.models.catalog import ModelFacts as ModelFacts
    from agent_core.models.catalog import ModelTable as ModelTable
    from agent_core.models.catalog import Price as Price
    from agent_core.models.catalog import Prices as Prices
    from agent_core.models.catalog import bill as bill
    from agent_core.models.catalog import find_window as find_window
    from agent_core.models.catalog import load_table as load_table
    from agent_core.models.catalog import parse_price as parse_price
    from agent_core.models.catalog import reads_pdf as reads_pdf
    from agent_core.models.catalog import reduce_table as reduce_table
    from agent_core.models.contract import Batches as Batches
    from agent_core.models.contract import CountsTokens as CountsTokens
    from agent_core.models.contract import Model as Model
    from agent_core.models.contract import ModelAnswer as ModelAnswer
    from agent_core.models.contract import ModelRequest as ModelRequest
    from agent_core.models.contract import Prepares as Prepares
    from agent_core.models.contract import StopReason as StopReason
    from agent_core.models.contract import TextDelta as TextDelta
    from agent_core.models.contract import Usage as Usage
    from agent_core.models.http import parse_retry_after as parse_retry_after
    from agent_core.models.requests import Fingerprints as Fingerprints
    from agent_core.models.requests import choose as choose
    from agent_core.models.requests import estimate_input as estimate_input
    from agent_core.models.requests import estimate_messages as estimate_messages
    from agent_core.models.requests import list_shown as list_shown
    from agent_core.models.requests import make_question as make_question
    from agent_core.models.router import ModelPolicy as ModelPolicy
    from agent_core.models.router import ModelRouter as ModelRouter
    from agent_core.models.router import split_name as split_name
else:
    __getattr__ = export_lazily(__name__, __file__)
