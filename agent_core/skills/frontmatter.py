"""Reads the front matter of a SKILL.md, which is YAML; pure.

Every value is text, as it is written: a version `1.0` is no number, and `true` is a word. A field
holds a text, or a mapping of names to texts.
"""

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

Value = str | dict[str, str]

_LONGEST = 16_384
"""Letters; the texts that the format bounds come to a tenth of that."""


def read_front_matter(text: str) -> dict[str, Value]:
    """The fields between the two lines `---`. Raises `ValueError` with what can't be read."""
    if len(text) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST:,} letters")
    try:
        found = YAML(typ="base", pure=True).load(text)
    except MarkedYAMLError as error:
        raise ValueError(_tell(error)) from error
    except YAMLError as error:
        raise ValueError("it holds a sign that no text may hold") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("it has to be lines of `name: text`")
    return {_text(key, "a name"): _value(key, value) for key, value in found.items()}


def _tell(error: MarkedYAMLError) -> str:
    """What is wrong, in the reader's words, and where; line 1 is the `---` above."""
    what = (error.problem or error.context or "it is no YAML").split(" (original value")[0]
    where = error.problem_mark or error.context_mark
    hint = '; a text with a colon has to stand in "quotes"' if "mapping values" in what else ""
    return f"line {where.line + 2}: {what}{hint}" if where else what


def _value(key: Any, value: Any) -> Value:
    if isinstance(value, dict):
        return {_text(one, "a name"): _text(told, f"`{key}`") for one, told in value.items()}
    return _text(value, f"`{key}`")


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        hint = "; write the words of a list as one text, with spaces between"
        raise ValueError(f"{what} has to be a text{hint if isinstance(value, list) else ''}")
    if any(0xD800 <= ord(sign) < 0xE000 for sign in value):
        raise ValueError(f"{what} names a letter that there is not")
    return value
