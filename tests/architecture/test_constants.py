"""Tests pass timings and limits as values; they never replace a module's constant."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, list_modules

_REPLACING = re.compile(r"""setattr\([^()]*["'][\w.]*[A-Z]{2}""")
"""What a module with such a call contains; to look at every call of every test takes seconds."""


def find_replaced_constants(module: Module) -> Iterator[str]:
    """List the calls of `setattr` on an UPPER_CASE name."""
    if not _REPLACING.search(module.text):
        return
    for node in module.nodes:
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        texts = [
            argument.value.rpartition(".")[2]
            for argument in node.args[:2]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if name == "setattr" and any(text.isupper() for text in texts):
            yield f"{module.path}:{node.lineno}"


@pytest.mark.slow
def test_no_test_replaces_a_constant() -> None:
    assert [place for module in list_modules() for place in find_replaced_constants(module)] == []


@pytest.mark.parametrize(
    "call",
    [
        'monkeypatch.setattr(module, "_LONGEST_WAIT", 0.1)',
        'monkeypatch.setattr("gateway.turns.lanes.LONGEST_WAIT", 0.1)',
        'setattr(module, "LIMIT", 3)',
    ],
)
def test_a_replaced_constant_is_found(call: str) -> None:
    module = Module(path="tests/a.py", text=f"{call}\n")
    assert list(find_replaced_constants(module)) == ["tests/a.py:1"]
