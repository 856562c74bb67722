"""Reads the front matter of a SKILL.md: as much of YAML as such files need; pure.

Every value is text. There are plain and quoted texts, on one line or on several, texts below `|`
and `>`, and mappings of one level. Anything else of YAML is refused with a sentence.
"""

import re
from collections.abc import Sequence

Value = str | dict[str, str]

_PAIR = re.compile(r"([A-Za-z0-9_][\w./-]*)[ ]*:(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"([|>])[+-]?(?:[ \t]+#.*)?")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"(?:[ \t]+#.*)?')
_SINGLE = re.compile(r"'((?:[^']|'')*)'(?:[ \t]+#.*)?")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPED = dict(zip('"\\/ \t0abtnvfre', '"\\/ \t\0\a\b\t\n\v\f\r\x1b', strict=True))
_NOT_PLAIN = "[]{}&*!|>%@`,\"'#"
"""What a plain text can't begin with: YAML means something else by it."""


def read_front_matter(text: str) -> dict[str, Value]:
    """The fields between the two lines `---`. Raises `ValueError` with what can't be read."""
    lines = text.split("\n")
    found: dict[str, Value] = {}
    number = 0
    while number < len(lines):
        if _is_empty(lines[number]):
            number += 1
            continue
        if lines[number][0] in " \t":
            raise ValueError(f"line {number + 2} is indented and belongs to nothing")
        key, rest = _split(lines[number], number)
        if key in found:
            raise ValueError(f"`{key}` is there twice")
        end = number + 1
        while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t"):
            end += 1
        found[key] = _read_value(key, rest, lines[number + 1 : end], number + 1)
        number = end
    return found


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _split(line: str, number: int) -> tuple[str, str]:
    pair = _PAIR.fullmatch(line.rstrip())
    if pair is None:
        raise ValueError(f"line {number + 2} is no `name: text`: {line.strip()[:60]}")
    return pair[1], (pair[2] or "").strip()


def _read_value(key: str, rest: str, below: Sequence[str], number: int) -> Value:
    """What stands behind a name and, indented, below it; `number` is that of the first below."""
    if block := _BLOCK.fullmatch(rest):
        return _read_block(key, below, is_folded=block[1] == ">")
    told = [line for line in below if not _is_empty(line)]
    if not rest or rest.startswith("#"):
        if told and _PAIR.fullmatch(told[0].strip()):
            return _read_mapping(key, below, number)
        rest = ""
    words = " ".join((rest, *(line.strip() for line in told))).strip()
    return _read_text(key, words) if words else ""


def _read_mapping(key: str, below: Sequence[str], number: int) -> dict[str, str]:
    found: dict[str, str] = {}
    depth: int | None = None
    for offset, line in enumerate(below):
        if _is_empty(line):
            continue
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise ValueError(f"`{key}` is indented with tabs, which YAML does not allow")
        own = len(line) - len(line.lstrip(" "))
        depth = own if depth is None else depth
        if own != depth:
            raise ValueError(f"`{key}` holds more than one level, which can't be read here")
        name, rest = _split(line.strip(), number + offset)
        if name in found:
            raise ValueError(f"`{key}` has `{name}` twice")
        if _BLOCK.fullmatch(rest):
            raise ValueError(f"`{key}` has a text of several lines, which can't be read here")
        found[name] = _read_text(name, rest) if rest and not rest.startswith("#") else ""
    return found


def _read_block(key: str, below: Sequence[str], *, is_folded: bool) -> str:
    lines = [line.rstrip() for line in below]
    depth = next((len(line) - len(line.lstrip(" ")) for line in lines if line), 0)
    if any(line and not line.startswith(" " * depth) for line in lines):
        raise ValueError(f"the lines of `{key}` are not indented alike")
    text = "\n".join(line[depth:] for line in lines).strip("\n")
    if not is_folded:
        return text
    parts = re.split(r"\n{2,}", text)
    return "\n".join(" ".join(part.split("\n")) for part in parts)


def _read_text(key: str, text: str) -> str:
    if text[0] == '"':
        if quoted := _DOUBLE.fullmatch(text):
            return _ESCAPE.sub(lambda found: _unescape(key, found[1]), quoted[1])
        raise ValueError(f'the quoted text of `{key}` does not end with its "')
    if text[0] == "'":
        if quoted := _SINGLE.fullmatch(text):
            return quoted[1].replace("''", "'")
        raise ValueError(f"the quoted text of `{key}` does not end with its '")
    text = re.split(r"[ \t]#", text, maxsplit=1)[0].rstrip()
    if text[0] == "[" or re.match(r"-(\s|$)", text):
        raise ValueError(f"`{key}` is a list; write its words as one text, with spaces between")
    if text[0] in _NOT_PLAIN or re.match(r"\?(\s|$)", text):
        raise ValueError(f'`{key}` begins with {text[0]}, so its text has to stand in "quotes"')
    if ": " in text or text.endswith(":"):
        raise ValueError(f'`{key}` holds a colon and a space, so its text has to stand in "quotes"')
    return text


def _unescape(key: str, sign: str) -> str:
    if len(sign) > 1:
        number = int(sign[1:], 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise ValueError(f"`{key}` names a letter that there is not: \\{sign}")
        return chr(number)
    if sign not in _ESCAPED:
        raise ValueError(f"`{key}` holds \\{sign}, which means nothing; a backslash is \\\\")
    return _ESCAPED[sign]
