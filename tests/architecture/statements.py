"""The SQL of the state, read from its source: each statement, the function, and what it names."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from tests.architecture.source import Module

UNKNOWN = "{?}"
"""Stands in a statement for what only a run would tell."""

Names = dict[str, list[ast.expr]]
"""What each name may stand for."""

_VERB = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|REPLACE)\b")
_TABLE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+([a-z_]+)")
_EXECUTES = ("execute", "executemany", "executescript")
_MOST = 64
"""Readings of one expression that are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement, or a part of one that selects by itself. `place` is `module.function`."""

    place: str
    line: int
    text: str

    @property
    def tables(self) -> frozenset[str]:
        """The tables that it names."""
        return frozenset(_TABLE.findall(self.text))

    @property
    def is_insert(self) -> bool:
        """True for one that adds rows."""
        return self.text.lstrip().startswith("INSERT")

    @property
    def condition(self) -> str:
        """What chooses its rows: all that stands behind its first WHERE."""
        return self.text.partition(" WHERE ")[2]

    @property
    def parts(self) -> "list[Statement]":
        """The selections that a union is made of, each as a statement; else itself."""
        return [replace(self, text=text) for text in re.split(r"\bUNION(?: ALL)?\b", self.text)]


@cache
def list_statements(module: Module) -> list[Statement]:
    """All statements of a module of the state, with every reading of what they are made of."""
    found = (
        Statement(place=f"{module.name}.{function.name}", line=node.lineno, text=text)
        for function, names in _functions(module)
        for node in (*_strings(function), *_asked(function))
        for text in _read(node, names)
        if _VERB.search(text)
    )
    return list(dict.fromkeys(found))


def list_unread(module: Module) -> list[str]:
    """The functions that have something executed which can't be read."""
    return [
        f"{module.name}.{function.name}"
        for function, names in _functions(module)
        for node in _asked(function)
        if not all(re.match(r"\s*[A-Z]{4,}\b", text) for text in _read(node, names))
    ]


def _asked(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a function has the database execute."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args and _name_of(node) in _EXECUTES:
            yield node.args[0]


@cache
def _functions(module: Module) -> list[tuple[ast.FunctionDef, Names]]:
    """Every function, with what the names in it may stand for: those of the module, its own,
    and, in a private one, what it is given by its callers, who are all in the module.
    """
    outer = _names(module.tree.body)
    found = [
        (node, {**outer, **_names(ast.walk(node))})
        for node in module.nodes
        if isinstance(node, ast.FunctionDef)
    ]
    return [(function, {**names, **_given(function, found)}) for function, names in found]


def _names(nodes: Iterable[ast.AST]) -> Names:
    """What names may stand for: what is assigned to them, or what they are in a loop."""
    names: Names = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            names.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            _bind(names, node.target, node.iter)
    return names


def _given(function: ast.FunctionDef, callers: list[tuple[ast.FunctionDef, Names]]) -> Names:
    given: Names = {}
    if not function.name.startswith("_"):
        return given
    for caller, names in callers:
        for node in ast.walk(caller):
            if isinstance(node, ast.Call) and _name_of(node) == function.name:
                for argument, value in zip(function.args.args, node.args, strict=False):
                    texts = _read(value, names)
                    given.setdefault(argument.arg, []).extend(map(ast.Constant, texts))
    return given


def _name_of(call: ast.Call) -> str:
    """The last part of what is called."""
    return ast.unparse(call.func).rpartition(".")[2]


def _bind(names: Names, target: ast.expr, values: ast.expr) -> None:
    for value in values.elts if isinstance(values, ast.Tuple | ast.List) else ():
        if isinstance(target, ast.Name):
            names.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, part in zip(target.elts, value.elts, strict=True):
                if isinstance(one, ast.Name):
                    names.setdefault(one.id, []).append(part)


def _strings(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The strings of a function, none of them a part of another, and not its docstring."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr) and _is_text(node):
            yield node
        elif not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _read(node: ast.expr, names: Names, depth: int = 0) -> list[str]:
    """The texts that an expression may be."""
    if depth > 8:
        return [UNKNOWN]
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.JoinedStr):
        parts = [_read(part, names, depth + 1) for part in node.values]
        return ["".join(some) for some in product(*parts)][:_MOST]
    if isinstance(node, ast.FormattedValue):
        return _read(node.value, names, depth + 1)
    if isinstance(node, ast.Name):
        values = names.get(node.id, [])
        return [text for value in values for text in _read(value, names, depth + 1)] or [UNKNOWN]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = _read(node.left, names, depth + 1), _read(node.right, names, depth + 1)
        return ["".join(both) for both in product(*sides)][:_MOST]
    if isinstance(node, ast.IfExp):
        return [*_read(node.body, names, depth + 1), *_read(node.orelse, names, depth + 1)]
    if isinstance(node, ast.BoolOp):
        return [text for one in node.values for text in _read(one, names, depth + 1)]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        tables = [one for one in names.get(node.value.id, []) if isinstance(one, ast.Dict)]
        values = [value for table in tables for value in table.values]
        return [text for value in values for text in _read(value, names, depth + 1)] or [UNKNOWN]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _read(node.func.value, names, depth + 1) if node.func.attr == "format" else [UNKNOWN]
    return [UNKNOWN]
