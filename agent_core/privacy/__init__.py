"""A person's rights over their data: erasure and export."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.privacy.erasure.matcher import WordMatcher, parse_words
    from agent_core.privacy.erasure.person import PersonErasure
    from agent_core.privacy.erasure.scrub import delete_loose_files, merge_indexes, scrub_database
    from agent_core.privacy.erasure.words import Preview, WordRemoval
    from agent_core.privacy.export.export import ExportArchive, write_export
else:
    __getattr__ = export_lazily(__name__, __file__)
