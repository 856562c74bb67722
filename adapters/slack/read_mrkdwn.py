"""Converts Slack's mrkdwn in people's messages to Markdown; pure."""

import re
from collections.abc import Mapping

from adapters.messages import Mention
from adapters.toolkit.text import plain_name, plain_text

_TOKEN = re.compile(r"```.*?```|`[^`\n]+`|<[^<>\n]+>", re.DOTALL)
_BOLD = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])")
_STRIKE = re.compile(r"(?<![\w~\\])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])")
_KEPT, _ME = "\ue000", "\ue001"
"""Private-use characters that protect code from parsing, and mark the bot's mention."""
_PRIVATE = re.compile(f"[{_KEPT}{_ME}]")
_FIRST_MENTION = re.compile(rf"^\s*{_ME}[\s,:]*")
_MENTION = re.compile(rf"(?:(?<![ \t])[ \t]+)?{_ME}")
_ADDRESS = re.compile(r"(?:https?|mailto|tel|slack):", re.IGNORECASE)
_KINDS = (("@", "@user"), ("#", "#channel"), ("!subteam^", "@group"))
"""How a mention begins, and the neutral name of its kind."""
_SPOKEN = {"here": "@here", "channel": "@channel", "everyone": "@everyone"}
_MENTIONED = re.compile(r"<@([A-Z0-9]+)")


def mentions_in(text: str) -> tuple[str, ...]:
    """Return the ids of the people and bots that a text mentions."""
    return tuple(dict.fromkeys(_MENTIONED.findall(text)))


def list_mentions(text: str, names: Mapping[str, str]) -> tuple[Mention, ...]:
    """List whom and what a text mentions by a name."""
    found = []
    for token in _TOKEN.findall(_PRIVATE.sub("\ufffd", text)):
        target, _, label = token[1:-1].partition("|")
        name = names.get(target[1:]) or _unescape(label)
        for start, kind in _KINDS:
            if token[0] == "<" and target.startswith(start) and name:
                shown = plain_text(_read_token(token[1:-1], names))
                neutral = f"{kind} {target.removeprefix(start)}"
                found.append(Mention(shown=shown, name=name, neutral=neutral))
    return tuple(found)


def read_mrkdwn(text: str, *, names: Mapping[str, str], me: str) -> str:
    """Convert to Markdown without the mention of `me`. Uses `names`, otherwise ids."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        token = match[0]
        if token.startswith("`"):
            kept.append(_unescape(re.sub(r"<([^<>|\n]+)(?:\|[^<>\n]*)?>", r"\1", token)))
        elif token[1:].partition("|")[0].rstrip(">") == f"@{me}":
            return _ME
        else:
            kept.append(_read_token(token[1:-1], names))
        return _KEPT

    words = _TOKEN.sub(keep, _PRIVATE.sub("\ufffd", text))
    words = _STRIKE.sub(r"~~\1~~", _BOLD.sub(r"**\1**", words))
    words = _unescape(_MENTION.sub("", _FIRST_MENTION.sub("", words)))
    pieces = words.split(_KEPT)
    whole = pieces[0] + "".join(a + b for a, b in zip(kept, pieces[1:], strict=True))
    return plain_text(whole if len(kept) == 0 and _ME not in text else whole.strip())


def _read_token(token: str, names: Mapping[str, str]) -> str:
    """Convert a token in angle brackets: a link or a mention."""
    target, bar, label = token.partition("|")
    label = _unescape(label)
    match target[:1]:
        case "@":
            return "@" + (names.get(target[1:]) or plain_name(label) or target[1:])
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return label or _SPOKEN.get(target[1:], target[1:].partition("^")[0])
        case _:
            address = _unescape(target)
            if not _ADDRESS.match(address):
                return _unescape(f"<{token}>")
            bare = address.removeprefix("mailto:").removeprefix("tel:")
            is_plain = not bar or label in (address, bare, bare.partition("://")[2])
            return bare if is_plain else f"[{label}]({address})"


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
