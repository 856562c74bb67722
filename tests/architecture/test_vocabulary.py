"""One word per concept: the words that the glossary replaces are no names in the code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

import pytest

from tests.architecture.source import ROOT, Module, list_modules

PRODUCT = ("gateway", "agent_core", "adapters")
SETTING_KEYS = {"house_day_usd", "house_day_tokens"}
"""Keys of `config.toml`, which keep their names."""
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@cache
def read_old_words() -> frozenset[str]:
    """The words in code font in the glossary's last column."""
    rows = [line.split("|") for line in ROOT.joinpath("docs/glossary.md").read_text().splitlines()]
    cells = [row[3] for row in rows if len(row) == 5]
    return frozenset(word for cell in cells for word in re.findall(r"`(\w+)`", cell))


def list_names(module: Module) -> Iterator[tuple[int, str]]:
    """Every name that a module gives: its own, and those of what it defines."""
    yield 0, PurePosixPath(module.path).stem
    for node in module.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def find_old_words(module: Module) -> list[str]:
    old = read_old_words()
    return [
        f"{module.path}:{line} {name}"
        for line, name in list_names(module)
        if name not in SETTING_KEYS
        and (name in old or old & {word.lower() for word in WORD.findall(name)})
    ]


PROSE = ("chronicle", "errand", "hearsay", "keeper", "reins", "suspicion", "warden", "whereabouts")
"""Old words without an ordinary meaning here: prose avoids them, too."""
PAGES = ("docs/*.md", "*.md", "gateway/**/*.py", "agent_core/**/*.py", "adapters/**/*.py")
HISTORY = {"decisions.md", "glossary.md", "measurements.md"}
"""Pages that quote old words."""


def test_prose_avoids_old_words() -> None:
    old = re.compile(rf"\b(?:{'|'.join(PROSE)}|anew|is told|are told|is parked)s?\b", re.IGNORECASE)
    assert [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for pattern in PAGES
        for path in sorted(ROOT.glob(pattern))
        if path.name not in HISTORY
        for found in old.finditer(path.read_text(encoding="utf-8"))
    ] == []


def test_the_glossary_lists_old_words() -> None:
    assert {"house", "debt", "reins"} <= read_old_words()


def test_an_old_word_is_found_inside_a_name() -> None:
    module = Module(path="gateway/a.py", text="def list_debts(house):\n    newDebt = 1\n")
    assert [found.split()[1] for found in find_old_words(module)] == [
        "list_debts",
        "house",
        "newDebt",
    ]


@pytest.mark.slow
def test_no_name_uses_a_word_that_the_glossary_replaces() -> None:
    found = [name for module in list_modules(PRODUCT) for name in find_old_words(module)]
    assert found == []
