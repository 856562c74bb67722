"""The map of the code: sizes of packages, their faces, and what a newcomer reads first."""

import ast
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, list_modules
from tests.tables import check_each

PRODUCT = ("gateway", "agent_core", "adapters")
MOST_MODULES = 15
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
FIRST_HOUR = (
    "README.md",
    "docs/architecture.md",
    "gateway/bootstrap/app.py",
    "gateway/turns/runner.py",
    "agent_core/agent/loop/loop.py",
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def packages() -> list[Path]:
    return sorted(
        path.parent for top in PRODUCT for path in ROOT.joinpath(top).rglob("__init__.py")
    )


def modules_of(package: Path) -> list[Path]:
    return [file for file in package.glob("*.py") if file.name != "__init__.py"]


@pytest.mark.parametrize(
    ("top", "most_packages", "most_modules"),
    [("gateway", 12, 4), ("agent_core", 10, 6), ("adapters", 6, 5)],
)
def test_the_top_level_of_each_package_is_small(
    top: str, most_packages: int, most_modules: int
) -> None:
    children = [package for package in packages() if package.parent == ROOT / top]
    assert len(children) <= most_packages
    assert len(modules_of(ROOT / top)) <= most_modules


def test_a_package_is_small_and_states_its_purpose() -> None:
    def check(package: Path) -> None:
        assert len(modules_of(package)) <= MOST_MODULES
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


def test_a_newcomer_reads_the_first_hour_in_under_1400_lines() -> None:
    lines = {name: ROOT.joinpath(name).read_text().count("\n") for name in FIRST_HOUR}
    assert sum(lines.values()) < 1_400, lines
    assert lines["README.md"] < 150
