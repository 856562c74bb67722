"""The project's own modules, read and parsed once."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("gateway", "adapters", "agent_core", "skills_bundled")
ALL = (*PRODUCT, "tests", "bench")


@dataclass(frozen=True, kw_only=True)
class Module:
    """One file of Python. `path` is from the root, with slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The module, parsed when it is first needed; raises `SyntaxError`."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree, the outer ones first."""
        return tuple(ast.walk(self.tree))

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return Path(self.path).stem

    @property
    def is_product(self) -> bool:
        """True for what is shipped."""
        return self.path.startswith(PRODUCT)


@cache
def list_modules(folders: tuple[str, ...] = ALL) -> tuple[Module, ...]:
    """Every module under these folders: of the whole project, where none is named."""
    files = sorted(file for folder in folders for file in ROOT.joinpath(folder).rglob("*.py"))
    return tuple(map(_read, files))


@cache
def _read(file: Path) -> Module:
    return Module(path=file.relative_to(ROOT).as_posix(), text=file.read_text())
