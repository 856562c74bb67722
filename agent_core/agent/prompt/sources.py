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
    found: dict[UntrustedSource, None] = {}
    for message in messages:
        if message.role != "assistant":
            for part in message.parts:
                found.update(dict.fromkeys(_read_part(part)))
    return tuple(found)


def _read_part(part: Part) -> Iterable[UntrustedSource]:
    if type(part) is TextPart:
        return _read_facts(part.text) if part.is_fact else ()
    if type(part) is ToolResultPart:
        return part.sources
    if type(part) is DocumentPart:
        return (make_source("file", part.name),)
    return (make_source("picture"),) if type(part) is ImagePart else ()


def _read_facts(facts: str) -> Iterator[UntrustedSource]:
    """Read the lines that quote somebody. Nobody's words can imitate one: each is one JSON line."""
    # This runs over all facts before each turn, and most of them quote nobody.
    if not any(start in facts for start, _ in _LINES):
        return
    for line in facts.split("\n"):
        for start, kind in _LINES:
            if line.startswith(start):
                name, _ = json.JSONDecoder().raw_decode(line.removeprefix(start))
                yield make_source(kind, name)
