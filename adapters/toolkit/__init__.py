"""Code that several platforms share: text, Markdown, options, HTTP, backoff and caches."""

from adapters.toolkit.caches import BoundedDict, MemberCounts, ShownContents
from adapters.toolkit.connection_health import Backoff, ConnectionHealth
from adapters.toolkit.http import (
    CONNECT_TIMEOUT,
    has_proxy,
    make_connector,
    name_mishap,
    read_at_most,
    read_wait,
)
from adapters.toolkit.listener import Places, listen
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
    parse,
)
from adapters.toolkit.media_types import kind_of as kind_of
from adapters.toolkit.media_types import summary_of as summary_of
from adapters.toolkit.optional_modules import leaving_out
from adapters.toolkit.options import Options
from adapters.toolkit.split import close_code, split_markdown
from adapters.toolkit.text import (
    Json,
    count_units,
    inside,
    is_plain,
    join_around_name,
    make_unreadable,
    number_in,
    part,
    parts,
    plain_name,
    plain_text,
    read_envelope,
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
    "Places",
    "Quote",
    "Rule",
    "Run",
    "ShownContents",
    "Style",
    "Table",
    "close_code",
    "count_units",
    "draw",
    "fit",
    "gist_of",
    "has_proxy",
    "inside",
    "is_plain",
    "join_around_name",
    "kind_of",
    "leaving_out",
    "listen",
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
