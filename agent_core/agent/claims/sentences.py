"""Cut a growing answer into sentences, without its code, its quotations and its drafts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_END = re.compile(r"""[.!?…]+["'”’»“*_)\]]*(?=\s|$)|\n+|(?<=\w)[:;](?=\s)|\s[–—](?=\s)""")
"""Ends of sentences. A colon and a dash end one, too: what follows may claim something else."""
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|St|No|Nr|z\.B|d\.h|e\.g|i\.e|bzw|ca|vs|etc)|\b\d{1,2})\.$"
)
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~).*?(?:^[ \t>]*(?:```|~~~)[ \t]*$|\Z)", re.M | re.S)
_CODE = re.compile(r"`[^`\n]*(?:`|\Z)")
_BLOCK = re.compile(r"^[ \t]*>.*$", re.M)
_LETTER = re.compile(
    r"^(?:\**(?:Subject|Betreff)\**:|\**(?:Dear|Hi|Hello|Liebe[rs]?|Hallo|Sehr geehrte[rs]?)\b"
    r"[^.!?\n]{0,40},[ \t]*$).*\Z",
    re.M | re.S,
)
"""A letter that the answer drafts; all that follows belongs to it."""
_LONGEST_QUOTE = 600
"""Characters of a quotation; without a limit, a row of its first marks takes its square."""
_PAIRS = (("„", "“"), ("“", "”"), ("«", "»"), ("»", "«"), ("‚", "‘"))
_STRAIGHT = re.compile(r'(?<!\w)"[^"\n]*(?:"|\Z)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of an answer: its place there, and its words without quotations and code.

    `is_whole` is False for the last one while the answer grows. `is_asked` is True for a question.
    """

    start: int
    end: int
    words: str
    is_whole: bool
    is_asked: bool


def split(text: str) -> Iterator[Sentence]:
    """Yield the sentences of an answer in their order."""
    plain = _hide(text)
    start = 0
    for found in _END.finditer(plain):
        end = found.end()
        if found[0].startswith(".") and _ABBREVIATION.search(plain[start : found.start() + 1]):
            continue
        yield _cut(plain, start, end, is_whole=True)
        start = end
    if start < len(plain):
        yield _cut(plain, start, len(plain), is_whole=False)


def _cut(plain: str, start: int, end: int, *, is_whole: bool) -> Sentence:
    words = plain[start:end]
    return Sentence(
        start=start,
        end=end,
        words=" ".join(words.replace("\0", " ").replace("*", "").replace("_", " ").split()),
        is_whole=is_whole,
        is_asked="?" in words[-6:],
    )


def _hide(text: str) -> str:
    """Return the text with blanks in place of code, quotations and drafts; lengths stay."""
    for pattern in (_FENCE, _LETTER, _CODE, _BLOCK, _STRAIGHT):
        text = pattern.sub(_blank, text)
    for first, last in _PAIRS:
        text = re.sub(f"{first}[^{last}\n]{{0,{_LONGEST_QUOTE}}}+(?:{last}|\\Z)", _blank, text)
    return text


def _blank(found: re.Match[str]) -> str:
    """Blank the words between two quotes, so that what is around them still is one sentence."""
    return re.sub(r"[^\n]", "\0", found[0]) if "\n" in found[0] else "\0" * len(found[0])
