"""Sentences for people, in the reader's language: English in the code, others from catalogues."""

from agent_core.localization.formats import (
    format_date,
    format_moment,
    format_size,
    format_weekday,
    join_list,
)
from agent_core.localization.translation import (
    LANGUAGES,
    Plural,
    Text,
    choose_language,
    find_language,
    set_language,
    use_language,
)

__all__ = [
    "LANGUAGES",
    "Plural",
    "Text",
    "choose_language",
    "find_language",
    "format_date",
    "format_moment",
    "format_size",
    "format_weekday",
    "join_list",
    "set_language",
    "use_language",
]
