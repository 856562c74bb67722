"""The page about adding a platform names what exists, and the console has taken its steps."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from adapters.console.adapter import create
from adapters.console.settings import ConsoleSettings
from tests.architecture.source import ROOT, Module
from tests.contracts.rig import ABILITIES
from tests.contracts.rigs_console import ConsoleRig
from tests.tables import check_each

PAGE = ROOT / "docs" / "adding-a-platform.md"
TEXT = PAGE.read_text()
CODE = re.compile(r"`([^`\n]+)`")
BUILT_IN = {"isinstance", "__init__"}


def section(number: int) -> str:
    """One step of the page."""
    _, text = TEXT.split(f"\n## {number}. ")
    return text.partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The rows of the only table in a text, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def modules() -> tuple[Module, ...]:
    """The contract, the console and the suite."""
    files = [
        file
        for folder in ("adapters", "adapters/console", "adapters/toolkit", "tests/contracts")
        for file in sorted(ROOT.joinpath(folder).glob("*.py"))
    ]
    return tuple(
        Module(path=file.relative_to(ROOT).as_posix(), text=file.read_text()) for file in files
    )


@cache
def defined() -> frozenset[str]:
    """Every name that these define; of a class also `Class.name`."""
    found: set[str] = set()
    for module in modules():
        for node in ast.walk(module.tree):
            found |= set(_names_of(node))
            if isinstance(node, ast.ClassDef):
                found |= {f"{node.name}.{name}" for inner in node.body for name in _names_of(inner)}
    return frozenset(found)


def _names_of(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def test_every_name_on_the_page_exists() -> None:
    def check(name: str) -> None:
        if name.startswith("make "):
            target = rf"^{name.removeprefix('make ')}:"
            assert re.search(target, ROOT.joinpath("Makefile").read_text(), re.MULTILINE)
        elif "/" in name or name.endswith((".md", ".toml")):
            assert ROOT.joinpath(name).exists()
        elif name in {room for room, *_ in rows(section(2))}:
            assert ROOT.joinpath("adapters", "telegram", f"{name}.py").exists()
        else:
            assert name in defined() | BUILT_IN

    check_each(sorted(set(CODE.findall(TEXT))), check)


def test_a_name_that_does_not_exist_would_be_seen() -> None:
    assert not {"CanFly", "Inlet.give", "RawEvent.place", "make_platform"} & defined()
    assert {"CanAsk", "Inlet.marks", "RawEvent.position", "create", "RIGS", "Trait"} <= defined()


def test_every_step_says_where_the_console_has_it() -> None:
    steps = re.findall(r"^## (\d+)\. ", TEXT, re.MULTILINE)
    assert steps == [str(number) for number in range(1, 10)]
    for step in steps:
        assert re.search(r"^The console:|\| console \|", section(int(step)), re.MULTILINE), step


def test_the_rooms_are_those_of_the_console() -> None:
    found = {file.stem for file in ROOT.glob("adapters/console/*.py")} - {"__init__"}
    assert {room for room, *_ in rows(section(2))} == found


def test_pure_rooms_are_pure() -> None:
    for room, _, is_pure in rows(section(2)):
        (found,) = [m for m in modules() if m.path == f"adapters/console/{room}.py"]
        waits = any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(found.tree))
        assert waits == (is_pure == "no"), room


def test_what_may_be_imported_is_what_the_linter_allows() -> None:
    named = set(re.findall(r"`adapters/(\w+)(?:\.py)?`", section(2)))
    pyproject = ROOT.joinpath("pyproject.toml").read_text()
    layers = re.search(
        r'^layers = \["registry", "console \| [a-z |()]+", (.+)\]$', pyproject, re.MULTILINE
    )
    assert layers
    assert named == set(re.findall(r"\w+", layers[1]))


def test_the_abilities_are_all_of_them_and_the_consoles_are_marked() -> None:
    reported = {name: console for name, _, console in rows(section(5))}
    assert set(reported) == {ability.__name__ for ability in ABILITIES}
    marked = {name for name, console in reported.items() if console == "yes"}
    assert marked == {ability.__name__ for ability in ConsoleRig.abilities}


def test_the_console_is_made_of_settings_without_touching_anything() -> None:
    adapter = create(ConsoleSettings(socket=Path("/nowhere/console.sock")))
    assert adapter.health().state == "starting"


def test_the_errors_that_the_console_raises_are_the_ones_on_the_page() -> None:
    reported = set(re.findall(r"`(\w+)` when", section(4).partition("The console:")[2]))
    raised = {
        ast.unparse(node.exc.func)
        for module in modules()
        if module.path.startswith("adapters/console/")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    }
    assert reported == raised - {"ValueError"}


@pytest.mark.parametrize("step", [8, 9])
def test_every_place_that_is_to_be_changed_knows_the_console(step: int) -> None:
    files = [name for name in CODE.findall(section(step)) if ROOT.joinpath(name).is_file()]
    general = {"tests/architecture/rules.py", "adapters/declaration.py", "adapters/registry.py"}
    assert len(files) >= 4
    for file in set(files) - general:
        assert "console" in ROOT.joinpath(file).read_text().lower(), file
