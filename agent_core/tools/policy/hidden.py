"""Find substitutions of commands that the grammar of the parser leaves as plain text.

Inside `${x:-...}` and here-documents, it reads backquotes as letters, but bash runs what they hold.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

_BEGINS = re.compile(rb"`|\$\(")
_IN_EXPANSION = re.compile(rb"[<>]\(")
_LITERAL = frozenset(("raw_string", "ansi_c_string", "comment"))
_QUOTES = (b"'", b'"', b"\\")


def hides_command(root: Node) -> bool:
    """True if a text may begin a command at a place where the tree has none."""
    text, known = root.text or b"", set[int]()
    for node in _walk(root):
        if not node.is_named or node.type in _LITERAL or _is_quoted_body(node):
            known.update(range(node.start_byte, node.end_byte))
        elif node.type == "expansion" and _holds_process(node):
            return True
    offset = root.start_byte
    return any(
        found.start() + offset not in known and not _is_escaped(text, found.start())
        for found in _BEGINS.finditer(text)
    )


def _holds_process(node: Node) -> bool:
    """True for `${x:-<(...)}`: bash runs it, and the tree has a word."""
    tokens = {child.start_byte for child in _walk(node) if not child.is_named}
    found = _IN_EXPANSION.finditer(node.text or b"")
    return any(one.start() + node.start_byte not in tokens for one in found)


def _is_quoted_body(node: Node) -> bool:
    """True for a here-document that bash doesn't expand, because its delimiter is quoted."""
    if node.type != "heredoc_body" or node.parent is None:
        return False
    starts = [one.text or b"" for one in node.parent.children if one.type == "heredoc_start"]
    return len(starts) == 1 and any(sign in starts[0] for sign in _QUOTES)


def _is_escaped(text: bytes, position: int) -> bool:
    before = text[:position]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children
