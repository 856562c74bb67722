"""A platform is a folder: nothing outside of it knows its name, and adding one is all."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.registry import list_declared
from tests.architecture.source import ROOT, Module, list_modules

EXAMPLES = {"gateway/interfaces/cli/setup/arguments.py"}
"""Modules whose examples for people name a platform."""

DECLARATION = '''
"""A pigeon."""

from adapters.declaration import Platform, Variable

PLATFORM = Platform(
    name="pigeon",
    title="Pigeon Post",
    hint="Your words are carried by a bird: be brief.",
    icon="M4 4h16",
    variables=(Variable(name="PIGEON_RING", about="Turns it on.", option="ring", question="Ring"),),
    needs=lambda _: ("PIGEON_RING",),
    steps="Ring a pigeon.",
    hello="{name} flies: {link}",
    secret_forms=("ring-[0-9]{8}",),
    on_machine="pigeon[.]loft",
)
'''
SETTINGS = '''
"""A pigeon's settings."""

from adapters.toolkit.table import Table

class PigeonTable(Table, title="Pigeon"):
    """Sets a loft."""

    loft: str = "roof"
    """Where it lives."""

TABLE = PigeonTable

def make_settings(table, *, ring):
    """Join both."""
    return table.loft, ring
'''
ADAPTER = '''
"""A pigeon in the air."""

class Pigeon:
    """Flies."""

    def __init__(self, settings):
        self.name, self.settings = "pigeon", settings

def create(settings):
    """Release one."""
    return Pigeon(settings)
'''
LOOK = """
from pathlib import Path
from agent_core.agent.prompt.compose import find_hint
from agent_core.schedule.requests import _read_platform
from gateway.app import factories, redaction, settings
from gateway.interfaces.cli.setup.arguments import PARTS
from gateway.interfaces.diagnostics.offline import _look_at_platforms
from gateway.interfaces.pages.configuration import may_change
from gateway.interfaces.pages.rendering import _find_icon
from gateway.texts.general import name_platform
home = Path("home")
found = settings.load({"PIGEON_RING": "r1", "TALARIA_PIGEON__LOFT": "tower"}, home=home)
adapter = factories.load_adapters(found)["pigeon"]
print(adapter.settings)
print(name_platform("pigeon"), find_hint("pigeon"), _find_icon("pigeon"), "pigeon" in PARTS)
print(_read_platform("Pigeon"), redaction.looks_secret("ring-12345678"))
print([one.text for one in _look_at_platforms(found) if one.part == "pigeon"])
print(may_change(found, "pigeon.loft"))
"""
SEEN = """\
('tower', 'r1')
Pigeon Post Your words are carried by a bird: be brief. M4 4h16 True
pigeon True
['on']
False
"""


def list_named(module: Module) -> list[str]:
    """The texts of a module that are a platform's name, or one of its variables."""
    names = "|".join(list_declared())
    pattern = re.compile(rf"(?i:{names})|.*\b(?:{names.upper()})_[A-Z_]+\b.*", re.DOTALL)
    return [
        f"{module.path}:{node.lineno}: {node.value}"
        for node in module.nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and pattern.fullmatch(node.value)
        and not node.value.strip().startswith('"""')
    ]


@pytest.mark.slow
def test_no_module_outside_of_the_folders_names_a_platform() -> None:
    folders = tuple(f"adapters/{name}/" for name in list_declared())
    looked = [
        module
        for module in list_modules(("adapters", "agent_core", "gateway"))
        if not module.path.startswith(folders) and module.path not in EXAMPLES
    ]
    assert len(looked) > 500
    assert [named for module in looked for named in list_named(module)] == []


def test_a_named_platform_would_be_seen() -> None:
    paths = {f"adapters/{name}/declaration.py" for name in list_declared()}
    inside = [module for module in list_modules(("adapters",)) if module.path in paths]
    assert len(inside) >= 3
    assert all(list_named(module) for module in inside)


@pytest.mark.process
def test_adding_a_folder_is_all(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "adapters", tmp_path / "adapters")
    folder = tmp_path / "adapters" / "pigeon"
    folder.mkdir()
    for name, text in (
        ("__init__", '"""A pigeon."""\n'),
        ("declaration", DECLARATION),
        ("settings", SETTINGS),
        ("adapter", ADAPTER),
    ):
        folder.joinpath(f"{name}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.returncode) == (SEEN, 0), done.stderr
