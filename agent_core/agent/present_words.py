"""Find what a person typed or spoke just now, and nothing that they only passed on. Pure.

What is forwarded, quoted, fenced, pasted as a block, sent by a program or copied from words of
others in the conversation is left out. In doubt, a message has no own words, and a change is only
proposed.
"""

import re
from collections.abc import Iterable, Sequence

from agent_core.agent.prompt.message_facts import ATTACHED, FORWARDED, OWN_UNTRUSTED, QUOTED
from agent_core.tools.own_words.contract import NO_WORDS, OwnWords, Said
from agent_core.tools.own_words.word_forms import is_covered
from agent_core.transcript import (
    PROGRAM,
    SKILLED,
    STARTED,
    DocumentPart,
    Message,
    TextPart,
    ToolResultPart,
)

_NOT_OWN = (FORWARDED, PROGRAM, SKILLED, STARTED)
"""Lines of facts in messages that hold no words of the person, or of others, too."""
_QUOTES = (QUOTED, FORWARDED, ATTACHED, OWN_UNTRUSTED)
"""Beginnings of the lines of facts that hold words of others."""
_LONGEST = 700
"""Characters of a message that somebody types; a longer one is pasted."""
_MOST_LINES, _LONGEST_LINE = 6, 160
"""Lines of a typed list, and characters of each; more are a pasted block."""
_LONGEST_REPLY = 60
"""Characters of an answer to a question."""
_FENCED = re.compile(r"```|~~~|^\s*[>|]", re.MULTILINE)
_MAIL = re.compile(
    r"^\W*(?:from|to|subject|date|sent|von|an|betreff|datum|gesendet)\s*:|\bwrote:|\bschrieb\b.*:"
    r"|^-{2,}|^\W*(?:dear|sehr geehrte\w*|liebe[rs]?)\b|^\W*(?:hi|hello|hallo|hey) \w+[,!]?\s*$"
    r"|^\W*(?:best|kind|warm)? ?(?:regards|wishes)|^\W*(?:mit )?(?:freundliche|liebe|viele)\w* gr"
    r"|^\W*(?:cheers|thanks|danke|gruß|lg|vg)\W+\w+\W*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Signs of a letter: its head, its greeting, its end."""
_LETTER = re.compile(
    r"^\W*(?i:hi|hello|hey|hallo|dear|liebe[rs]?|moin) (?!Talaria\b)[A-ZÄÖÜ]\w+ ?[,!:–-]"
    r"|[.!?,]\s*(?i:thanks|thank you|cheers|regards|best|danke|lg|vg|grüße|gruß|bis bald),? "
    r"(?!Talaria\b)[A-ZÄÖÜ]\w+\W*$"
)
"""A line that greets somebody by name, or that somebody has signed."""
_SMALL = re.compile(r"\W*(?:\w+\W*){0,3}", re.UNICODE)
"""A paragraph that says nothing by itself, such as a greeting."""
_QUOTED = re.compile(
    r"“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|»[^«»]*«|‚[^‚‘]*‘|(?<!\w)\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`"
)
_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|st|no|nr|prof|z\.b|d\.h|e\.g|i\.e|ca|vs|etc|a\.m|p\.m)|\d)\.$", re.I
)
_COPIED = 7
"""Words in a row that nobody types by chance as others wrote them."""
_WORD = re.compile(r"\w+")
_QUESTION_LINE = """
what when which time should shall remind like want day date exactly sure ok okay note save it wann
welche welcher uhrzeit soll erinnern möchtest willst tag genau speichern merken reminder erinnerung
set stellen
"""
_QUESTION_WORDS = frozenset(_QUESTION_LINE.split())
"""Words of a question that ask for what is missing, and name nothing."""


def read_own_words(said: Sequence[Message], before: Sequence[Message] = ()) -> OwnWords:
    """Return the person's words in their present messages, after the messages `before`."""
    found = tuple(one for message in said for one in _read(message))
    if found and len(said) == 1 and len(said[0].text) <= _LONGEST_REPLY:
        found = (*_find_asked(found, before), *found)
    if not found:
        return NO_WORDS
    copied = _list_runs(_list_others((*before, *said)))
    kept = tuple(one for one in found if not copied or _runs(one.whole).isdisjoint(copied))
    return OwnWords(sentences=kept)


def find_typed(text: str) -> str:
    """Return what somebody typed of a text, without quotations; "" if it may be pasted."""
    return " ".join(one.plain for one in _split(_keep_typed(text)))


def _read(message: Message) -> Iterable[Said]:
    """Yield the sentences of a message that its person wrote."""
    if message.role != "user":
        return ()
    facts = (one.text for one in message.parts if isinstance(one, TextPart) and one.is_fact)
    if any(f"\n{line}" in f"\n{text}" for text in facts for line in _NOT_OWN):
        return ()
    return _split(_keep_typed(message.text))


def _keep_typed(text: str) -> str:
    """Return a message that somebody typed as a whole; "" if a part of it may be pasted."""
    if len(text) > _LONGEST or _FENCED.search(text) or _LETTER.search(text):
        return ""
    paragraphs = [one.strip() for one in re.split(r"\n\s*\n", text) if one.strip()]
    telling = [one for one in paragraphs if not _SMALL.fullmatch(one)]
    if len(telling) > 1:
        return ""
    lines = [one for one in text.splitlines() if one.strip()]
    if len(lines) > 1 and (_MAIL.search(text) or len(lines) > _MOST_LINES):
        return ""
    if len(lines) > 1 and any(len(one) > _LONGEST_LINE for one in lines):
        return ""
    if len(lines) > 1 and any(one.rstrip().endswith(":") for one in lines):
        return ""
    return text


def _split(text: str) -> Iterable[Said]:
    start = 0
    pieces = list[str]()
    for found in _END.finditer(text):
        if "\n" not in found[0] and _ABBREVIATION.search(text[start : found.start()]):
            continue
        pieces.append(text[start : found.start()])
        start = found.end()
    pieces.append(text[start:])
    for piece in pieces:
        whole = " ".join(piece.split())
        if whole:
            yield Said(plain=" ".join(_QUOTED.sub(" … ", whole).split()), whole=whole)


def _find_asked(reply: Sequence[Said], before: Sequence[Message]) -> Sequence[Said]:
    """Return the person's earlier words to which a reply belongs; none in doubt.

    Talaria's question joins the two only if it holds no word that the person has not said.
    """
    if len(before) < 2 or before[-1].role != "assistant" or before[-2].role != "user":
        return ()
    asked, first = before[-1], before[-2]
    if asked.calls or not asked.text.rstrip().endswith("?"):
        return ()
    own = tuple(_read(first))
    said = "\n".join(one.whole for one in (*own, *reply))
    if not own or not is_covered(asked.text, said, _QUESTION_WORDS):
        return ()
    return (*own, Said(plain=f"{own[-1].plain} {reply[0].plain}", whole=said))


def _list_others(messages: Iterable[Message]) -> Iterable[str]:
    """Yield the texts of others in messages."""
    for part in (one for message in messages for one in message.parts):
        match part:
            case TextPart(text=text, is_fact=True):
                yield from (line for line in text.split("\n") if line.startswith(_QUOTES))
            case DocumentPart(text=text):
                yield text
            case ToolResultPart(text=text) if part.sources:
                yield text


def _list_runs(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(run for text in texts for run in _runs(text))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = [one.casefold() for one in _WORD.findall(text)]
    return {tuple(words[at : at + _COPIED]) for at in range(len(words) - _COPIED + 1)}
