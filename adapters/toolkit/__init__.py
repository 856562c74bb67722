"""Code that several platforms share: text, Markdown, options, HTTP, backoff and caches."""

from adapters.toolkit.caches import BoundedDict, MemberCounts, ShownContents
from adapters.toolkit.connection_health import Backoff, ConnectionHealth
from adapters.toolkit.envelopes import make_unreadable, read_envelope
from adapters.toolkit.http import (
    CONNECT_TIMEOUT,
    has_proxy,
    make_connector,
    name_mishap,
    read_at_most,
    read_wait,
)
from adapters.toolkit.markdown import (
    Block,
    CodeBlock,
    Heading,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Run,
    Style,
    Table,
    draw,
    fit,
    is_plain,
    parse,
)
from adapters.toolkit.media_types import kind_of as kind_of
from adapters.toolkit.media_types import summary_of as summary_of
from adapters.toolkit.options import Options
from adapters.toolkit.split import split_markdown
from adapters.toolkit.text import (
    Json,
    count_units,
    inside,
    join_around_name,
    number_in,
    part,
    parts,
    plain_name,
    plain_text,
    text_in,
    words_in,
)

__all__ = [
    "CONNECT_TIMEOUT",
    "Backoff",
    "Block",
    "BoundedDict",
    "CodeBlock",
    "ConnectionHealth",
    "Heading",
    "Json",
    "Listing",
    "MemberCounts",
    "Options",
    "Paragraph",
    "Quote",
    "Rule",
    "Run",
    "ShownContents",
    "Style",
    "Table",
    "count_units",
    "draw",
    "fit",
    "gist_of",
    "has_proxy",
    "inside",
    "is_plain",
    "join_around_name",
    "kind_of",
    "make_connector",
    "make_unreadable",
    "name_mishap",
    "number_in",
    "parse",
    "part",
    "parts",
    "plain_name",
    "plain_text",
    "read_at_most",
    "read_envelope",
    "read_wait",
    "split_markdown",
    "text_in",
    "words_in",
]
