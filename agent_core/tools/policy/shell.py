"""Parse a bash command into its simple commands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from agent_core.tools.policy.sums import has_unclear_sum

_BEGINS = re.compile(rb"`|\$\(")
_IN_EXPANSION = re.compile(rb"[<>]\(")
_LITERAL = frozenset(("raw_string", "ansi_c_string", "comment"))
_QUOTES = (b"'", b'"', b"\\")

_DEEPEST = 200
"""Levels of nesting that are read; nobody writes more by hand."""
_GLOB_OR_SPACE = re.compile(r"[\s*?\[\]{}~]")
_EXPANDED = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_CONTAINERS = frozenset(
    (
        *("program", "list", "pipeline", "subshell", "compound_statement", "negated_command"),
        *("if_statement", "elif_clause", "else_clause", "while_statement", "for_statement"),
        *("c_style_for_statement", "do_group", "case_statement", "case_item"),
        *("function_definition", "test_command", "unary_expression", "binary_expression"),
        *("parenthesized_expression", "postfix_expression", "ternary_expression"),
        *("arithmetic_expansion", "process_substitution", "command_substitution", "array"),
        *("string", "translated_string", "concatenation", "simple_expansion", "expansion"),
        *("heredoc_body", "subscript", "variable_assignment", "variable_assignments"),
    )
)
_LEAVES = frozenset(
    (
        *("word", "number", "raw_string", "ansi_c_string", "string_content", "variable_name"),
        *("special_variable_name", "test_operator", "file_descriptor", "heredoc_start"),
        *("heredoc_end", "heredoc_content", "extglob_pattern", "regex", "comment"),
        "brace_expression",
    )
)
_WORDS = frozenset(
    (
        *("word", "number", "raw_string", "ansi_c_string", "string", "translated_string"),
        *("concatenation", "simple_expansion", "expansion", "command_substitution"),
        *("process_substitution", "arithmetic_expansion", "brace_expression", "extglob_pattern"),
    )
)
_SETTERS = frozenset(
    (
        *("read", "printf", "getopts", "mapfile", "readarray", "let", "unset", "eval", "source"),
        *(".", "declare", "typeset", "local", "export", "readonly", "wait", "trap", "coproc"),
    )
)
"""Builtins that can set a variable without an assignment in the text."""
_CONDITIONAL = frozenset(
    (
        *("if_statement", "while_statement", "for_statement", "c_style_for_statement"),
        *("case_statement", "subshell", "function_definition", "list", "pipeline"),
        *("command_substitution", "process_substitution"),
    )
)
_GIVEN = {"$WORKSPACE": "/workspace"}
"""Variables that each shell sets itself."""
_PARSER_LANGUAGE = Language(tree_sitter_bash.language())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of a command. `value` is its value in bash; None if only bash can find it out."""

    source: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirection:
    """A redirection, such as `>`, and its target."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """A program with its words and redirections; without a program, it only assigns variables.

    `assignments` are the names of the variables that it sets.
    """

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The words as they were written."""
        return " ".join(word.source for word in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The simple commands of a text, also those in loops, functions and substitutions.

    `is_unclear` means that parts of the text can't be read, so the script may do anything.
    """

    commands: tuple[SimpleCommand, ...]
    is_unclear: bool = False


def parse_script(text: str) -> Script:
    """Parse a command in bash's grammar. Never raises: unreadable text makes the script unclear."""
    root = Parser(_PARSER_LANGUAGE).parse(text.encode("utf-8", "replace")).root_node
    reader = _Reader()
    reader.read(root, 0, is_certain=True)
    if changed := reader.list_changed():
        # A loop or a function may use a variable before the text that changes it.
        reader = _Reader(variables=dict.fromkeys(changed))
        reader.read(root, 0, is_certain=True)
    is_unclear = (
        reader.is_unclear
        or root.has_error
        or hides_command(root)
        or has_unclear_sum(root, has_setters=reader.has_setters)
    )
    return Script(commands=tuple(reader.commands), is_unclear=is_unclear)


@dataclass(slots=True)
class _Reader:
    """Collects the commands of a syntax tree. `variables` are those with a certain value."""

    commands: list[SimpleCommand] = field(default_factory=list)
    is_unclear: bool = False
    variables: dict[str, str | None] = field(default_factory=dict)

    @property
    def has_setters(self) -> bool:
        """True if a builtin may set any variable."""
        words = {word.value for command in self.commands for word in command.words}
        return not words.isdisjoint(_SETTERS)

    def list_changed(self) -> set[str]:
        """List the variables that may have more than one value; all if a builtin may set any."""
        if self.has_setters:
            return set(self.variables)
        return {name for name, value in self.variables.items() if value is None}

    def read(self, node: Node, depth: int, *, is_certain: bool) -> None:
        if depth > _DEEPEST:
            self.is_unclear = True
            return
        kind = node.type
        if kind in ("command", "declaration_command", "unset_command"):
            self._read_command(node, depth, ())
        elif kind == "redirected_statement":
            self._read_redirected(node, depth, is_certain=is_certain)
        elif kind == "variable_assignment" and is_certain:
            self._assign(node)
            self._descend(node, depth, is_certain=False)
        elif kind in _CONTAINERS:
            if kind in ("for_statement", "variable_assignment"):
                self._forget(node)
            self._descend(node, depth, is_certain=is_certain and kind not in _CONDITIONAL)
        elif node.is_named and kind not in _LEAVES:
            self.is_unclear = True
            self._descend(node, depth, is_certain=False)

    def _descend(self, node: Node, depth: int, *, is_certain: bool) -> None:
        if node.type == "expansion" and any(one.type in ("=", ":=") for one in node.children):
            self._forget(node)
        for child in node.children:
            self.read(child, depth + 1, is_certain=is_certain)

    def _read_redirected(self, node: Node, depth: int, *, is_certain: bool) -> None:
        """Read a statement with redirections; the grammar attaches the words after them to them."""
        redirections: list[Redirection] = []
        extra: list[Word] = []
        body: Node | None = None
        for child in node.children:
            if child.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                self._read_redirection(child, depth, redirections, extra)
            elif body is None:
                body = child
            else:
                self.read(child, depth + 1, is_certain=False)
        if body is not None and body.type == "command":
            self._read_command(body, depth, tuple(redirections), extra)
            return
        if body is not None:
            self.read(body, depth + 1, is_certain=is_certain)
        self.commands.append(SimpleCommand(words=(), redirections=tuple(redirections)))
        self.is_unclear = self.is_unclear or bool(extra)

    def _read_redirection(
        self, node: Node, depth: int, redirections: list[Redirection], extra: list[Word]
    ) -> None:
        operator, targets = "", list[Word]()
        for child in node.children:
            if not child.is_named:
                operator = operator or _text(child)
            elif child.type == "file_descriptor":
                continue
            elif child.type in _WORDS:
                targets.append(self._word(child))
                self._descend(child, depth, is_certain=False)
            elif child.type == "heredoc_redirect" or child.type.endswith("_redirect"):
                self._read_redirection(child, depth, redirections, extra)
            else:
                self.read(child, depth + 1, is_certain=False)
        if node.type == "heredoc_redirect":
            redirections.append(Redirection(operator=operator, target=_NOTHING))
            extra += targets
        elif targets:
            redirections.append(Redirection(operator=operator, target=targets[0]))
            extra += targets[1:]

    def _read_command(
        self,
        node: Node,
        depth: int,
        redirections: tuple[Redirection, ...],
        extra: list[Word] | None = None,
    ) -> None:
        words: list[Word] = []
        inner: list[Redirection] = []
        assignments: list[str] = []
        late: list[Word] = []
        for child in node.children:
            if child.type == "command_name":
                words += [self._word(one) for one in child.children]
                self._descend(child, depth, is_certain=False)
            elif child.type == "variable_assignment" and node.type == "command":
                assignments.append(_name_of(child))
                self._descend(child, depth, is_certain=False)
            elif child.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                self._read_redirection(child, depth, inner, late)
            elif child.type in _WORDS or child.type in ("variable_assignment", "variable_name"):
                if child.type == "variable_assignment":
                    assignments.append(_name_of(child))
                    self.variables[_name_of(child)] = None
                words.append(self._word(child))
                self._descend(child, depth, is_certain=False)
            elif not child.is_named:
                words.append(Word(source=_text(child), value=_text(child)))
            elif child.type != "comment":
                words.append(Word(source=_text(child), value=None))
                self.read(child, depth + 1, is_certain=False)
        self.commands.append(
            SimpleCommand(
                words=(*words, *late, *(extra or ())),
                redirections=(*inner, *redirections),
                assignments=tuple(assignments),
            )
        )

    def _assign(self, node: Node) -> None:
        """Note a variable that is certain to have this value from here on."""
        name, value = _name_of(node), node.child_by_field_name("value")
        is_known = name not in self.variables and _text(node.children[1]) == "="
        word = self._word(value) if value is not None and is_known else None
        self.variables[name] = word.value if word else None
        self.commands.append(SimpleCommand(words=(), assignments=(name,)))

    def _forget(self, node: Node) -> None:
        name = _name_of(node)
        self.variables[name] = None
        self.commands.append(SimpleCommand(words=(), assignments=(name,)))

    def _word(self, node: Node) -> Word:
        return Word(source=_text(node), value=self._value(node))

    def _value(self, node: Node) -> str | None:
        """The value that bash gives a word; None if it is not known in advance."""
        text = _text(node)
        if node.type in ("word", "number"):
            return None if _EXPANDED.search(text) or "`" in text else _unescape(text)
        if node.type == "raw_string":
            return text[1:-1]
        if node.type == "string":
            return self._join(node, is_quoted=True)
        if node.type == "concatenation":
            return None if _EXPANDED.search(text) else self._join(node, is_quoted=False)
        if node.type == "simple_expansion":
            known = self.variables.get(text.removeprefix("$"), _GIVEN.get(text))
            return None if known is None or _GLOB_OR_SPACE.search(known) else known
        return None

    def _join(self, node: Node, *, is_quoted: bool) -> str | None:
        """Join the parts of a word; a space between two parts belongs to a quoted part."""
        parts: list[str] = []
        source, end = node.text or b"", node.start_byte
        for child in node.children:
            gap = source[end - node.start_byte : child.start_byte - node.start_byte]
            parts.append(gap.decode("utf-8", "replace"))
            end = child.end_byte
            if child.type == '"' and is_quoted:
                continue
            part: str | None
            if child.type == "string_content":
                part = _ESCAPED_IN_QUOTES.sub(_unquote, _text(child))
            elif child.type == "simple_expansion" and is_quoted:
                name = _text(child)
                part = self.variables.get(name.removeprefix("$"), _GIVEN.get(name))
            elif child.is_named:
                part = self._value(child)
            else:
                return None
            if part is None:
                return None
            parts.append(part)
        return "".join(parts)


_NOTHING = Word(source="", value="")


def _unquote(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _unescape(text: str) -> str:
    return _ESCAPED.sub(_unquote, text)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _name_of(node: Node) -> str:
    """The name of the variable that an assignment or a loop sets; "" if it sets none."""
    return next(_names(node), "")


def _names(node: Node) -> Iterator[str]:
    for child in node.children:
        if child.type == "variable_name":
            yield _text(child)
        elif child.type == "subscript":
            yield from _names(child)
