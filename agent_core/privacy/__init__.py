"""A person's rights over their data: erasure and export."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.privacy.erasure.matcher import WordMatcher as WordMatcher
    from agent_core.privacy.erasure.matcher import parse_words as parse_words
    from agent_core.privacy.erasure.person import PersonErasure as PersonErasure
    from agent_core.privacy.erasure.scrub import delete_loose_files as delete_loose_files
    from agent_core.privacy.erasure.scrub import merge_indexes as merge_indexes
    from agent_core.privacy.erasure.scrub import scrub_database as scrub_database
    from agent_core.privacy.erasure.words import Preview as Preview
    from agent_core.privacy.erasure.words import WordRemoval as WordRemoval
    from agent_core.privacy.export.export_order import ExportOrder as ExportOrder
    from agent_core.privacy.export.run_export import ExportBroken as ExportBroken
    from agent_core.privacy.export.run_export import run_export as run_export
    from agent_core.privacy.progress import Progress as Progress
    from agent_core.privacy.progress import Report as Report
    from agent_core.privacy.progress import report_to_nobody as report_to_nobody
else:
    __getattr__ = export_lazily(__name__, __file__)
