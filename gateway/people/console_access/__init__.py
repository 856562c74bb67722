"""Access of people to their pages of the console: one-time links, and consent to be read."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.people.console_access.links import LINK_MINUTES as LINK_MINUTES
    from gateway.people.console_access.links import check_pages as check_pages
    from gateway.people.console_access.links import hash_secret as hash_secret
    from gateway.people.console_access.links import make_link as make_link
    from gateway.people.console_access.reading import READING_HOURS as READING_HOURS
    from gateway.people.console_access.reading import ReadingConsent as ReadingConsent
    from gateway.people.console_access.reading import end_reading as end_reading
    from gateway.people.console_access.reading import is_asked as is_asked
    from gateway.people.console_access.reading import (
        make_reading_answerers as make_reading_answerers,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
