"""Find sums in which bash may evaluate a text: the index in `a[$(x)]` is a command."""

import re
from collections.abc import Iterator

from tree_sitter import Node

_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[\"']?[-+]?\d+[\"']?")
_RANGE = re.compile(r"\{\d+\.\.\d+(\.\.\d+)?\}")
_COMPARING = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_ASKING = frozenset(("-v", "-R"))
_GIVEN = frozenset(("RANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "UID", "EUID", "PPID"))
_COUNTED = frozenset(("#", "?", "$", "!"))
_UNKNOWN = frozenset(("command_substitution", "process_substitution", "raw_string", "string"))
_TESTS = frozenset(("test_command", "unary_expression", "binary_expression"))
_EXPANSIONS = frozenset(("simple_expansion", "expansion", "command_substitution"))


def has_unclear_sum(root: Node, *, has_setters: bool) -> bool:
    """True if a sum uses a variable that may hold more than a number.

    `has_setters` means that a builtin may set any variable.
    """
    used, numbers, texts = set[str](), set[str](_GIVEN), set[str]()
    for node in _walk(root):
        if node.type == "variable_assignment":
            (numbers if _is_number(node.child_by_field_name("value")) else texts).add(
                _name_of(node)
            )
        elif node.type == "for_statement":
            values = node.children_by_field_name("value")
            is_numbers = all(_is_number(value) for value in values)
            (numbers if is_numbers and values else texts).add(_name_of(node))
        for part in _list_sums(node):
            names = set(_list_names(part))
            if "" in names:
                return True
            used |= names
    return bool(used - numbers or used & texts or (used and has_setters))


def _list_sums(node: Node) -> Iterator[Node]:
    """Yield the parts of a node that bash evaluates as a sum."""
    kind = node.type
    if kind == "arithmetic_expansion" or (
        kind == "compound_statement" and node.children[0].type == "(("
    ):
        yield node
    elif kind == "c_style_for_statement":
        for name in ("initializer", "condition", "update"):
            yield from node.children_by_field_name(name)
    elif kind == "subscript":
        index = node.child_by_field_name("index")
        if index is not None and _text(index) not in ("@", "*"):
            yield index
    elif kind == "array":
        for child in node.children:
            yield from _list_indexes(child)
    elif kind == "expansion":
        yield from _list_offsets(node)
    elif kind == "test_command":
        is_strict = node.children[0].type == "[["
        for part in _walk(node):
            yield from _list_compared(part, is_strict=is_strict)


def _list_indexes(element: Node) -> Iterator[Node]:
    """Yield the index of `[x]=1` in a list."""
    if not _text(element).startswith("["):
        return
    if not element.children:
        yield element
    for child in element.children[1:]:
        if _text(child) == "]":
            return
        yield child


def _list_offsets(node: Node) -> Iterator[Node]:
    """Yield the offsets of `${x:1:2}`; the whole of `${x@P}` and `${!x}`, which can run a text."""
    text = _text(node)
    if text.startswith("${!") or "@P" in text:
        yield node
    is_after = False
    for child in node.children:
        if is_after and child.is_named:
            yield child
        is_after = is_after or child.type == ":"


def _list_compared(part: Node, *, is_strict: bool) -> Iterator[Node]:
    """Yield the operands that a test evaluates; in `[`, an expansion may bring operators along."""
    operator = part.child_by_field_name("operator")
    name = _text(operator) if operator is not None else ""
    if part.type == "unary_expression":
        name = _text(part.children[0])
    for child in part.children:
        is_asked = name in _ASKING and child.type != "test_operator"
        is_compared = is_strict and name in _COMPARING and child.type != "test_operator"
        is_split = not is_strict and child.type in _EXPANSIONS and part.type in _TESTS
        if (is_asked and not _NAME.fullmatch(_text(child))) or is_compared or is_split:
            yield child


def _list_names(node: Node) -> Iterator[str]:
    """Yield the variables of a sum, and "" for anything that may be a text."""
    is_number = node.type != "variable_name" and _NUMBER.fullmatch(_text(node))
    if is_number or _text(node).startswith("${#"):
        return
    if node.type in _UNKNOWN:
        yield ""
    elif node.type == "special_variable_name":
        if _text(node) not in _COUNTED:
            yield ""
    elif node.type in ("variable_name", "word") and not node.named_children:
        yield _text(node) if _NAME.fullmatch(_text(node)) else ""
    elif node.type == "expansion" and _text(node).startswith("${!"):
        yield ""
    for child in node.children:
        yield from _list_names(child)


def _is_number(value: Node | None) -> bool:
    if value is None:
        return False
    text = _text(value)
    is_plain = _NUMBER.fullmatch(text) or _RANGE.fullmatch(text)
    return value.type == "arithmetic_expansion" or is_plain is not None


def _name_of(node: Node) -> str:
    named = node.child_by_field_name("name") or node.child_by_field_name("variable")
    return _text(named).partition("[")[0] if named is not None else ""


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
