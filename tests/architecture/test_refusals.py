"""Whoever is refused something reads why in their language: the sentence is a text."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, list_modules

ERRORS = {"Declined", "Mistaken", "UnknownBlock"}
"""The errors whose words a person reads, wherever they asked."""
TERMINAL = (
    "gateway/app/config_changes.py",
    "gateway/interfaces/batch_results.py",
    "gateway/interfaces/batch_run.py",
    "gateway/interfaces/cli/",
    "gateway/interfaces/client.py",
    "gateway/interfaces/parser.py",
    "gateway/operations/backups.py",
    "gateway/operations/fitness.py",
    "gateway/operations/imports.py",
    "gateway/operations/job_previews.py",
    "gateway/operations/mcp.py",
    "gateway/operations/models.py",
    "gateway/operations/moves.py",
)
"""Modules that only the command line reaches with these refusals; it is in English."""
EXCEPTIONS = {
    "gateway/operations/agents.py _find_holder": "only the command line names no person",
    "gateway/operations/agents.py _read_file": "only the command line names a file",
    "gateway/operations/agents.py _write_file": "only the command line names a file",
    "gateway/operations/agents.py read_change": "an English clause; chats and pages call it that",
    "gateway/operations/approvals.py revoke": "`talaria approvals`; others use `take_back`",
    "gateway/operations/jobs.py renew_address": "`talaria jobs`; a chat has its own sentence",
    "gateway/operations/logins.py _find": "`talaria console` for a home without people",
    "gateway/operations/memory.py _find_owner": "only the command line names an owner of memory",
    "gateway/operations/privacy.py export": "only the command line names a file",
    "gateway/operations/skills.py install": "`talaria skills install` made the copy just now",
    "gateway/operations/turns.py export_turns": "only the command line names a file",
    "gateway/operations/wire.py _refuse_halves": "names a field of a program's request",
    "gateway/operations/wire.py load": "names a field of a program's request",
}
"""Functions with an English refusal that nobody else reads, and why."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_untranslated(module: Module) -> Iterator[str]:
    """Yield the place and the function of each refusal that is written out in English."""
    if not any(name in module.text for name in ERRORS):
        return
    for function in _list_functions(module.tree):
        for node in ast.walk(function):
            if not (isinstance(node, ast.Call) and _name(node.func) in ERRORS):
                continue
            if any(_is_written_out(argument) for argument in node.args):
                yield f"{module.path} {function.name}"


def _list_functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a module and the methods of its classes."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (one for one in inner if isinstance(one, _FUNCTIONS))


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _is_written_out(message: ast.expr) -> bool:
    """True for a literal, a constant of literals, and a function or an operator around them."""
    match message:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.Name(id=name):
            return name.isupper()
        case ast.Call(func=ast.Attribute(value=filled)):
            return _is_written_out(filled)
        case ast.Call(func=ast.Name(id=name), args=given):
            return not name.strip("_").isupper() and any(map(_is_written_out, given))
        case ast.BinOp() | ast.BoolOp() | ast.IfExp():
            parts = ast.iter_child_nodes(message)
            return any(_is_written_out(part) for part in parts if isinstance(part, ast.expr))
    return False


def test_every_refusal_is_a_text() -> None:
    found = {
        place
        for module in list_modules(("gateway", "agent_core"))
        if not module.path.startswith(TERMINAL)
        for place in find_untranslated(module)
    }
    assert sorted(found) == sorted(EXCEPTIONS)


def test_every_excepted_module_has_such_a_refusal() -> None:
    found = {
        next((one for one in TERMINAL if module.path.startswith(one)), "")
        for module in list_modules(("gateway",))
        if next(find_untranslated(module), "")
    }
    assert {*TERMINAL} - found == set()


@pytest.mark.parametrize(
    "message",
    [
        '"No."',
        'f"There is no job {number}."',
        '"No " + name',
        '"No {}.".format(name)',
        '"No %s." % name',
        "_UNKNOWN",
        "_UNKNOWN.format(name)",
        '_end("no")',
        'fault or "No."',
        '"No." if is_new else "Yes."',
    ],
)
def test_a_sentence_in_english_is_found(message: str) -> None:
    module = Module(path="gateway/a.py", text=f"def ask():\n    raise Mistaken({message})\n")
    assert list(find_untranslated(module)) == ["gateway/a.py ask"]


@pytest.mark.parametrize(
    "message",
    [
        "UNKNOWN(name=name)",
        "texts.UNKNOWN()",
        'texts.ALREADY["active"](n=3)',
        'texts.describe_fault(AgentMissing(""))',
        "str(error)",
    ],
)
def test_a_text_is_no_fault(message: str) -> None:
    module = Module(path="gateway/a.py", text=f"def ask():\n    raise Declined({message})\n")
    assert list(find_untranslated(module)) == []
