"""Says what each setting is for, in the words of its docstring, and the topics of the tables."""

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from adapters.toolkit.table import Table
from gateway.app.settings import TABLES
from gateway.texts import setting_topics as texts

_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
TOPICS: Mapping[str, Sequence[str]] = {
    "answers": ("model", "turns", "context", "prompt", "cost"),
    "memory": ("memory", "learning", "retention", "skills"),
    "work": ("tools", "media", "images", "digest", "jobs", "plugins"),
    "people": ("people", "access"),
    "reached": ("http", "webhooks"),
    "running": ("log", "alerts", "telemetry", "session_log", "backup"),
}
"""The tables of each topic; all others are about chat apps."""


def group_tables() -> dict[str, list[str]]:
    """Return the names of all tables by the title of their topic."""
    found = {topic: [one for one in names if one in TABLES] for topic, names in TOPICS.items()}
    known = {name for names in found.values() for name in names}
    found["apps"] = [one for one in TABLES if one not in known]
    return {texts.TITLES[topic](): names for topic, names in found.items() if names}


@cache
def explain(table: str) -> Mapping[str, str]:
    """Return the first sentence on each setting of a table."""
    return {
        ast.unparse(field.target): _cut(" ".join(ast.literal_eval(text.value).split()))
        for owner in TABLES[table].__mro__
        if issubclass(owner, Table)
        for node in ast.parse(inspect.getsource(owner)).body
        if isinstance(node, ast.ClassDef)
        for field, text in pairwise(node.body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def name_plainly(key: str) -> str:
    """Return a key as words: `max_steps` is `Max steps`."""
    words = key.replace("_", " ")
    return words[:1].upper() + words[1:]


def _cut(text: str) -> str:
    first, stop, _ = text.partition(". ")
    return _LINK.sub(r"\1", first + stop).strip().replace("`", "")
