"""The map of the code: packages state their purpose, and docstrings open plainly."""

import ast
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, list_modules
from tests.tables import check_each

PRODUCT = ("gateway", "agent_core", "adapters")
OPENERS = frozenset(
    [
        "what",
        "how",
        "who",
        "whose",
        "where",
        "why",
        "that",
        "one",
        "all",
        "nothing",
        "nobody",
        "somebody",
        "something",
    ]
)
MOST_OBSCURE = 0.01
"""The share of docstrings that may open with such a word; the rules for prose give the reason."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def packages() -> list[Path]:
    return sorted(
        path.parent for top in PRODUCT for path in ROOT.joinpath(top).rglob("__init__.py")
    )


def test_a_package_states_its_purpose() -> None:
    def check(package: Path) -> None:
        purpose = ast.get_docstring(ast.parse(package.joinpath("__init__.py").read_text())) or ""
        assert len(purpose) > 20
        assert not purpose.startswith("The package ")

    check_each(packages(), check)


@pytest.mark.slow
def test_docstrings_open_plainly() -> None:
    openings = [
        (module.path, text.split()[0].lower().strip(".,`'"))
        for module in list_modules(PRODUCT)
        for node in module.nodes
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node))
    ]
    obscure = [opening for opening in openings if opening[1] in OPENERS]
    assert len(obscure) <= MOST_OBSCURE * len(openings), obscure[:20]
