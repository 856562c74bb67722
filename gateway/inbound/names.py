"""Names in what somebody wrote, reduced as an event comes in."""

from dataclasses import replace

from adapters.messages import Inbound, InboundMessage, Mention
from agent_core.safe_names import name_stranger, read_call_name

_SIGNS = "@#"


def clean_names(found: Inbound | None) -> Inbound | None:
    """Return an event in whose words and quotes all names are plain.

    The sender's own name and the title of the room stay as they are: people compare them with what
    their platform shows, and no prompt shows them.
    """
    if not isinstance(found, InboundMessage):
        return found
    quote, author = found.quote, found.forwarded_from
    return replace(
        found,
        text=_clean_mentions(found.text, found.mentions),
        quote=quote and replace(quote, author=name_stranger(quote.author)),
        forwarded_from=None if author is None else name_stranger(author),
    )


def _clean_mentions(text: str, mentions: tuple[Mention, ...]) -> str:
    """Give whatever a text mentions its plain name, or its id without one.

    The longest go first: a name can begin with another one.
    """
    for mention in sorted(mentions, key=lambda one: -len(one.shown)):
        shown, plain = mention.shown.strip(), read_call_name(mention.name)
        if shown and plain != mention.name:
            sign = shown[0] if shown[0] in _SIGNS else ""
            text = text.replace(shown, f"{sign}{plain}" if plain else mention.neutral)
    return text
