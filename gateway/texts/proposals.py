"""Sentences about changes that wait for a yes, and about the words of others behind them."""

from collections.abc import Sequence

from agent_core.localization import Plural, Text, join_list
from agent_core.memory import fence
from agent_core.transcript import UntrustedSource, split_source
from gateway.texts.people import quote_name

ACCEPT, DISMISS = Text("Accept"), Text("Dismiss")
ACCEPTED = Text("Accepted.")
DISMISSED = Text("Dismissed. Nothing has changed.")
OUTDATED = Text("I couldn't make this change, because things have changed since. Ask me again.")
_PROPOSAL = Text(
    "I've read {sources}, so I ask before I change anything. Shall I make this change?\n\n{change}"
)
_READ_BEFORE = Text("{body}\n\nBefore this, I had read {sources}.")
_MOST_NAMED = 3
_MORE = Plural("{n:,} more", "{n:,} more")
_NAMED = {
    "file": Text("the file {name}"),
    "quote": Text("a message by {name}"),
    "forward": Text("a message forwarded from {name}"),
    "fetched": Text("text from {name}"),
    "command": Text("the output of {name}"),
}
_PICTURE = Text("a picture")
_EARLIER = Text("an earlier answer that rests on other people's words")


def propose(change: str, sources: Sequence[UntrustedSource]) -> str:
    """Ask whether to make a change after words of others were read."""
    return _PROPOSAL(sources=name_sources(sources), change=fence(change))


def add_sources(question: str, sources: Sequence[UntrustedSource]) -> str:
    """Name the words of others behind a question, below it."""
    return _READ_BEFORE(body=question, sources=name_sources(sources)) if sources else question


def name_sources(sources: Sequence[UntrustedSource]) -> str:
    """Name the newest sources, and count the others."""
    newest = list(reversed(sources))
    names = [_name(source) for source in newest[:_MOST_NAMED]]
    more = len(newest) - _MOST_NAMED
    return join_list([*names, _MORE(more)] if more > 0 else names)


def _name(source: UntrustedSource) -> str:
    kind, name = split_source(source)
    if kind in _NAMED:
        return _NAMED[kind](name=quote_name(name.strip("“”")))
    return _PICTURE() if kind == "picture" else _EARLIER()
