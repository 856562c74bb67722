"""Model providers behind one contract, with images, fingerprints, prices and token estimates.

Each provider is a plug-in package; nothing imports it by name.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.models.catalog import (
        SOURCE,
        Cost,
        ModelFacts,
        ModelTable,
        Price,
        Prices,
        bill,
        find_window,
        load_table,
        parse_price,
        reads_pdf,
        reduce_table,
    )
    from agent_core.models.contract import (
        Batches,
        CountsTokens,
        Model,
        ModelAnswer,
        ModelRequest,
        Prepares,
        StopReason,
        TextDelta,
        Usage,
    )
    from agent_core.models.http import parse_retry_after
    from agent_core.models.requests import (
        Fingerprints,
        choose,
        estimate_input,
        estimate_messages,
        list_shown,
        make_question,
    )
    from agent_core.models.router import ModelPolicy, ModelRouter, split_name
else:
    __getattr__ = export_lazily(__name__, __file__)
