"""Find whose words a transcript holds besides those of its people; pure.

The sources follow from the stored messages alone, so a crash or a compaction can't lose them.
"""

import json
from collections.abc import Iterable, Iterator

from agent_core.agent.prompt.facts import ATTACHED, FORWARDED, QUOTED
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    SourceKind,
    TextPart,
    ToolResultPart,
    UntrustedSource,
    make_source,
)

_LINES: tuple[tuple[str, SourceKind], ...] = (
    (QUOTED, "quote"),
    (FORWARDED, "forward"),
    (ATTACHED, "file"),
)


def find_sources(messages: Iterable[Message]) -> tuple[UntrustedSource, ...]:
    """List the untrusted sources in messages, oldest first, each once."""
    # This runs over the whole session before each turn, and most messages quote nobody.
    found: dict[UntrustedSource, None] = {}
    for message in messages:
        if message.role == "assistant":
            continue
        for part in message.parts:
            if isinstance(part, TextPart) and not (part.is_fact and _quotes(part.text)):
                continue
            found.update(dict.fromkeys(_read_part(part)))
    return tuple(found)


def _quotes(facts: str) -> bool:
    return QUOTED in facts or FORWARDED in facts or ATTACHED in facts  # twice as fast as any()


def _read_part(part: Part) -> Iterable[UntrustedSource]:
    if isinstance(part, TextPart):
        return _read_facts(part.text)
    if isinstance(part, ToolResultPart):
        return part.sources
    if isinstance(part, DocumentPart):
        return (make_source("file", part.name),)
    return (make_source("picture"),) if isinstance(part, ImagePart) else ()


def _read_facts(facts: str) -> Iterator[UntrustedSource]:
    """Read the lines that quote somebody. Nobody's words can imitate one: each is one JSON line."""
    for line in facts.split("\n"):
        for start, kind in _LINES:
            if line.startswith(start):
                yield make_source(kind, _read_name(line.removeprefix(start)))


def _read_name(text: str) -> str:
    try:
        name, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:  # its words were forgotten since
        return ""
    return str(name)
