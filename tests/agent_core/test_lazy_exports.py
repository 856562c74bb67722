"""Public interfaces that import a module when one of its names is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent_core import execution
from agent_core.lazy_exports import export_lazily
from tests.architecture.source import PRODUCT, ROOT

INTERFACE = """
if TYPE_CHECKING:
    from colorsys import rgb_to_hsv as convert
    from agent_core.errors import StoreError
else:
    __getattr__ = export_lazily(__name__, __file__)
"""
LAZY = [
    found
    for top in PRODUCT
    for found in ROOT.joinpath(top).rglob("__init__.py")
    if "export_lazily(" in found.read_text()
]


def test_a_name_is_that_of_its_module(tmp_path: Path) -> None:
    tmp_path.joinpath("face.py").write_text(INTERFACE)
    find = export_lazily("agent_core.execution", str(tmp_path / "face.py"))
    import_error = find("StoreError")
    assert import_error is sys.modules["agent_core.errors"].StoreError
    assert find("convert") is sys.modules["colorsys"].rgb_to_hsv


def test_an_unknown_name_is_the_error_of_any_module() -> None:
    with pytest.raises(AttributeError, match=r"^module 'agent_core.execution' has no attribute"):
        execution.Nothing  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(execution, "__wrapped__")


@pytest.mark.process
def test_a_module_is_imported_for_its_own_names_only() -> None:
    code = (
        "import sys, agent_core.execution as lazy\n"
        "before = 'agent_core.execution.running' in sys.modules\n"
        "lazy.run_command\n"
        "loaded = [name in sys.modules for name in"
        " ('agent_core.execution.running', 'agent_core.execution.ssh')]\n"
        "print(before, *loaded, 'run_command' in vars(lazy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False True False True\n"


@pytest.mark.thorough
@pytest.mark.process
def test_every_name_can_be_found() -> None:
    """A name must not be that of a module beside it, which would hide it once imported."""
    assert len(LAZY) > 20
    names = [
        str(found.parent.relative_to(ROOT)).replace("/", ".")
        for found in sorted(LAZY)
        if "cli" not in found.parts
    ]
    code = (
        "import ast, importlib, pathlib, pkgutil, sys\n"
        "for name in sys.argv[1:]:\n"
        "    package = importlib.import_module(name)\n"
        "    tree = ast.parse(pathlib.Path(package.__file__).read_text())\n"
        "    [block] = [node for node in tree.body if isinstance(node, ast.If)]\n"
        "    beside = {one.name for one in pkgutil.iter_modules(package.__path__)}\n"
        "    for alias in (alias for one in block.body for alias in one.names):\n"
        "        exported = alias.asname or alias.name\n"
        "        assert exported not in beside, (name, exported)\n"
        "        assert getattr(package, exported) is not None\n"
        "print('found')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *names],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("found\n", "")
